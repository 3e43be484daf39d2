/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where arm64's instructions lead: words and targets are those of GNU as and objdump (binutils 2.40). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "probe/flow.h"

#define AT 0x10000000u

static const struct {
	const char *text;
	uint32_t instruction;
	enum flow_kind kind;
	int64_t distance; /* 0 = not known */
} cases[] = {
	{ "b .+0x100", 0x14000040, FLOW_JUMP, 0x100 },
	{ "b .-0x100", 0x17ffffc0, FLOW_JUMP, -0x100 },
	{ "bl .+0x7fffffc", 0x95ffffff, FLOW_CALL, 0x7fffffc },
	{ "b.eq .+0x40", 0x54000200, FLOW_BRANCH, 0x40 },
	{ "b.ne .-0x100000", 0x54800001, FLOW_BRANCH, -0x100000 },
	{ "bc.eq .+0x40", 0x54000210, FLOW_BRANCH, 0x40 },
	{ "cbz x3, .+8", 0xb4000043, FLOW_BRANCH, 8 },
	{ "cbnz w3, .-8", 0x35ffffc3, FLOW_BRANCH, -8 },
	{ "tbz x1, #63, .+0x7ffc", 0xb6fbffe1, FLOW_BRANCH, 0x7ffc },
	{ "tbnz w1, #3, .-0x8000", 0x371c0001, FLOW_BRANCH, -0x8000 },
	{ "ret", 0xd65f03c0, FLOW_RETURN, 0 },
	{ "ret x3", 0xd65f0060, FLOW_RETURN, 0 },
	{ "retaa", 0xd65f0bff, FLOW_RETURN_UNPROBED, 0 },
	{ "retab", 0xd65f0fff, FLOW_RETURN_UNPROBED, 0 },
	{ "br x17", 0xd61f0220, FLOW_JUMP, 0 },
	{ "braa x1, x2", 0xd71f0822, FLOW_JUMP, 0 },
	{ "braaz x1", 0xd61f083f, FLOW_JUMP, 0 },
	{ "blr x8", 0xd63f0100, FLOW_CALL, 0 },
	{ "blrab x1, x2", 0xd73f0c22, FLOW_CALL, 0 },
	{ "brk #1000", 0xd4207d00, FLOW_STOP, 0 },
	{ "udf #0", 0x00000000, FLOW_STOP, 0 },
	{ "svc #0", 0xd4000001, FLOW_ON, 0 },
	{ "nop", 0xd503201f, FLOW_ON, 0 },
	{ "bti c", 0xd503245f, FLOW_ON, 0 },
	{ "autiasp", 0xd50323bf, FLOW_ON, 0 },
	{ "add x0, x1, x2", 0x8b020020, FLOW_ON, 0 },
	{ "ldr x0, [sp, #8]", 0xf94007e0, FLOW_ON, 0 },
	{ "stp x29, x30, [sp, #-32]!", 0xa9be7bfd, FLOW_ON, 0 },
	{ "adr x0, .+8", 0x10000040, FLOW_ON, 0 },
};

static void test_arm64(void **state)
{
	struct flow flow;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		flow = flow_arm64(cases[i].instruction, AT);
		if (flow.kind != cases[i].kind || flow.size != 4 ||
		    flow.direct != (cases[i].distance != 0) ||
		    (flow.direct && flow.target != AT + (uint64_t)cases[i].distance))
			fail_msg("%s: kind %d, direct %d, target %#llx", cases[i].text, flow.kind,
				 flow.direct, (unsigned long long)flow.target);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arm64),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
