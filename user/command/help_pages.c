/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See help_pages.h. tests/unit/test_help.c parses each example. */
#include "command/help_pages.h"

#include <stddef.h>
#include <string.h>

static const struct help_page pages[] = {
	{ .command = "trace",
	  .usage = "tracer -p PID[,PID...] [OPTIONS] [INTERVAL [COUNT]]\n"
		   "tracer [OPTIONS] -- CMD [ARG...]\n"
		   "tracer --tree PID | --comm NAME | ... [OPTIONS] [INTERVAL [COUNT]]\n"
		   "tracer COMMAND ...; 'tracer COMMAND -h' has the options of a command\n",
	  .about = "Shows which call sites hold the memory that a process has allocated since the\n"
		   "attach and not freed. A report every 5 s until Ctrl-C or the end of the "
		   "process.\n",
	  .examples =
		  "  tracer -p 4242                 a report every 5 s\n"
		  "  tracer -p 4242 2 5             five reports, two seconds apart\n"
		  "  tracer -p 4242 -d 30s          one report after 30 s\n"
		  "  tracer -p 4242 -d 30s -n 3 -j  the same, three sites, as JSON\n"
		  "  tracer -p 4242,4243 -s alloc   two processes, busiest sites first\n"
		  "  tracer -p 4242 --min-age 1m    leave out what may yet be freed soon\n"
		  "  tracer -f -- ./server          a command; all its stacks for a flame graph\n"
		  "  tracer --tree 4242             a master and its workers\n"
		  "  tracer -p 4242 --when-rss 2g   one when it has 2 GiB, and one at the end\n" },
	{ .command = "plan",
	  .usage = "tracer plan -p PID[,PID...] | --comm NAME | ... [OPTIONS]\n"
		   "tracer plan [OPTIONS] -- CMD [ARG...]\n",
	  .about = "Prints which functions would be probed, at which instructions, what a probe\n"
		   "costs here, and why others are left alone. Nothing is attached.\n",
	  .examples = "  tracer plan --comm puma        what would be traced; nothing is attached\n"
		      "  tracer plan -- ./server        the same of a command\n" },
	{ .command = "memory",
	  .usage = "tracer memory -p PID | --tree PID | ... [OPTIONS] [INTERVAL [COUNT]]\n",
	  .about = "Looks at the memory of a process from outside: what it is for, how much of it\n"
		   "the allocator keeps though it is free, and what may be done. With an\n"
		   "INTERVAL, what of it grows. Nothing is attached, and nothing is stopped.\n",
	  .examples = "  tracer memory -p 4242          where its memory is; no probe\n"
		      "  tracer memory -p 4242 10 6     what of it grows\n"
		      "  tracer memory --objects -p 4242  objects of Ruby and Python by class\n" },
	{ .command = "leaks",
	  .usage = "tracer leaks -p PID [-d TIME] [OPTIONS]\n"
		   "tracer leaks [-d TIME] [OPTIONS] -- CMD [ARG...]\n",
	  .about = "Prints the blocks of a process that nothing points to any more. Nothing is\n"
		   "attached, unless -d asks for the stacks that have allocated them since, and\n"
		   "nothing is stopped, unless --pause asks for a proof. A CMD is traced, and\n"
		   "stopped where it ends to be looked at. The exit status is 1 if a block is\n"
		   "lost, whatever that of CMD is.\n",
	  .examples =
		  "  tracer leaks -p 4242           blocks that nothing points to; no probe\n"
		  "  tracer leaks -p 4242 -d 10m    with stacks, of blocks since then\n"
		  "  tracer leaks -- ./tests        a command, at its end\n"
		  "  tracer leaks -p 4242 -n 3 -j   the three largest rows, as JSON\n"
		  "  tracer leaks -p 4242 --pause   stopped for one pass, as a proof\n"
		  "  tracer leaks -p 4242 --who 0x5569d1844390  what points to this block\n"
		  "  tracer leaks -p 4242 --since first  what is lost since --save first\n"
		  "  tracer leaks -p 4242 -d 10m --suppressions known.supp  less what is known\n" },
	{ .command = "watch",
	  .usage = "tracer watch -p PID | --comm NAME | ... [-d TIME] [OPTIONS]\n"
		   "tracer watch [-d TIME] [OPTIONS] -- CMD [ARG...]\n",
	  .about = "Traces until it is sure which sites leak, fill or are steady: in short "
		   "windows,\n"
		   "or all calls where that is within the budget, 1 % of the CPU time of the\n"
		   "processes unless --budget is given. Of a CMD all calls are traced, from its\n"
		   "first instruction on, unless --budget is given.\n",
	  .examples =
		  "  tracer watch -p 4242           what leaks, as soon as that is sure\n"
		  "  tracer watch -p 4242 -d 10m    what is sure after ten minutes at most\n"
		  "  tracer watch -- ./server       the same of a command, from its start on\n" },
	{ .command = "record",
	  .usage = "tracer record -o FILE -p PID | -a | ... [OPTIONS] [INTERVAL [COUNT]]\n"
		   "tracer record -o FILE [OPTIONS] -- CMD [ARG...]\n",
	  .about = "Traces as 'tracer' does, and keeps each interval in a file, of which 'tracer\n"
		   "report' and 'tracer diff' show any moment. On a terminal, Enter sets a mark, "
		   "and\n"
		   "a name and Enter one of that name, which is a MOMENT, too.\n",
	  .examples =
		  "  tracer record -p 4242 -o x.db  keep each interval in a file\n"
		  "  tracer record -p 4242 -o x.db --limit 100m 1m  one a minute, in 100 MiB\n" },
	{ .command = "report",
	  .usage = "tracer report FILE [--at MOMENT | --from MOMENT --to MOMENT] [OPTIONS]\n"
		   "tracer report FILE --base MOMENT|FILE [OPTIONS]\n",
	  .about = "Prints what was in use at a moment of a recording: its last one, or that of\n"
		   "--at. No privilege is needed.\n",
	  .examples = "  tracer report x.db --at 2h     what was in use after two hours\n"
		      "  tracer report x.db --format html -o x.html  a page for a browser\n" },
	{ .command = "diff",
	  .usage = "tracer diff FILE[@MOMENT] FILE[@MOMENT] [FILE[@MOMENT]] [OPTIONS]\n",
	  .about = "Prints what has grown between two moments of recordings, or between JSON\n"
		   "reports; of three, what was born between the first two and is left at the "
		   "third.\n",
	  .examples = "  tracer diff x.db@10m @2h       what has grown between two moments of it\n"
		      "  tracer diff x.db@a @b @c       what was born between a and b, and is left "
		      "at c\n" },
	{ .command = "mark",
	  .usage = "tracer mark FILE NAME\n",
	  .about = "Gives this moment of a recording that is being written a name, which 'tracer\n"
		   "report' and 'tracer diff' take as a MOMENT.\n",
	  .examples = "  tracer mark x.db warm          name this moment of it \"warm\"\n" },
	{ .command = "top",
	  .usage = "tracer top -p PID | --tree PID | -a | ... [OPTIONS] [INTERVAL]\n"
		   "tracer top [OPTIONS] [INTERVAL] -- CMD [ARG...]\n",
	  .about = "Traces as 'tracer' does, and shows sites or processes live on the terminal, "
		   "with\n"
		   "their trends, verdicts and stacks. F1 has the keys.\n",
	  .examples = "  tracer top -p 4242             live on the terminal; F1 has its keys\n"
		      "  tracer top -a --budget 1%      all processes, for one hundredth of their "
		      "time\n" },
	{ .command = "serve",
	  .usage = "tracer serve --listen ADDR -p PID | -a | ... [OPTIONS]\n"
		   "tracer serve --listen ADDR [OPTIONS] -- CMD [ARG...]\n",
	  .about =
		  "Traces as 'tracer' does, and gives reports by HTTP to who asks: / a page for\n"
		  "a browser, /metrics for Prometheus, /debug/pprof/heap and .../allocs?seconds=N\n"
		  "for pprof, /report.json, /folded and /report.\n",
	  .examples =
		  "  tracer serve --listen 127.0.0.1:9797 -a --budget 1%  for Prometheus, pprof\n"
		  "  tracer serve --listen unix:/run/tracer.sock -p 4242  for its owner alone\n" },
};

const struct help_page *help_pages_find(const char *command)
{
	size_t i;

	for (i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		if (!strcmp(pages[i].command, command))
			return &pages[i];
	return NULL;
}
