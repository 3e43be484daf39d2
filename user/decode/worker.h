/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process that decodes targets' files. It answers requests (protocol.h) and opens nothing
 * itself: files come through its socket. It may crash or hang at any time; client.h handles that.
 */
#ifndef DECODE_WORKER_H
#define DECODE_WORKER_H

/* Seconds of CPU time for one look-up, the first of a large file included; and for another look at a file. */
#define WORKER_LOOKUP_SECONDS 2
#define WORKER_READ_SECONDS 10

/* Answer until the other side closes the socket. */
void worker_run(int socket);

#endif
