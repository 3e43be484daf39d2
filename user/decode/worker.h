/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process that decodes the targets' files. It answers look-ups (protocol.h) and opens nothing by itself: files come
 * through its socket. It may crash or hang at any time; client.h copes with that.
 */
#ifndef DECODE_WORKER_H
#define DECODE_WORKER_H

/* Seconds of CPU time for one look-up, the first of a large file included. */
#define WORKER_LOOKUP_SECONDS 20

/* Answer until the other side closes the socket. */
void worker_run(int socket);

#endif
