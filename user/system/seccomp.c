/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See seccomp.h. The program compares with one rule after the other: no jump is longer than a rule. */
#include "system/seccomp.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include "base/memory.h"

#if defined(__x86_64__)
#define FILTER_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define FILTER_ARCH AUDIT_ARCH_AARCH64
#else
#error "no filter of system calls is known for this architecture"
#endif

/* Calls of the x32 ABI have this bit; no other architecture has as many calls. */
#define X32_BIT 0x40000000u

/* Both architectures are little-endian: the low half comes first. */
#define ARGUMENT_OFFSET(number, high) \
	(offsetof(struct seccomp_data, args) + 8 * ((number)-1) + 4 * (high))

#define HEAD_LENGTH 6
#define RULE_LENGTH_MAX 6

static struct sock_filter filter_load(size_t offset)
{
	return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset);
}

/* Skip `otherwise` instructions unless the loaded word is `value`. */
static struct sock_filter filter_expect(uint32_t value, uint8_t otherwise)
{
	return (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, otherwise);
}

/* Skip an instruction if the rule does not apply to the loaded word. */
static struct sock_filter filter_apply(const struct seccomp_rule *rule)
{
	return (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, rule->value, rule->unless,
					    !rule->unless);
}

static struct sock_filter filter_return(bool allow)
{
	uint32_t action = allow ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | EPERM;

	return (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
}

/* Begins and ends with the number of the call loaded. Returns how many instructions it has. */
static size_t filter_add_rule(struct sock_filter *code, const struct seccomp_rule *rule, bool allow)
{
	size_t count = 0;

	if (!rule->argument) {
		code[count++] = filter_expect(rule->call, 1);
		code[count++] = filter_return(allow);
		return count;
	}
	code[count++] = filter_expect(rule->call, 5);
	code[count++] = filter_load(ARGUMENT_OFFSET(rule->argument, rule->high));
	code[count++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, rule->mask);
	code[count++] = filter_apply(rule);
	code[count++] = filter_return(allow);
	code[count++] = filter_load(offsetof(struct seccomp_data, nr));
	return count;
}

int seccomp_install(const struct seccomp_rule *rules, size_t count, bool allow)
{
	struct sock_filter *code =
		memory_alloc(HEAD_LENGTH + RULE_LENGTH_MAX * count + 1, sizeof(*code));
	struct sock_fprog program = { .filter = code };
	size_t length = 0, i;
	int status;

	code[length++] = filter_load(offsetof(struct seccomp_data, arch));
	code[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FILTER_ARCH, 1, 0);
	code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	code[length++] = filter_load(offsetof(struct seccomp_data, nr));
	code[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1);
	code[length++] = filter_return(false);
	for (i = 0; i < count; i++)
		length += filter_add_rule(code + length, &rules[i], allow);
	code[length++] = filter_return(!allow);
	program.len = (unsigned short)length;
	status = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
			      &program);
	/* The number of a thread that has a filter which this one lacks. */
	status = status < 0 ? -errno : status ? -EBUSY : 0;
	free(code);
	return status;
}
