/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See frames_table.h. */
#include "frames/frames_table.h"

#include <errno.h>

#include "php/php_layout.h"
#include "python/python_layout.h"
#include "ruby/ruby_frames.h"

const struct frames_ops *frames_table_get(enum interp_kind kind)
{
	static const struct frames_ops *const table[INTERP_KINDS] = {
		[INTERP_RUBY] = &ruby_ops,
		[INTERP_PYTHON] = &python_ops,
		[INTERP_PHP] = &php_ops,
	};

	return kind < INTERP_KINDS ? table[kind] : NULL;
}

int frames_table_read_file(struct elf_file *file, const char *path, struct interp_file *ret_file)
{
	enum interp_kind kind;
	int code = -ENOENT;

	for (kind = INTERP_NONE + 1; kind < INTERP_KINDS && code == -ENOENT; kind++) {
		const struct frames_ops *ops = frames_table_get(kind);
		struct interp_file interp = { .kind = kind };

		if (!ops->read_file(file, path, &interp) ||
		    !elf_file_offset_to_address(file, 0, &interp.base))
			continue;
		code = ops->knows(&interp) ? 0 : -ENOTSUP;
		*ret_file = interp;
	}
	return code;
}

bool frames_table_check_file(const struct interp_file *file, int *ret_code)
{
	const struct frames_ops *ops = frames_table_get(file->kind);

	if (!ops)
		return false;
	*ret_code = ops->knows(file) ? 0 : -ENOTSUP;
	return true;
}
