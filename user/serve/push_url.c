/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See push_url.h. */
#include "serve/push_url.h"

#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

#define SCHEME "http://"
#define SECURE "https://"
#define PATH "/v1development/profiles"
#define PORT 4318

#define USAGE(...) error_set(error, ERROR_USAGE, -EINVAL, __VA_ARGS__)

static int push_url_refuse(const char *text, struct error *error)
{
	return USAGE("'%s' is no URL to push to: it is like http://127.0.0.1:4318", text);
}

/* Nothing that would end a line of a request, or is another part of an URL. */
static bool push_url_is_plain(const char *text)
{
	for (; *text; text++)
		if (*text <= ' ' || *text > '~' || strchr("?#@\"<>\\^`{|}", *text))
			return false;
	return true;
}

/* Cut off what stands after the last colon; brackets around an address are left out. False if that is no host. */
static bool push_url_split(const char *authority, struct push_url *url)
{
	const char *end = authority + strlen(authority);
	const char *close = *authority == '[' ? strchr(authority, ']') : NULL;
	const char *colon = strchr(close ? close : authority, ':');
	const char *first = close ? authority + 1 : authority;
	const char *last = close ? close : colon ? colon : end;
	uint64_t port = PORT;

	if ((*authority == '[' && !close) || last == first ||
	    (size_t)(last - first) >= sizeof(url->host) || (close && close[1] && close[1] != ':') ||
	    (colon && (!units_parse_number(colon + 1, UINT16_MAX, &port) || !port)))
		return false;
	memcpy(url->host, first, (size_t)(last - first));
	url->host[last - first] = '\0';
	url->port = (uint16_t)port;
	return true;
}

static void push_url_set_path(const char *path, size_t length, struct push_url *url)
{
	while (length && path[length - 1] == '/')
		length--;
	snprintf(url->path, sizeof(url->path), "%.*s", (int)length, path);
	if (length < strlen(PATH) || strcmp(url->path + length - strlen(PATH), PATH) != 0)
		strcpy(url->path + length, PATH);
}

int push_url_parse(const char *text, struct push_url *ret_url, struct error *error)
{
	struct push_url url = { .length = 0 };
	const char *authority = text + strlen(SCHEME), *path;

	if (!strncmp(text, SECURE, strlen(SECURE)))
		return USAGE("'%s' is encrypted, which --otlp is not: push to an OpenTelemetry "
			     "collector or agent on this host (http://127.0.0.1:4318), which "
			     "passes it on by https",
			     text);
	if (strncmp(text, SCHEME, strlen(SCHEME)) != 0 || !push_url_is_plain(authority))
		return push_url_refuse(text, error);
	path = authority + strcspn(authority, "/");
	if (path - authority >= PUSH_HOST_MAX || strlen(path) + strlen(PATH) >= PUSH_PATH_MAX)
		return push_url_refuse(text, error);
	snprintf(url.authority, sizeof(url.authority), "%.*s", (int)(path - authority), authority);
	push_url_set_path(path, strlen(path), &url);
	if (!push_url_split(url.authority, &url))
		return push_url_refuse(text, error);
	*ret_url = url;
	return 0;
}

int push_url_resolve(struct push_url *url, struct error *error)
{
	struct addrinfo wanted = { .ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM };
	const char *host = strcmp(url->host, "localhost") != 0 ? url->host : "127.0.0.1";
	struct addrinfo *found = NULL;
	char port[8];
	int code;

	snprintf(port, sizeof(port), "%u", url->port);
	/* A resolver, which the static program would have to load, is for names alone. */
	code = getaddrinfo(host, port, &wanted, &found);
	wanted.ai_flags = 0;
	if (code == EAI_NONAME)
		code = getaddrinfo(host, port, &wanted, &found);
	if (code || found->ai_addrlen > sizeof(url->socket)) {
		if (!code)
			freeaddrinfo(found);
		return error_set(error, ERROR_USAGE, -EHOSTUNREACH,
				 "cannot push to %s: its address is not found (%s): give --otlp an "
				 "IP address",
				 url->authority, gai_strerror(code));
	}
	memcpy(&url->socket, found->ai_addr, found->ai_addrlen);
	url->length = found->ai_addrlen;
	freeaddrinfo(found);
	return 0;
}
