/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See python_search.h. */
#include "python/python_search.h"

#include "base/clock.h"
#include "python/python_chain.h"

/* Do these nodes all have ways to ends that keep for sure? */
static bool search_is_done(const struct python_graph *graph, size_t targets)
{
	size_t i;

	for (i = 0; i < targets; i++)
		if (graph->nodes[i].owner.kind < PYTHON_OWNER_CLASS &&
		    (!graph->nodes[i].end || graph->nodes[i].end > PYTHON_OWNER_MODULE))
			return false;
	return true;
}

void python_search(struct python_graph *graph, unsigned int levels, uint64_t until_ns)
{
	size_t targets = graph->count, first = 0, next;
	struct python_chains chains = { 0 };

	while (levels-- && (!until_ns || clock_now_ns() < until_ns)) {
		next = graph->count;
		if (!python_graph_pass(graph, first, until_ns))
			break;
		python_chains_jump(&chains, graph, next, until_ns);
		/* A table's container is made with it, and is wanted with what is new. */
		first = next;
		python_graph_find_ways(graph);
		if (search_is_done(graph, targets))
			break;
	}
	python_chains_free(&chains);
}
