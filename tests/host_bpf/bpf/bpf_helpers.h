/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In place of libbpf's header of this name: shim.h has what BPF code gets from it. */
