/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See confine.h. */
#include "command/confine.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

#include "system/path_walk.h"
#include "system/privilege.h"
#include "system/seccomp.h"

/*
 * What would start a program, write to a file or to another process's memory, or change the system. The flags of openat2()
 * are out of a filter's sight: rules that confine_calls adds leave it to path_walk.
 */
static const struct seccomp_rule refused_calls[] = {
	{ SYS_execve },
	{ SYS_execveat },
	{ SYS_ptrace },
	{ SYS_process_vm_writev },
	{ SYS_pidfd_getfd },
	{ SYS_process_madvise },
	{ SYS_openat, 3, O_ACCMODE, O_WRONLY },
	{ SYS_openat, 3, O_ACCMODE, O_RDWR },
	{ SYS_openat, 3, O_CREAT, O_CREAT },
	{ SYS_openat, 3, O_TRUNC, O_TRUNC },
#ifdef SYS_open
	{ SYS_open, 2, O_ACCMODE, O_WRONLY },
	{ SYS_open, 2, O_ACCMODE, O_RDWR },
	{ SYS_open, 2, O_CREAT, O_CREAT },
	{ SYS_open, 2, O_TRUNC, O_TRUNC },
	{ SYS_creat },
	{ SYS_unlink },
	{ SYS_rename },
	{ SYS_link },
	{ SYS_symlink },
	{ SYS_mkdir },
	{ SYS_rmdir },
	{ SYS_mknod },
	{ SYS_chmod },
	{ SYS_chown },
	{ SYS_lchown },
#endif
#ifdef SYS_renameat
	{ SYS_renameat },
#endif
	{ SYS_open_by_handle_at },
	{ SYS_unlinkat },
	{ SYS_renameat2 },
	{ SYS_linkat },
	{ SYS_symlinkat },
	{ SYS_mkdirat },
	{ SYS_mknodat },
	{ SYS_fchmod },
	{ SYS_fchmodat },
#ifdef SYS_fchmodat2
	{ SYS_fchmodat2 },
#endif
	{ SYS_fchown },
	{ SYS_fchownat },
	{ SYS_truncate },
	{ SYS_setxattr },
	{ SYS_lsetxattr },
	{ SYS_fsetxattr },
	{ SYS_removexattr },
	{ SYS_lremovexattr },
	{ SYS_fremovexattr },
	{ SYS_utimensat },
	{ SYS_mount },
	{ SYS_umount2 },
	{ SYS_pivot_root },
	{ SYS_move_mount },
	{ SYS_open_tree },
	{ SYS_fsopen },
	{ SYS_fsmount },
	{ SYS_fsconfig },
	{ SYS_fspick },
#ifdef SYS_mount_setattr
	{ SYS_mount_setattr },
#endif
	{ SYS_chroot },
	{ SYS_setns },
	{ SYS_unshare },
	{ SYS_setuid },
	{ SYS_setresuid },
	{ SYS_init_module },
	{ SYS_finit_module },
	{ SYS_delete_module },
	{ SYS_kexec_load },
#ifdef SYS_kexec_file_load
	{ SYS_kexec_file_load },
#endif
	{ SYS_reboot },
	{ SYS_swapon },
	{ SYS_swapoff },
	{ SYS_acct },
	{ SYS_add_key },
	{ SYS_request_key },
	{ SYS_keyctl },
	{ SYS_userfaultfd },
	{ SYS_io_uring_setup },
	/* The last one: fetching debug files from servers takes it. */
	{ SYS_socket },
};

#define CALL_COUNT (sizeof(refused_calls) / sizeof(refused_calls[0]))

int confine_calls(bool servers)
{
	struct seccomp_rule rules[2 + CALL_COUNT];
	uint64_t mask, flags = path_walk_fix_flags(&mask);

	rules[0] = (struct seccomp_rule){ SYS_openat2, 3, (uint32_t)mask, (uint32_t)flags,
					  .unless = true };
	rules[1] = (struct seccomp_rule){
		SYS_openat2,   3, (uint32_t)(mask >> 32), (uint32_t)(flags >> 32), .high = true,
		.unless = true
	};
	memcpy(rules + 2, refused_calls, sizeof(refused_calls));
	return seccomp_install(rules, 2 + CALL_COUNT - servers, false);
}

void confine_tracer(enum backend backend, bool servers, unsigned int user, const struct log *log)
{
	int code = servers ? 0 : privileges_leave_root(user);

	if (servers)
		log_write(log, LOG_VERBOSE,
			  "the user is kept: debug files are fetched from servers");
	if (code)
		log_write(log, LOG_VERBOSE, "the user is kept: %s", strerror(-code));
	code = privileges_drop(backend > BACKEND_KERNEL_MULTI);
	if (code)
		log_write(log, LOG_ERROR, "warning: privileges are kept that are not needed: %s",
			  strerror(-code));
	code = confine_calls(servers);
	if (code)
		log_write(log, LOG_ERROR, "warning: all system calls stay allowed: %s",
			  strerror(-code));
}
