/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as the parts of a request, separated by NUL. What is answered with a page must have been allowed. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "serve/address.h"
#include "serve/request.h"

#define PARTS 6

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = fuzz_copy(data, size), *parts[PARTS] = { NULL };
	struct request_policy policy = { .checks_host = size & 1 };
	struct request_answer answer;
	struct address address;
	struct error error = { 0 };
	struct request request;
	size_t i, at = 0;

	for (i = 0; i < PARTS && at < size; i++) {
		size_t length = strnlen(copy + at, size - at);

		parts[i] = strndup(copy + at, length);
		at += length + 1;
	}
	if (size & 2)
		strcpy(policy.token.text, "0123456789abcdef");
	request = (struct request){ .method = parts[0] ? parts[0] : "",
				    .path = parts[1] ? parts[1] : "",
				    .host = parts[2],
				    .authorization = parts[3],
				    .seconds = parts[4],
				    .has_body = size & 4 };
	answer = request_decide(&request, &policy);
	MUST((answer.status == 200) == (answer.page != NULL));
	MUST((answer.status == 200) == (answer.sentence == NULL));
	if (answer.page) {
		MUST(!strcmp(request.method, "GET") || !strcmp(request.method, "HEAD"));
		MUST(!strcmp(answer.page->path, request.path));
		MUST(!request.has_body && answer.seconds <= REQUEST_SECONDS_MAX);
		MUST(!policy.checks_host || !request.host || request_is_local(request.host));
		MUST(!*policy.token.text || answer.page->kind == PAGE_HEALTH ||
		     (request.authorization && strlen(request.authorization) == 23 &&
		      !strcmp(request.authorization + 7, policy.token.text)));
	}
	if (parts[5]) {
		if (address_parse(parts[5], &address, &error))
			MUST(error.kind == ERROR_USAGE && error.text[0]);
		else
			MUST(address.length && !(address.is_unix && address.is_loopback));
	}
	for (i = 0; i < PARTS; i++)
		free(parts[i]);
	free(copy);
	return 0;
}
