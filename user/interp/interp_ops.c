/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See interp_ops.h. */
#include "interp/interp_ops.h"

#include "interp/php_layout.h"
#include "interp/python_layout.h"
#include "interp/ruby_layout.h"

const struct interp_ops *interp_ops_get(enum interp_kind kind)
{
	static const struct interp_ops *const table[INTERP_KINDS] = {
		[INTERP_RUBY] = &ruby_ops,
		[INTERP_PYTHON] = &python_ops,
		[INTERP_PHP] = &php_ops,
	};

	return kind < INTERP_KINDS ? table[kind] : NULL;
}
