/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The messages between the tracer and a worker, over a SOCK_SEQPACKET socket pair:
 *
 *	worker	READY
 *
 *	tracer	LOOKUP module offset
 *	worker	WANT a file (any number of times)	->	tracer	FILE, with a descriptor or without
 *	worker	SYMBOL function file line (innermost first)
 *	worker	END
 *
 *	tracer	READ what module path, with a descriptor, followed by so many bytes
 *	worker	WANT a file (any number of times)	->	tracer	FILE, with a descriptor or without
 *	worker	ANSWER, followed by so many bytes
 *
 * and, with the fork server that starts workers:
 *
 *	tracer	START	->	fork server	STARTED, with the socket of a new worker
 *
 * Either side takes the other for hostile: what does not decode ends the conversation.
 */
#ifndef DECODE_PROTOCOL_H
#define DECODE_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/module.h"

/* Bytes of a text with its NUL. */
#define MESSAGE_TEXT_MAX 4096

/* Bytes that follow a message go in packets of this size, which a socket always has room for. */
#define MESSAGE_PACKET_MAX 32768

enum message_kind {
	MESSAGE_LOOKUP = 1, /* module, number = offset of the instruction in the file */
	MESSAGE_FILE, /* detail = number of the candidate */
	MESSAGE_WANT, /* what = enum debug_want_kind, detail = first candidate, text = name, id = build ID */
	MESSAGE_SYMBOL, /* detail = line, text = function, file */
	MESSAGE_END,
	MESSAGE_START, /* to the fork server: end the worker, start one with so many bytes of data (number) */
	MESSAGE_STARTED, /* from the fork server, with the socket of the worker */
	MESSAGE_READY, /* from a new worker; detail = errno if it cannot be confined, so it has ended */
	MESSAGE_READ, /* what = enum decode_job, number = bytes that follow, text = path of the file */
	MESSAGE_ANSWER, /* detail = errno, number = bytes that follow */
	MESSAGE_KIND_COUNT,
};

/* Fields that a kind does not use are zero. A text of length 0 is an unknown one. */
struct message {
	uint32_t kind; /* enum message_kind */
	uint32_t what;
	uint32_t module;
	uint32_t detail;
	uint64_t number;
	uint32_t id_size;
	unsigned char id[BUILD_ID_MAX];
	char text[MESSAGE_TEXT_MAX], file[MESSAGE_TEXT_MAX]; /* end with a NUL */
};

/* The most bytes a message needs on the way. */
#define MESSAGE_SIZE_MAX (40 + BUILD_ID_MAX + 2 * MESSAGE_TEXT_MAX)

/* Write a message as bytes; returns how many. */
size_t message_encode(const struct message *message, unsigned char bytes[MESSAGE_SIZE_MAX]);
/* Read a message. False, with `message` undefined, unless the bytes are exactly one valid message. */
bool message_decode(const unsigned char *bytes, size_t size, struct message *message);

/* Send a message and, unless `fd` is -1, a descriptor. Waits for room. Returns 0 or a negative errno. */
int message_send(int socket, const struct message *message, int fd);
/* The same for the tracer, which never waits: -EPROTO if the other side does not read what it was sent. */
int message_post(int socket, const struct message *message, int fd);

/* Send bytes that a message has announced, as message_send and message_post do. */
int message_send_bytes(int socket, const void *bytes, size_t size);
int message_post_bytes(int socket, const void *bytes, size_t size);
/* Receive exactly so many bytes. Returns as message_receive does. */
int message_receive_bytes(int socket, void *bytes, size_t size, int64_t deadline_ms);

/*
 * Wait until `deadline_ms` of CLOCK_MONOTONIC (-1: for ever) for a message. A descriptor that came
 * with it goes to `*ret_fd`, which is -1 otherwise; with `ret_fd` NULL none is accepted. Returns 0
 * or a negative errno: -ETIMEDOUT, -EPIPE (the other side is gone), -EPROTO (no valid message).
 */
int message_receive(int socket, struct message *message, int *ret_fd, int64_t deadline_ms);

/* Copy `text` into a field of a message, cut if it is too long; NULL gives "". */
void message_set_text(char field[MESSAGE_TEXT_MAX], const char *text);

#endif
