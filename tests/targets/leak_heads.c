/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A list that grows at its head all the time, which static data leads to: of what it holds nothing is lost, nor old. With "slow", a node comes each
 * millisecond. Prints a line when it has FIRST nodes, and goes on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FIRST 20000
#define MOST 4000000
#define BURST 64

struct node {
	struct node *next;
	char bytes[48];
};

static struct node *volatile head;

static __attribute__((noinline)) void push(void)
{
	struct node *node = malloc(sizeof(*node));

	memset(node, 0, sizeof(*node));
	node->next = head;
	head = node;
}

int main(int count, char **arguments)
{
	const struct timespec gap = { .tv_nsec = 1000000 };
	const size_t burst = count > 1 && !strcmp(arguments[1], "slow") ? 1 : BURST;
	size_t i;

	for (i = 0; i < FIRST; i++)
		push();
	printf("at work\n");
	fflush(stdout);
	for (; i < MOST; i++) {
		push();
		if (i % burst == 0)
			nanosleep(&gap, NULL);
	}
	return 0;
}
