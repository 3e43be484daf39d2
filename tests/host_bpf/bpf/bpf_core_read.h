/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In place of libbpf's header of this name: kernel structures are the host's own memory. */
#ifndef TESTS_HOST_BPF_BPF_CORE_READ_H
#define TESTS_HOST_BPF_BPF_CORE_READ_H

#define BPF_CORE_READ(from, field) ((from)->field)
#define bpf_core_enum_value_exists(type, value) ((value) != 0)

#endif
