/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One HTTP request that sends a body to an address. Uses only stack memory, and only system calls
 * that push.c allows.
 */
#ifndef SERVE_PUSH_REQUEST_H
#define SERVE_PUSH_REQUEST_H

#include "serve/push.h"

/* Connect, send the file `body` as the body of a POST, and read the status. Takes at most `limit_ms`. */
struct push_answer push_request_run(const struct push_url *url, int body, int limit_ms);

/* The status in the first line of an answer: "HTTP/1.1 200 OK"; 0 = invalid. */
unsigned int push_request_status(const char *line);

#endif
