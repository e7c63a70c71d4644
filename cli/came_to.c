/* One line per number. */
#include "came_to.h"

#include <math.h>

#include "log/run_log.h"

static void add_share(struct text *out, const char *name, double share, double plain)
{
	if (isnan(share))
		return;
	text_addf(out, "  %-26s%6.1f %%", name, 100 * share);
	if (!isnan(plain))
		text_addf(out, "   (plain model %.1f %%)", 100 * plain);
	text_add(out, "\n");
}

static void add_before_labels(struct text *out, const char *name, const struct metrics_row *last)
{
	add_share(out, name, last->le, NAN);
	add_share(out, "  of the last 1 000", last->recent, NAN);
	add_share(out, "  on albums of others", last->le_album, NAN);
	add_share(out, "  guess by last labels", last->blind, NAN);
}

static void add_alarms(struct text *out, double alarms)
{
	if (!isnan(alarms))
		text_addf(out, "  %-26s%7.0f%s\n", "drift alarms", alarms,
			alarms > 0 ? "   predictions became worse than they were" : "");
}

static void add_kept(struct text *out, double kept)
{
	char grouped[RUN_LOG_GROUPED];

	if (!isnan(kept))
		text_addf(out, "  %-26s%7s   sample%s, to train and validate on\n", "keeps",
			run_log_grouped(grouped, (int64_t)kept), kept == 1 ? "" : "s");
}

void came_to(struct text *out, const struct summary *summary)
{
	const struct metrics_row *last = &summary->last;
	const bool averaged = !isnan(last->gamma1);

	add_share(out, "retention (IR)", last->ir, averaged ? last->ir_sgd : NAN);
	add_share(out, "  mean of the last quarter", summary->late_ir,
		averaged ? summary->late_ir_sgd : NAN);
	add_before_labels(out, "adapts (LE)", last);
	add_share(out, "next (FT)", last->ft, averaged ? last->ft_sgd : NAN);
	add_share(out, "  mean of the last quarter", summary->late_ft,
		averaged ? summary->late_ft_sgd : NAN);
	add_alarms(out, last->alarms);
	add_kept(out, last->kept);
}

void came_to_live(struct text *out, const struct summary *summary)
{
	const struct metrics_row *last = &summary->last;
	const bool averaged = !isnan(last->val_acc_ma);

	add_before_labels(out, "right before the label", last);
	add_share(out, "right on held-out samples", averaged ? last->val_acc_ma : last->val_acc_sgd,
		averaged ? last->val_acc_sgd : NAN);
	add_alarms(out, last->alarms);
}
