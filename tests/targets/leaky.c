/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A little server that leaks on two lines and only seems to on a third. It runs until it is ended.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct request {
	char *path;
	char *header;
};

static char *recent[64]; /* a cache: full after a while, and no leak */

static struct request *request_read(unsigned int number)
{
	struct request *request = malloc(sizeof(*request));

	request->path = malloc(200);
	memset(request->path, 'a' + (int)(number % 26), 199);
	request->path[199] = '\0';
	request->header = calloc(8, 64);
	return request;
}

static void request_free(struct request *request)
{
	free(request->path);
	free(request); /* and the header? */
}

static void session_remember(unsigned int number)
{
	char *session = malloc(1000);

	memset(session, 0, 1000);
	if (number % 4)
		free(session); /* three of four are given back */
}

static void cache_put(unsigned int number, const char *path)
{
	free(recent[number % 64]);
	recent[number % 64] = strdup(path);
}

int main(void)
{
	unsigned int number;

	for (number = 0;; number++) {
		struct request *request = request_read(number);

		cache_put(number, request->path);
		session_remember(number);
		request_free(request);
		usleep(1000);
	}
}
