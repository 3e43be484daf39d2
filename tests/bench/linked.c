/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `linked COUNT ORDER`: allocates blocks of 32 bytes that lead to each other, says so, and waits for its stdin to end. ORDER is `lists`, a thousand
 * lists as they were allocated; `mixed`, the same with blocks in random order and a second pointer in each; `chain`, one list of that kind.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LISTS 1000

struct node {
	struct node *next, *other;
	unsigned long number, rest;
};

static struct node *heads[LISTS];

static void link_at(struct node *node, size_t list)
{
	node->next = heads[list];
	heads[list] = node;
}

static void shuffle(struct node **nodes, size_t count)
{
	unsigned long state = 88172645463325252ul;
	struct node *node;
	size_t i, k;

	for (i = count; i > 1; i--) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		k = state % i;
		node = nodes[i - 1];
		nodes[i - 1] = nodes[k];
		nodes[k] = node;
	}
}

int main(int argc, char **argv)
{
	size_t count = argc > 2 ? strtoul(argv[1], NULL, 0) : 0, i;
	size_t lists = argc > 2 && !strcmp(argv[2], "chain") ? 1 : LISTS;
	struct node **nodes = malloc((count + 1) * sizeof(*nodes));
	char byte;

	for (i = 0; i < count; i++) {
		nodes[i] = malloc(sizeof(**nodes));
		memset(nodes[i], 0, sizeof(**nodes));
		nodes[i]->number = i;
	}
	if (argc > 2 && strcmp(argv[2], "lists"))
		shuffle(nodes, count);
	for (i = 0; i < count; i++) {
		link_at(nodes[i], i % lists);
		if (i > 2 && strcmp(argv[2], "lists"))
			nodes[i]->other = nodes[i - 3];
	}
	free(nodes);
	printf("done\n");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		continue;
	return 0;
}
