/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A figure that was not counted but estimated: never shown without its mark and its interval. */
#ifndef MODEL_ESTIMATE_H
#define MODEL_ESTIMATE_H

/* With the limits between which the truth is in 95 of 100 cases; `high` may be INFINITY: then only `low` is known. */
struct estimate {
	double value, low, high;
};

#endif
