/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses to listen at: a local IP address and port, or a Unix socket. Does not resolve names. */
#ifndef SERVE_ADDRESS_H
#define SERVE_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/buffer.h"
#include "base/error.h"

struct address {
	struct sockaddr_storage socket;
	socklen_t length;
	bool is_unix;
	bool is_loopback; /* reachable only from this machine */
};

/*
 * "PORT" and "localhost:PORT" (of 127.0.0.1), "127.0.0.1:9797", "[::1]:9797", "unix:/run/tracer.sock". Port 0 is any free one. Returns 0,
 * or -EINVAL with `error` filled (ERROR_USAGE).
 */
int address_parse(const char *text, struct address *ret_address, struct error *error);

/*
 * Listen there. A Unix socket is accessible to its owner only, and replaces one of the same owner
 * that nobody listens at. Returns a descriptor, or a negative errno with `error` filled
 * (ERROR_USAGE).
 */
int address_listen(const struct address *address, struct error *error);

/*
 * Append the URL of `fd`, from address_listen: "http://127.0.0.1:9797/", "unix:/run/tracer.sock".
 */
void address_describe(const struct address *address, int fd, struct buffer *out);

#endif
