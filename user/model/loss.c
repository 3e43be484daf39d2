/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See loss.h. */
#include "model/loss.h"

struct loss_row {
	const char *name, *sentence;
	enum loss_kind kind;
	bool defect;
};

static const struct loss_row loss_rows[LOSS_COUNT] = {
#define X(symbol, name, kind, defect, sentence) \
	[LOSS_##symbol] = { #name, sentence, LOSS_KIND_##kind, defect },
	LOSS_LIST(X)
#undef X
};

const char *loss_name(enum loss loss)
{
	return loss_rows[loss].name;
}

const char *loss_sentence(enum loss loss)
{
	return loss_rows[loss].sentence;
}

enum loss_kind loss_kind(enum loss loss)
{
	return loss_rows[loss].kind;
}

bool loss_is_defect(enum loss loss)
{
	return loss_rows[loss].defect;
}
