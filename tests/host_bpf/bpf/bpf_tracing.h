/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In place of libbpf's header of this name: the registers of x86-64. */
#ifndef TESTS_HOST_BPF_BPF_TRACING_H
#define TESTS_HOST_BPF_BPF_TRACING_H

#define PT_REGS_PARM1(ctx) ((ctx)->di)
#define PT_REGS_PARM2(ctx) ((ctx)->si)
#define PT_REGS_PARM3(ctx) ((ctx)->dx)
#define PT_REGS_PARM4(ctx) ((ctx)->cx)
#define PT_REGS_PARM5(ctx) ((ctx)->r8)
#define PT_REGS_FP(ctx) ((ctx)->bp)
#define PT_REGS_RC(ctx) ((ctx)->ax)
#define PT_REGS_SP(ctx) ((ctx)->sp)
#define PT_REGS_IP(ctx) ((ctx)->ip)

#endif
