/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See price.h. */
#include "model/price.h"

#define NS_PER_SECOND 1000000000
#define WHOLE 100000 /* 100 % */

static uint64_t price_ratio(const struct price *price, uint64_t value, uint64_t unit)
{
	if (!price->window_ns)
		return 0;
	return (uint64_t)(((unsigned __int128)value * unit + price->window_ns / 2) /
			  price->window_ns);
}

uint64_t price_calls_per_second(const struct price *price)
{
	return price_ratio(price, price->calls, NS_PER_SECOND);
}

uint64_t price_share(const struct price *price)
{
	return price_ratio(price, price->cost_ns, WHOLE);
}

uint64_t price_busiest_share(const struct price *price)
{
	return price_ratio(price, price->busiest_ns, WHOLE);
}

uint64_t price_slowdown(const struct price *price)
{
	uint64_t all_ns = price->busiest_cpu_ns ? price->busiest_cpu_ns : price->window_ns;
	uint64_t slowdown = PRICE_SLOWDOWN_MAX;

	if (!price->busiest_ns)
		return 1000;
	if (all_ns > price->busiest_ns)
		slowdown =
			(uint64_t)((unsigned __int128)all_ns * 1000 / (all_ns - price->busiest_ns));
	return slowdown < PRICE_SLOWDOWN_MAX ? slowdown : PRICE_SLOWDOWN_MAX;
}
