/* SPDX-License-Identifier: GPL-2.0-or-later */
/* regular_file_* on every kind of file; what it must not do is wait, or open anything else. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "scratch.h"
#include "system/regular_file.h"

static void test_regular(void **state)
{
	struct scratch scratch = scratch_make();
	char *path = scratch_file(&scratch, "file", "content", 7, 0644), bytes[16];
	char *link = scratch_path(&scratch, "link");
	const char *paths[] = { path, link };
	size_t i;

	(void)state;
	assert_int_equal(symlink("file", link), 0);
	for (i = 0; i < 2; i++) {
		int fd = regular_file_open(paths[i], REGULAR_FILE_LINKS);

		assert_true(fd >= 0);
		assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		assert_int_equal(fcntl(fd, F_GETFL) & (O_ACCMODE | O_PATH), O_RDONLY);
		assert_int_equal(read(fd, bytes, sizeof(bytes)), 7);
		close(fd);
	}
	free(link);
	free(path);
	scratch_remove(&scratch);
}

static void test_others(void **state)
{
	struct scratch scratch = scratch_make();
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char *fifo = scratch_path(&scratch, "fifo"), *loop = scratch_path(&scratch, "loop");
	int socket_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), before, after;

	(void)state;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", scratch.path);
	assert_int_equal(bind(socket_fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(mkfifo(fifo, 0644), 0);
	assert_int_equal(symlink("loop", loop), 0);
	before = dup(0);
	assert_int_equal(regular_file_open(fifo, REGULAR_FILE_LINKS), -EACCES);
	assert_int_equal(regular_file_open(address.sun_path, REGULAR_FILE_LINKS), -EACCES);
	assert_int_equal(regular_file_open(scratch.path, REGULAR_FILE_LINKS), -EACCES);
	assert_int_equal(regular_file_open("/dev/null", REGULAR_FILE_LINKS), -EACCES);
	assert_int_equal(regular_file_open(loop, REGULAR_FILE_LINKS), -ELOOP);
	assert_int_equal(regular_file_open("/none", REGULAR_FILE_LINKS), -ENOENT);
	assert_int_equal(regular_file_open("", REGULAR_FILE_LINKS), -ENOENT);
	assert_int_equal(regular_file_reopen(-EPERM, 0), -EPERM);
	/* The lowest free descriptor is what it was: nothing stays open. */
	after = dup(0);
	assert_int_equal(after, before + 1);
	close(after);
	close(before);
	close(socket_fd);
	free(loop);
	free(fifo);
	scratch_remove(&scratch);
}

/* Regular files to stat(), but to open or read one may act. */
static void test_kernel_files(void **state)
{
	struct scratch scratch = scratch_make();
	char *link = scratch_path(&scratch, "link");

	(void)state;
	assert_int_equal(regular_file_open("/proc/kmsg", REGULAR_FILE_LINKS), -EACCES);
	assert_int_equal(regular_file_open("/proc/self/maps", REGULAR_FILE_LINKS), -EACCES);
	assert_int_equal(regular_file_open("/sys/kernel/mm/transparent_hugepage/enabled",
					   REGULAR_FILE_LINKS),
			 -EACCES);
	assert_int_equal(symlink("/proc/version", link), 0);
	assert_int_equal(regular_file_open(link, REGULAR_FILE_LINKS), -EACCES);
	assert_int_equal(regular_file_reopen(open(link, O_PATH | O_CLOEXEC), 0), -EACCES);
	free(link);
	scratch_remove(&scratch);
}

/* Links of the file, of its folder, and of /proc to an open file. */
static void test_links(void **state)
{
	struct scratch scratch = scratch_make();
	char *path = scratch_file(&scratch, "file", "content", 7, 0644), magic[64];
	char *link = scratch_path(&scratch, "link"), *folder = scratch_path(&scratch, "folder");
	char *below = scratch_path(&scratch, "folder/file");
	int fd = regular_file_open(path, REGULAR_FILE_NO_LINKS), below_fd;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(symlink("file", link), 0);
	assert_int_equal(symlink(".", folder), 0);
	below_fd = regular_file_open(below, REGULAR_FILE_LINKS);
	assert_true(below_fd >= 0);
	close(below_fd);
	assert_int_equal(regular_file_open(link, REGULAR_FILE_NO_LINKS), -ELOOP);
	assert_int_equal(regular_file_open(below, REGULAR_FILE_NO_LINKS), -ELOOP);
	/* By its number: another process may open it for this one. */
	snprintf(magic, sizeof(magic), "/proc/%d/fd/%d", getpid(), fd);
	assert_int_equal(regular_file_open(magic, REGULAR_FILE_LINKS), -ELOOP);
	close(fd);
	free(below);
	free(folder);
	free(link);
	free(path);
	scratch_remove(&scratch);
}

/* Another process holds a lease, and takes its time to give it up. */
static void test_leased(void **state)
{
	struct scratch scratch = scratch_make();
	char *path = scratch_file(&scratch, "file", "content", 7, 0644);
	int ready[2], fd;
	char leased = 'n';
	pid_t pid;

	(void)state;
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		/* A break of the lease would otherwise end the process, and so the lease. */
		signal(SIGIO, SIG_IGN);
		fd = open(path, O_RDWR | O_CLOEXEC);
		leased = fcntl(fd, F_SETLEASE, F_WRLCK) ? 'n' : 'y';
		if (write(ready[1], &leased, 1) == 1)
			pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &leased, 1), 1);
	fd = leased == 'y' ? regular_file_open(path, REGULAR_FILE_LINKS) : 0;
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(ready[0]);
	close(ready[1]);
	free(path);
	scratch_remove(&scratch);
	if (leased != 'y')
		skip();
	assert_int_equal(fd, -EAGAIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_regular),	     cmocka_unit_test(test_others),
		cmocka_unit_test(test_kernel_files), cmocka_unit_test(test_links),
		cmocka_unit_test(test_leased),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
