/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The URL that profiles are pushed to: http:// only; its host is resolved once. */
#ifndef SERVE_PUSH_URL_H
#define SERVE_PUSH_URL_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "base/error.h"

#define PUSH_HOST_MAX 256
#define PUSH_PATH_MAX 1024

struct push_url {
	char host[PUSH_HOST_MAX]; /* as in the URL, without the brackets of an IPv6 address */
	char authority[PUSH_HOST_MAX + 16]; /* value of the Host header */
	char path[PUSH_PATH_MAX];
	uint16_t port;
	struct sockaddr_storage socket; /* set by push_url_resolve */
	socklen_t length;
};

/*
 * "http://127.0.0.1:4318", "http://[::1]:4318/", "http://collector/base": the path of OTLP's profiles is added where it is not there, and the
 * port is OTLP's if there is none. Returns 0, or -EINVAL with `error` filled (ERROR_USAGE).
 */
int push_url_parse(const char *text, struct push_url *ret_url, struct error *error);

/*
 * Resolve the host with the system's resolver, which may take as long as it likes. Returns 0, or
 * -EHOSTUNREACH with `error` filled.
 */
int push_url_resolve(struct push_url *url, struct error *error);

#endif
