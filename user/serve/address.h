/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a server listens: an address of this machine and a port, or a socket in the file system. Names are not looked up. */
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
	bool is_loopback; /* only processes of this machine get there */
};

/*
 * "PORT" and "localhost:PORT" (of 127.0.0.1), "127.0.0.1:9797", "[::1]:9797", "unix:/run/tracer.sock". Port 0 is any free one. Returns 0,
 * or -EINVAL with `error` filled (ERROR_USAGE).
 */
int address_parse(const char *text, struct address *ret_address, struct error *error);

/*
 * Listen there. A socket in the file system is for its owner alone, and takes the place of one of the same owner that nobody
 * listens at. Returns a descriptor, or a negative errno with `error` filled (ERROR_USAGE).
 */
int address_listen(const struct address *address, struct error *error);

/* Append where `fd`, of address_listen, can be reached: "http://127.0.0.1:9797/", "unix:/run/tracer.sock". */
void address_describe(const struct address *address, int fd, struct buffer *out);

#endif
