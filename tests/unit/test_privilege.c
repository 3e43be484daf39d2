/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is said of a refused step. Truth: the capabilities that each step was found to need by trying them one by one. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/wait.h>

#include "unit/scratch.h"
#include "system/privilege.h"

#define PTRACE (1ULL << 19)
#define ADMIN (1ULL << 21)
#define PERFMON (1ULL << 38)
#define BPF (1ULL << 39)

static void check_explained(struct privileges privileges, enum privilege_step step,
			    const char *words, const char *not_words)
{
	struct buffer text = { 0 };

	privileges_explain(&privileges, step, &text);
	if (!strstr(text.data, words) || (not_words && strstr(text.data, not_words)))
		fail_msg("\"%s\" is not in, or \"%s\" is in: %s", words, not_words, text.data);
	buffer_free(&text);
}

static void test_explain(void **state)
{
	struct privileges some = { .effective = PERFMON, .paranoid = 2 };

	(void)state;
	check_explained(some, STEP_LOAD, "lacks CAP_BPF:", "lacks CAP_PERFMON");
	check_explained((struct privileges){ 0 }, STEP_LOAD,
			"lacks CAP_PERFMON and CAP_BPF:", NULL);
	check_explained((struct privileges){ .paranoid = 3 }, STEP_LISTEN, "paranoid is 3", "BPF");
	check_explained(some, STEP_LOOK, "lacks CAP_SYS_PTRACE", NULL);
	some.effective = ADMIN;
	check_explained(some, STEP_LOOK, "lacks CAP_SYS_PTRACE", NULL);
	check_explained(some, STEP_READ, "lacks CAP_DAC_READ_SEARCH and CAP_SYS_PTRACE:", NULL);
	some.effective = BPF | PERFMON | PTRACE;
	check_explained(some, STEP_READ, "lacks CAP_DAC_READ_SEARCH:", "lacks CAP_SYS_PTRACE");
	check_explained(some, STEP_ATTACH_PERF, "lacks CAP_SYS_ADMIN", NULL);
	check_explained(some, STEP_LOAD, "security module", "lacks");
	check_explained(some, STEP_LISTEN, "security module", "lacks");
	some.paranoid = 3;
	check_explained(some, STEP_LISTEN,
			"perf_event_paranoid is 3, where Debian's kernels ask for",
			"security module");
	check_explained(some, STEP_LOAD, "security module", "paranoid");
	some.paranoid = 2;
	some.filtered = true;
	check_explained(some, STEP_LOAD, "seccomp profile of this process that forbids bpf()",
			"lacks");
	check_explained(some, STEP_LISTEN, "perf_event_open()", "lacks");
	some.profiled = true;
	check_explained(some, STEP_LOAD, "seccomp profile", "AppArmor");
	check_explained(some, STEP_LOOK, "AppArmor profile", "seccomp");
	some.profiled = false;
	check_explained(some, STEP_LOOK, "process_vm_readv()", "AppArmor");
	some.effective = ADMIN;
	check_explained(some, STEP_LOAD, "seccomp profile", "lacks");
	some.filtered = false;
	some.locked = true;
	check_explained(some, STEP_LOAD, "locked down", "lacks");
	some.confined = true;
	check_explained(some, STEP_LOAD, "first user namespace", "lacks");
}

static void test_read(void **state)
{
	struct scratch scratch = scratch_make();
	struct privileges privileges;

	(void)state;
	assert_int_equal(
		scratch_run("cd %s && mkdir -p self/attr sys/kernel kernel/security && "
			    "echo 'docker-default (enforce)' > self/attr/current && "
			    "printf 'Name:\\tx\\nCapPrm:\\tff\\nCapEff:\\t000000c000080000\\n"
			    "NoNewPrivs:\\t1\\nSeccomp:\\t2\\nSeccomp_filters:\\t1\\n' > "
			    "self/status && "
			    "echo '         0     100000      65536' > self/uid_map && "
			    "echo 3 > sys/kernel/perf_event_paranoid && "
			    "echo 'none integrity [confidentiality]' > kernel/security/lockdown",
			    scratch.path),
		0);
	privileges_read(scratch.path, scratch.path, &privileges);
	assert_true(privileges.effective == (BPF | PERFMON | PTRACE));
	assert_true(privileges.filtered && privileges.confined && privileges.locked);
	assert_true(privileges.profiled);
	assert_int_equal(privileges.paranoid, 3);
	assert_int_equal(scratch_run("cd %s && echo '0 0 4294967295' > self/uid_map && "
				     "echo unconfined > self/attr/current && "
				     "echo 'CapEff:	0' > self/status && rm -r sys kernel",
				     scratch.path),
			 0);
	privileges_read(scratch.path, scratch.path, &privileges);
	assert_false(privileges.filtered || privileges.confined || privileges.locked);
	assert_false(privileges.profiled);
	assert_int_equal(privileges.effective, 0);
	scratch_remove(&scratch);
}

/* What the kernel says of a process that has given up the rest. */
static void test_drop(void **state)
{
	const uint64_t kept = BPF | PERFMON | PTRACE | 1ULL << 2 | 1ULL << 40;
	struct privileges before, after;
	int status;
	pid_t child;

	(void)state;
	privileges_read("/proc", "/sys", &before);
	child = fork();
	if (!child) {
		if (privileges_drop(false))
			_exit(1);
		privileges_read("/proc", "/sys", &after);
		if (after.effective != (before.effective & kept))
			_exit(2);
		if (privileges_drop(true))
			_exit(3);
		privileges_read("/proc", "/sys", &after);
		_exit(after.effective == (before.effective & kept) ? 0 : 4);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_explain),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_drop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
