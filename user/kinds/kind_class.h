/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Identifies the class of a C++ object by its vtable, from memory alone, without symbols. */
#ifndef KINDS_KIND_CLASS_H
#define KINDS_KIND_CLASS_H

#include "base/buffer.h"
#include "image/module_ranges.h"

enum kind_vtable {
	KIND_NO_VTABLE,
	KIND_CLASS, /* the type has a name */
	KIND_VTABLE, /* a class without type information: built with -fno-rtti */
};

/* Examine `vtable`, the first word of a block; for KIND_CLASS appends the name to `name`. */
enum kind_vtable kind_class_find(struct image *image, const struct module_ranges *modules,
				 uint64_t vtable, struct buffer *name);

/*
 * Append "N3app3ReqE" as "app::Req"; more complex names are marked for demangling (kind_names.h).
 */
void kind_class_append_name(struct buffer *out, const char *mangled);

#endif
