/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Descriptors by kind, of this process itself; queues of sockets by text, whole, damaged and nasty; accounts of control groups. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <netinet/in.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/memory.h"
#include "system/cgroup_account.h"
#include "system/proc_descriptors.h"
#include "unit/scratch.h"

#define TITLE                                                                                 \
	"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  " \
	"timeout inode\n"
#define LINE                                                                                       \
	"   0: 0100007F:1F90 00000000:0000 0A 00000010:000000FF 00:00000000 00000000  1000       " \
	" 0 4711 1 0\n"
#define OTHER                                                                                      \
	"   1: 0100007F:1F91 00000000:0000 0A 00000001:00000001 00:00000000 00000000  1000       " \
	" 0 4712 1 0\n"

static uint64_t parse(const char *text)
{
	const uint64_t inodes[] = { 17, 4711, 5000 };

	return proc_parse_queues(text, strlen(text), inodes, 3);
}

static void test_queues(void **state)
{
	(void)state;
	assert_int_equal(parse(TITLE LINE OTHER), 0x10f);
	assert_int_equal(parse(TITLE LINE LINE), 2 * 0x10f);
	assert_int_equal(parse(""), 0);
	assert_int_equal(parse("\n\n   \n"), 0);
	assert_int_equal(parse("0: a b c d 10: g h i 4711"), 0);
	assert_int_equal(parse("0: a b c 10 20 g h i 4711"), 0);
	assert_int_equal(parse("0: a b c 10:xyz f g h i 4711"), 0x10);
	assert_int_equal(parse("0: a b c FFFFFFFFFFFFFFFFFF:1 f g h i 4711"), 1ull << 32);
	assert_int_equal(parse("0: a b c FFFFFFFF:FFFFFFFF f g h i 99999999999999999999"), 0);
}

/* What waits in a socket that nobody reads: the truth is what was sent. */
static void test_own(void **state)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct proc_descriptors before = { 0 }, after = { 0 };
	socklen_t size = sizeof(address);
	int in = socket(AF_INET, SOCK_DGRAM, 0), out = socket(AF_INET, SOCK_DGRAM, 0), ends[2];
	char datagram[1000] = { 0 };

	(void)state;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(in, (struct sockaddr *)&address, size), 0);
	assert_int_equal(getsockname(in, (struct sockaddr *)&address, &size), 0);
	assert_int_equal(proc_read_descriptors("/proc", getpid(), &before), 0);
	assert_int_equal(
		sendto(out, datagram, sizeof(datagram), 0, (struct sockaddr *)&address, size),
		sizeof(datagram));
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(proc_read_descriptors("/proc", getpid(), &after), 0);
	assert_true(before.sockets >= 2);
	assert_int_equal(after.sockets, before.sockets);
	assert_int_equal(after.pipes, before.pipes + 2);
	/* The kernel counts its own headers, too. */
	assert_true(after.queued_bytes >= before.queued_bytes + sizeof(datagram));
	assert_int_equal(proc_read_descriptors("/proc", 0x3fffffff, &after), -ENOENT);
	close(in);
	close(out);
	close(ends[0]);
	close(ends[1]);
}

static void write_file(const char *folder, const char *name, const char *text)
{
	char *path = memory_format("%s/%s", folder, name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	free(path);
}

static char *make_folder(const char *folder, const char *name)
{
	char *path = memory_format("%s/%s", folder, name);

	assert_int_equal(mkdir(path, 0700), 0);
	return path;
}

static void test_account(void **state)
{
	struct scratch scratch = scratch_make();
	char *top = scratch.path, *process = make_folder(top, "7"), *other = make_folder(top, "8");
	char *new = make_folder(top, "new"), *old = make_folder(top, "memory");
	char *group = make_folder(old, "group");
	struct pid_list list = { 0 };
	struct cgroup_account account;

	(void)state;
	pid_list_add(&list, 7);
	write_file(process, "cgroup", "0::/new\n");
	write_file(new, "memory.stat", "anon 100\nfile 200\nshmem 50\nslab 7\nsock 3\nx y\n");
	write_file(new, "memory.current", "330\n");
	write_file(new, "memory.max", "max\n");
	assert_int_equal(cgroup_account_read(top, top, &list, &account), 0);
	assert_int_equal(account.usage, 330);
	assert_int_equal(account.limit, UINT64_MAX);
	assert_int_equal(account.anon, 100);
	assert_int_equal(account.file, 200);
	assert_int_equal(account.kernel, UINT64_MAX);
	assert_int_equal(account.socket, 3);
	write_file(process, "cgroup", "5:cpu:/group\n4:memory:/group\n0::/\n");
	write_file(group, "memory.stat", "cache 1\nrss 2\ntotal_cache 10\ntotal_rss 20\n");
	write_file(group, "memory.usage_in_bytes", "33\n");
	write_file(group, "memory.limit_in_bytes", "9223372036854771712\n");
	assert_int_equal(cgroup_account_read(top, top, &list, &account), 0);
	assert_int_equal(account.usage, 33);
	assert_int_equal(account.anon, 20);
	assert_int_equal(account.file, 10);
	assert_int_equal(account.limit, UINT64_MAX);
	/* The root has everything; a path of another namespace leads nowhere. */
	write_file(process, "cgroup", "0::/\n");
	assert_int_equal(cgroup_account_read(top, top, &list, &account), -ENOENT);
	write_file(process, "cgroup", "0::/../../new\n");
	assert_int_equal(cgroup_account_read(top, top, &list, &account), -ENOENT);
	/* Of several: the smallest group that all are in; of those that have ended nothing is known. */
	write_file(process, "cgroup", "0::/new/a\n");
	write_file(other, "cgroup", "0::/new/ab\n");
	pid_list_add(&list, 8);
	pid_list_add(&list, 9);
	assert_int_equal(cgroup_account_read(top, top, &list, &account), 0);
	assert_int_equal(account.usage, 330);
	write_file(other, "cgroup", "0::/new\n");
	assert_int_equal(cgroup_account_read(top, top, &list, &account), 0);
	write_file(other, "cgroup", "0::/newer\n");
	assert_int_equal(cgroup_account_read(top, top, &list, &account), -ENOENT);
	write_file(other, "cgroup", "4:memory:/group\n");
	assert_int_equal(cgroup_account_read(top, top, &list, &account), -ENOENT);
	write_file(other, "cgroup", "0::/new\n");
	write_file(process, "cgroup", "nonsense\n::\n:\n");
	write_file(other, "cgroup", "\n");
	assert_int_equal(cgroup_account_read(top, top, &list, &account), -ENOENT);
	pid_list_free(&list);
	free(other);
	scratch_remove(&scratch);
	free(process);
	free(new);
	free(old);
	free(group);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_queues),
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_account),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
