/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See verdict_line.h. */
#include "verdict/verdict_line.h"

#include <math.h>

static double line_seconds(const struct verdict_input *input, uint64_t time_ns)
{
	return (double)(time_ns - input->start_ns) / 1e9;
}

static struct verdict_moment line_moment(double time_s, const struct history_point *point)
{
	struct verdict_moment moment = { time_s, (double)point->bytes, (double)point->objects,
					 (double)point->born };
	size_t i;

	for (i = 0; i < HISTORY_AGES; i++)
		moment.freed[i] = point->freed[i];
	return moment;
}

void verdict_line_make(const struct verdict_input *input, struct verdict_line *ret_line)
{
	const struct history_point now = history_point_of(input->stats);
	const double now_s = line_seconds(input, input->now_ns);
	size_t i;

	*ret_line = (struct verdict_line){ .count = 1 };
	for (i = 0; i < input->count && i < HISTORY_POINTS; i++)
		if (input->times[i] > input->start_ns && input->times[i] < input->now_ns)
			ret_line->moments[ret_line->count++] = line_moment(
				line_seconds(input, input->times[i]), &input->points[i]);
	ret_line->moments[ret_line->count++] = line_moment(now_s, &now);
	while (ret_line->moments[ret_line->half].time_s < now_s / 2)
		ret_line->half++;
}

static struct verdict_moment line_between(const struct verdict_line *line, double time_s)
{
	const struct verdict_moment *left, *right = line->moments + 1;
	double part;

	while (right < line->moments + line->count - 1 && right->time_s < time_s)
		right++;
	left = right - 1;
	part = right->time_s > left->time_s
		       ? (time_s - left->time_s) / (right->time_s - left->time_s)
		       : 1;
	part = fmin(fmax(part, 0), 1);
	return (struct verdict_moment){
		.time_s = time_s,
		.bytes = left->bytes + part * (right->bytes - left->bytes),
		.objects = left->objects + part * (right->objects - left->objects),
		.born = left->born + part * (right->born - left->born),
	};
}

double verdict_line_at(const struct verdict_line *line, double time_s)
{
	return line_between(line, time_s).bytes;
}

double verdict_line_born(const struct verdict_line *line, double time_s)
{
	return line_between(line, time_s).born;
}

double verdict_line_rate(const struct verdict_line *line, double from, double to)
{
	double all = line->moments[line->count - 1].time_s;

	return (verdict_line_at(line, to * all) - verdict_line_at(line, from * all)) /
	       ((to - from) * all);
}

double verdict_line_widest_s(const struct verdict_line *line)
{
	double widest = 0;
	size_t i;

	for (i = 1; i < line->count; i++)
		widest = fmax(widest, line->moments[i].time_s - line->moments[i - 1].time_s);
	return widest;
}

double verdict_line_peak(const struct verdict_line *line, size_t first, size_t end)
{
	double peak = 0;
	size_t i;

	for (i = first; i < end; i++)
		peak = fmax(peak, line->moments[i].bytes);
	return peak;
}

double verdict_line_deviation(const struct verdict_line *line, size_t first)
{
	double count = (double)(line->count - first), mean = 0, sum = 0;
	size_t i;

	for (i = first; i < line->count; i++)
		mean += line->moments[i].objects / count;
	for (i = first; i < line->count; i++)
		sum += pow(line->moments[i].objects - mean, 2);
	return sqrt(sum / count);
}

double verdict_line_r2(const struct verdict_line *line, size_t first)
{
	double count = (double)(line->count - first), time = 0, bytes = 0;
	double times = 0, squares = 0, products = 0;
	size_t i;

	for (i = first; i < line->count; i++) {
		time += line->moments[i].time_s / count;
		bytes += line->moments[i].bytes / count;
	}
	for (i = first; i < line->count; i++) {
		const double t = line->moments[i].time_s - time, b = line->moments[i].bytes - bytes;

		times += t * t;
		squares += b * b;
		products += t * b;
	}
	/* What does not change has no line that explains it. */
	return count >= 3 && times > 0 && squares > 0 ? products * products / (times * squares)
						      : -1;
}
