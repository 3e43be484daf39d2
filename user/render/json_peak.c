/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See json_peak.h. */
#include "render/json_peak.h"

#include "analyze/report_peak.h"
#include "render/json_member.h"

void json_peak(struct json_writer *json, const struct report *report)
{
	const struct peak *peak = &report->peak;

	if (!report_peak_is_tracked(report))
		return;
	json_writer_key(json, "peak");
	json_writer_open(json, '{');
	json_member_known(json, "inuse_bytes", peak->bytes, peak->known);
	json_member_seconds(json, "time_s", peak->time_ns, peak->known);
	json_member_seconds(json, "spacing_s", peak->spacing_ns, peak->known);
	json_writer_close(json, '}');
}

void json_peak_site(struct json_writer *json, const struct report *report,
		    const struct report_site *site)
{
	const uint64_t rate = report_peak_rate(report, site->stats.alloc_bytes);
	uint64_t bytes;
	bool known;

	if (!report_peak_is_tracked(report))
		return;
	known = report_peak_of(report, site, &bytes);
	json_member_known(json, "peak_bytes", bytes, known);
	json_member_known(json, "alloc_bytes_per_s", rate, report->duration_ns);
}
