/* One line per number. */
#include "came_to.h"

#include <inttypes.h>
#include <math.h>

#include "eval/uneven.h"

/*
 * What a share rests on, which is said if it is few, and what it is, if that is said. Of a handful
 * of samples there is no share.
 */
struct rest {
	int64_t samples;  /* 0: not known */
	const char *most; /* of a mean: what stands before the largest number of samples */
	const char *means;
};

static void add_share(
	struct text *out, const char *name, double share, double plain, const struct rest *rest)
{
	const bool meant = rest && rest->means && isnan(plain);

	if (isnan(share) || (rest && rest->samples > 0 && rest->samples < SUMMARY_LEAST))
		return;
	text_addf(out, "  %-26s%6.1f %%", name, 100 * share);
	if (!isnan(plain))
		text_addf(out, "   (plain model %.1f %%)", 100 * plain);
	else if (meant)
		text_addf(out, "   %s", rest->means);
	if (rest && rest->samples > 0 && rest->samples < RUN_LOG_FEW)
		text_addf(out, "%s%s%" PRId64 " samples%s", meant ? ", " : "   (of ",
			rest->most ? rest->most : "", rest->samples, meant ? "" : ")");
	text_add(out, "\n");
}

static struct rest few(int64_t samples)
{
	return (struct rest){.samples = samples};
}

static struct rest at_most(int64_t samples)
{
	return (struct rest){.samples = samples, .most = "up to "};
}

/* Where there are no more than the last 1 000, the line above says it. */
static void add_recent(struct text *out, double share, const struct run_rests *rests)
{
	if (!rests->le || rests->le > RUN_LOG_RECENT)
		add_share(out, "  of the last 1 000", share, NAN, NULL);
}

/* How far off predictions were, beside what needs no learning. */
static void add_errors(struct text *out, const struct metrics_row *last)
{
	char words[4][RUN_LOG_GROUPED];

	if (isnan(last->mae))
		return;
	text_addf(out, "  %-26s%8s   (last value %s, mean %s)\n  %-26s%8s\n", "error (MAE)",
		run_log_quantity(words[0], last->mae), run_log_quantity(words[1], last->mae_last),
		run_log_quantity(words[2], last->mae_mean), "root mean square (RMSE)",
		run_log_quantity(words[3], last->rmse));
}

/* Where classes are uneven: what accuracy hides. */
static void add_uneven(
	struct text *out, const struct metrics_row *last, const struct run_rests *rests)
{
	const bool latest = !rests->le || rests->le > UNEVEN_WINDOW;

	add_share(out, "balanced accuracy", last->balanced, NAN, NULL);
	add_share(out, "F1, mean of classes", last->f1, NAN, NULL);
	add_share(out, "  of the rarer class", last->f1_rare, NAN, NULL);
	if (!isnan(last->auc))
		text_addf(out,
			"  %-26s%7.3f%s\n"
			"  %-26s%6.1f %%   of the rarer class, if %.3g %% are alarms\n",
			"AUC", last->auc, latest ? "   latest 10 000, as the next line" : "",
			"recall at a budget", 100 * last->alert_recall, 100 * last->alert_share);
}

/* A measure that a kind of target does not have is NAN. */
static void add_before_labels(
	struct text *out, const struct metrics_row *last, const struct run_rests *rests)
{
	const bool shares = isnan(last->mae);
	const struct rest all = few(rests->le);
	const struct rest means = {.samples = rests->le, .means = "before each label came (LE)"};
	const double kappa = summary_kappa(last->le, last->same);
	char width[RUN_LOG_GROUPED];

	add_errors(out, last);
	add_share(out, shares ? "accuracy" : "variance explained (R2)", last->le, NAN,
		shares ? &means : &all);
	add_recent(out, last->recent, rests);
	add_share(out, "  on albums of others", last->le_album, NAN, NULL);
	add_share(out, shares ? "  guess by last labels" : "  by the last value", last->blind, NAN,
		&all);
	add_share(out, "  same as the last", last->same, NAN, &all);
	add_share(out, "  most frequent", last->most, NAN, &all);
	add_share(out, "  by the order of labels", last->chain, NAN, &all);
	if (!isnan(kappa))
		text_addf(out, "  %-26s%7.2f   0: no better than the last label\n",
			"  kappa temporal", kappa);
	add_uneven(out, last, rests);
	if (!isnan(last->inside))
		text_addf(out, "  %-26s%6.1f %%   of values; it is %s wide on average\n",
			"within the band", 100 * last->inside,
			run_log_quantity(width, last->width));
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

void came_to(struct text *out, const struct summary *summary, const struct run_rests *rests)
{
	const struct metrics_row *last = &summary->last;
	const bool averaged = !isnan(last->gamma1);
	const struct rest ir = {.samples = rests->ir, .means = "on held-out data of the past"};
	const struct rest ft = {.samples = rests->ft, .means = "on data still to come"};
	const struct rest late_ir = at_most(rests->late_ir), late_ft = at_most(rests->late_ft);

	add_before_labels(out, last, rests);
	add_share(out, "retention (IR)", last->ir, averaged ? last->ir_sgd : NAN, &ir);
	add_share(out, "  mean of the last quarter", summary->late_ir,
		averaged ? summary->late_ir_sgd : NAN, &late_ir);
	add_share(out, "next (FT)", last->ft, averaged ? last->ft_sgd : NAN, &ft);
	add_share(out, "  mean of the last quarter", summary->late_ft,
		averaged ? summary->late_ft_sgd : NAN, &late_ft);
	add_alarms(out, last->alarms);
	add_kept(out, last->kept);
}

void came_to_live(struct text *out, const struct summary *summary, const struct run_rests *rests)
{
	const struct metrics_row *last = &summary->last;
	const struct rest held_out = few(rests->held_out);

	add_before_labels(out, last, rests);
	add_share(out, isnan(last->mae) ? "right on held-out samples" : "explained, held out",
		run_log_held_out(last), isnan(last->val_acc_ma) ? NAN : last->val_acc_sgd,
		&held_out);
	add_alarms(out, last->alarms);
}
