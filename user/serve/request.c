/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See request.h. */
#include "serve/request.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include "base/units.h"

#define HOST_MAX 64

static struct request_answer request_refuse(unsigned int status, const char *sentence)
{
	return (struct request_answer){ .status = status, .sentence = sentence };
}

static bool request_is_local_name(const char *name)
{
	struct in_addr address;

	if (!strcasecmp(name, "localhost") || !strcmp(name, "[::1]"))
		return true;
	return inet_pton(AF_INET, name, &address) == 1 && ntohl(address.s_addr) >> 24 == 127;
}

bool request_is_local(const char *host)
{
	const char *end = *host == '[' ? strchr(host, ']') : NULL;
	const char *colon = strchr(end ? end : host, ':');
	size_t length = colon ? (size_t)(colon - host) : strlen(host);
	char name[HOST_MAX];
	uint64_t port;

	if (length >= sizeof(name) || (colon && !units_parse_number(colon + 1, UINT16_MAX, &port)))
		return false;
	memcpy(name, host, length);
	name[length] = '\0';
	return request_is_local_name(name);
}

static struct request_answer request_decide_page(const struct request *request)
{
	const struct page *page = page_find(request->path);
	struct request_answer answer = { .status = 200, .page = page };

	if (!page)
		return request_refuse(404, "there is no such page: /pages has a list");
	if (!page->takes_seconds || !request->seconds)
		return answer;
	if (!units_parse_number(request->seconds, REQUEST_SECONDS_MAX, &answer.seconds) ||
	    !answer.seconds)
		return request_refuse(400, "seconds is a whole number from 1 to 300");
	return answer;
}

struct request_answer request_decide(const struct request *request,
				     const struct request_policy *policy)
{
	const struct page *page = page_find(request->path);
	const bool is_health = page && page->kind == PAGE_HEALTH;

	if (policy->checks_host && request->host && !request_is_local(request->host))
		return request_refuse(403, "the header Host does not name this machine: use "
					   "127.0.0.1 or localhost");
	/* That it answers is no secret, and who looks after programs has no token. */
	if (*policy->token.text && !is_health &&
	    !token_matches(&policy->token, request->authorization))
		return request_refuse(401, "a header 'Authorization: Bearer TOKEN' is needed");
	if (strcmp(request->method, "GET") != 0 && strcmp(request->method, "HEAD") != 0)
		return request_refuse(405, "there are only GET and HEAD");
	if (request->has_body)
		return request_refuse(400, "a request has no body");
	return request_decide_page(request);
}
