/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See stack.h. */
#include "model/stack.h"

#include <stdlib.h>

struct stack *stack_share(struct stack *stack)
{
	stack->shares++;
	return stack;
}

void stack_free(struct stack *stack)
{
	if (stack && stack->shares)
		stack->shares--;
	else
		free(stack);
}
