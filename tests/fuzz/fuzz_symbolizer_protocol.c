/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a message between the tracer and its symbolizing worker. What is accepted is within its bounds and has
 * exactly one form.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "decode/protocol.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char bytes[MESSAGE_SIZE_MAX], *copy = fuzz_copy(data, size);
	struct message message;

	if (message_decode(copy, size, &message)) {
		MUST(message.kind > 0 && message.kind < MESSAGE_KIND_COUNT);
		MUST(message.id_size <= BUILD_ID_MAX);
		MUST(memchr(message.text, '\0', sizeof(message.text)));
		MUST(memchr(message.file, '\0', sizeof(message.file)));
		MUST(message_encode(&message, bytes) == size && !memcmp(bytes, data, size));
	}
	free(copy);
	return 0;
}
