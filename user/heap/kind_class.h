/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The class of a C++ object, by the vtable that it begins with, from memory alone: no symbol is needed. */
#ifndef HEAP_KIND_CLASS_H
#define HEAP_KIND_CLASS_H

#include "base/buffer.h"
#include "heap/module_ranges.h"

enum kind_vtable {
	KIND_NO_VTABLE,
	KIND_CLASS, /* by its type's name */
	KIND_VTABLE, /* of a class without a type's name: built with -fno-rtti */
};

/* What is at `vtable`, the first word of a block; appends the name of KIND_CLASS to `name`. */
enum kind_vtable kind_class_find(struct image *image, const struct module_ranges *modules,
				 uint64_t vtable, struct buffer *name);

/* "N3app3ReqE" as "app::Req"; names that are more than that are marked to be demangled (kind_names.h). */
void kind_class_append_name(struct buffer *out, const char *mangled);

#endif
