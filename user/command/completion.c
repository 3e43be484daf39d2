/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See completion.h. */
#include "command/completion.h"

#include "command/completion_bash.h"
#include "command/completion_fish.h"
#include "command/completion_zsh.h"

void completion_append(struct buffer *out, const struct command *const *commands,
		       enum options_shell shell)
{
	if (shell == SHELL_BASH)
		completion_bash_append(out, commands);
	else if (shell == SHELL_ZSH)
		completion_zsh_append(out, commands);
	else
		completion_fish_append(out, commands);
}
