/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See light_verify.h. */
#include "windows/light_verify.h"

#include "base/clock.h"
#include "kernel/bpf_programs.h"

/* So many calls must have the same result inside and at their return. */
#define VERIFY_CALLS 256
#define VERIFY_TICK_NS 50000000
/* Others wait so long for it at most. */
#define SETTLE_NS 5000000000
/* A thread that ends inside of a call leaves it open. */
#define VERIFY_WAIT_NS 5000000000

void light_verify_start(struct light_verify *verify)
{
	verify->on = true;
	verify->planned = verify->probes->files->plan.count;
	if (!plan_is_inside(&verify->probes->files->plan))
		return;
	verify->reading = LIGHT_VERIFYING;
	verify->begun_ns = clock_now_ns();
	verify->next_ns = verify->begun_ns + VERIFY_TICK_NS;
}

void light_verify_stop(struct light_verify *verify)
{
	verify->on = false;
	verify->next_ns = 0;
}

static void verify_give_up(struct light_verify *verify, const struct inside_counts *counts)
{
	verify->reading = LIGHT_GIVEN_UP;
	verify->next_ns = 0;
	probe_set_detach(verify->probes, PROBES_INSIDE);
	verify->settled_ns = clock_now_ns();
	log_write(verify->log, LOG_NOTICE,
		  "--light: probes inside malloc could not be verified (%llu of %llu calls have "
		  "returned something else than was seen there): return probes are used, 2 traps "
		  "per allocation",
		  (unsigned long long)counts->wrong,
		  (unsigned long long)(counts->right + counts->wrong));
}

static void verify_finish(struct light_verify *verify, const struct inside_counts *counts)
{
	verify->reading = LIGHT_INSIDE;
	verify->next_ns = 0;
	probe_set_detach(verify->probes, PROBES_VERIFIED);
	verify->settled_ns = clock_now_ns();
	log_write(verify->log, LOG_VERBOSE,
		  "--light: probes inside malloc agree with %llu returns: 1 trap per allocation",
		  (unsigned long long)counts->right);
}

bool light_verify_is_settled(const struct light_verify *verify, uint64_t since_ns)
{
	if (!verify->begun_ns || clock_now_ns() - verify->begun_ns > SETTLE_NS)
		return true;
	return verify->settled_ns && verify->settled_ns <= since_ns;
}

void light_verify_poll(struct light_verify *verify)
{
	uint64_t now_ns = clock_now_ns();
	struct inside_counts counts;

	/* The first file that is probed inside may come later. */
	if (verify->on && verify->reading == LIGHT_RETURNS &&
	    verify->planned != verify->probes->files->plan.count)
		light_verify_start(verify);
	if (!verify->next_ns || now_ns < verify->next_ns)
		return;
	verify->next_ns = now_ns + VERIFY_TICK_NS;
	counts = bpf_programs_inside(verify->programs);
	if (verify->reading == LIGHT_VERIFYING && counts.wrong) {
		verify_give_up(verify, &counts);
	} else if (verify->reading == LIGHT_VERIFYING && counts.right >= VERIFY_CALLS) {
		verify->reading = LIGHT_SWITCHING;
		verify->until_ns = now_ns + VERIFY_WAIT_NS;
		bpf_programs_record_inside(verify->programs);
	} else if (verify->reading == LIGHT_SWITCHING &&
		   (!counts.open || now_ns >= verify->until_ns)) {
		verify_finish(verify, &counts);
	}
}
