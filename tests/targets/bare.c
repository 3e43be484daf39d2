/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A launcher without a C library and without an allocator: it starts a command, waits for it, and ends with its status. */
#include <asm/unistd.h>

#define SIGCHLD 17

#if defined(__aarch64__)
__asm__(".globl _start\n_start: mov x0, sp\n bl bare_main\n");

static long bare_call(long number, long a, long b, long c, long d)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = 0;

	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4)
			 : "memory");
	return x0;
}
#else
__asm__(".globl _start\n_start: mov %rsp, %rdi\n and $-16, %rsp\n call bare_main\n");

static long bare_call(long number, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = 0;

	__asm__ volatile("syscall"
			 : "+a"(number)
			 : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	return number;
}
#endif

void bare_main(long *stack);

void bare_main(long *stack)
{
	char **arguments = (char **)(stack + 1), **environment = arguments + stack[0] + 1;
	int status = 0;
	long pid = bare_call(__NR_clone, SIGCHLD, 0, 0, 0);

	if (!pid) {
		bare_call(__NR_execve, (long)arguments[1], (long)(arguments + 1), (long)environment,
			  0);
		bare_call(__NR_exit_group, 127, 0, 0, 0);
	}
	bare_call(__NR_wait4, pid, (long)&status, 0, 0);
	bare_call(__NR_exit_group, status >> 8 & 0xff, 0, 0, 0);
}
