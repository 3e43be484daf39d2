/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where profiles are pushed to: an URL of http://, of which the host is looked up once. */
#ifndef SERVE_PUSH_URL_H
#define SERVE_PUSH_URL_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "base/error.h"

#define PUSH_HOST_MAX 256
#define PUSH_PATH_MAX 1024

struct push_url {
	char host[PUSH_HOST_MAX]; /* as in an URL, without the brackets of an address */
	char authority[PUSH_HOST_MAX + 16]; /* of a header Host */
	char path[PUSH_PATH_MAX];
	uint16_t port;
	struct sockaddr_storage socket; /* by push_url_resolve */
	socklen_t length;
};

/*
 * "http://127.0.0.1:4318", "http://[::1]:4318/", "http://collector/base": the path of OTLP's profiles is added where it is not there, and the
 * port is OTLP's if there is none. Returns 0, or -EINVAL with `error` filled (ERROR_USAGE).
 */
int push_url_parse(const char *text, struct push_url *ret_url, struct error *error);

/* Look up the host, as programs do it: names may take what the resolver takes. Returns 0, or -EHOSTUNREACH with `error` filled. */
int push_url_resolve(struct push_url *url, struct error *error);

#endif
