/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Included before a program of valgrind's tests: each of its requests for a leak check is one for a full check, and where valgrind does not run it,
 * it waits there for a byte of its input. That is a system call in line: registers that functions preserve have what the program has there. In
 * the others, and below the stack pointer (programs are built without a red zone), there is nothing that a function has left: memcheck knows
 * that it has ended, nobody else does.
 */
#include STOPS_MEMCHECK

#undef VALGRIND_DO_LEAK_CHECK
#undef VALGRIND_DO_QUICK_LEAK_CHECK
#undef VALGRIND_DO_ADDED_LEAK_CHECK
#undef VALGRIND_DO_CHANGED_LEAK_CHECK

#if !defined(__x86_64__)
#error "the system call is written for x86-64"
#endif

#define STOPS_REQUEST VALGRIND_DO_CLIENT_REQUEST_STMT(VG_USERREQ__DO_LEAK_CHECK, 0, 0, 0, 0, 0)

#define VALGRIND_DO_LEAK_CHECK                                                          \
	do {                                                                            \
		char stops_byte_;                                                       \
		long stops_result_;                                                     \
                                                                                        \
		if (RUNNING_ON_VALGRIND)                                                \
			STOPS_REQUEST;                                                  \
		else                                                                    \
			__asm__ volatile("movl $-16384, %%r8d\n"                        \
					 "1: movslq %%r8d, %%r8\n\t"                    \
					 "movq $0, (%%rsp,%%r8)\n\t"                    \
					 "addl $8, %%r8d\n\t"                           \
					 "jnz 1b\n\t"                                   \
					 "xorl %%r8d, %%r8d\n\t"                        \
					 "xorl %%r9d, %%r9d\n\t"                        \
					 "xorl %%r10d, %%r10d\n\t"                      \
					 "syscall"                                      \
					 : "=a"(stops_result_)                          \
					 : "a"(0L), "D"(0L), "S"(&stops_byte_), "d"(1L) \
					 : "rcx", "r8", "r9", "r10", "r11", "memory");  \
	} while (0)
#define VALGRIND_DO_QUICK_LEAK_CHECK VALGRIND_DO_LEAK_CHECK
#define VALGRIND_DO_ADDED_LEAK_CHECK VALGRIND_DO_LEAK_CHECK
#define VALGRIND_DO_CHANGED_LEAK_CHECK VALGRIND_DO_LEAK_CHECK
