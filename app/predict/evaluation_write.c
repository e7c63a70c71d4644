/* An evaluation as text, as JSON, and its confusion matrix as CSV. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/json_write.h"
#include "base/mem.h"
#include "predict/evaluation.h"
#include "target/target.h"

enum { PAIRS = 10 };

static const char *name_of(const struct evaluation *e, int32_t class)
{
	return name_list_at(&e->names, (size_t) class);
}

static void add_ranges(struct evaluation *e, int ranges, struct text *out)
{
	text_addf(out, "\n%-32s  samples  accuracy      loss\n",
		e->timed ? "time" : "rows (there are no times)");
	for (int i = 0; i < ranges; i++) {
		struct evaluation_range range;

		evaluation_range(e, i, ranges, &range);
		text_addf(out, "%14" PRId64 " to %14" PRId64 "  %7" PRId64, range.from, range.to,
			range.sum.count);
		if (range.sum.count)
			text_addf(
				out, "  %6.2f %%  %8.3f", 100 * range.sum.accuracy, range.sum.loss);
		text_add(out, "\n");
	}
}

/* The worst classes come first; those that never came are left out. */
static int worst_classes(const struct evaluation *e, int32_t *order)
{
	int count = 0;

	for (int32_t c = 0; c < e->classes; c++) {
		const struct confusion_class at = confusion_class(e->confusion, c);
		int place = count;

		if (!at.seen)
			continue;
		for (; place; place--) {
			const struct confusion_class before =
				confusion_class(e->confusion, order[place - 1]);

			if (before.right * at.seen <= at.right * before.seen)
				break;
			order[place] = order[place - 1];
		}
		order[place] = c;
		count++;
	}
	return count;
}

static void add_classes(const struct evaluation *e, int worst, struct text *out)
{
	int32_t *order = mem_new((size_t)e->classes, sizeof(*order));
	const int count = order ? worst_classes(e, order) : 0;
	struct confusion_pair pairs[PAIRS];
	int pair_count;

	text_addf(out, "\n%-32s  samples  recognised      said\n", "class, the worst first");
	for (int i = 0; i < count && i < worst; i++) {
		const struct confusion_class at = confusion_class(e->confusion, order[i]);

		text_addf(out, "%-32.32s  %7" PRId64 "    %6.2f %%  %8" PRId64 "\n",
			name_of(e, order[i]), at.seen, 100.0 * (double)at.right / (double)at.seen,
			at.said);
	}
	if (count > worst)
		text_addf(out, "... and %d more; --json has all\n", count - worst);
	mem_free(order);
	text_add(out, "\n");
	pair_count = confusion_largest(e->confusion, pairs, PAIRS);
	for (int i = 0; i < pair_count; i++)
		text_addf(out, "%s was taken for %s %" PRId64 " time%s\n",
			name_of(e, pairs[i].label), name_of(e, pairs[i].predicted), pairs[i].times,
			pairs[i].times == 1 ? "" : "s");
}

static void add_bins(const struct evaluation *e, struct text *out)
{
	struct evaluation_bin bins[EVALUATION_BINS];

	evaluation_bins(e, bins);
	text_addf(out,
		"\nconfidence         samples  mean conf.  accuracy   (calibration error %.2f)\n",
		100 * evaluation_calibration(bins));
	for (int i = 0; i < EVALUATION_BINS; i++)
		if (bins[i].count)
			text_addf(out, "%5.1f to %5.1f %%  %8" PRId64 "    %6.2f %%  %6.2f %%\n",
				100.0 * i / EVALUATION_BINS, 100.0 * (i + 1) / EVALUATION_BINS,
				bins[i].count, 100 * bins[i].confidence, 100 * bins[i].accuracy);
}

static struct uneven_scores uneven_of(const struct evaluation *e)
{
	return e->confusion ? uneven_scores(e->uneven, e->confusion, e->alerts) : uneven_none;
}

/* One line, where classes are uneven. */
static void add_uneven(const struct uneven_scores *scores, struct text *out)
{
	if (isnan(scores->balanced))
		return;
	text_addf(out, "classes are uneven: balanced accuracy %.2f %%, F1 %.2f %%",
		100 * scores->balanced, 100 * scores->f1);
	if (!isnan(scores->f1_rare))
		text_addf(out, " (of the rarer class %.2f %%)", 100 * scores->f1_rare);
	if (!isnan(scores->auc))
		text_addf(out, ", AUC %.4f, recall %.2f %% if %.3g %% raise an alert", scores->auc,
			100 * scores->alert_recall, 100 * scores->alert_share);
	text_add(out, "\n");
}

void evaluation_text(struct evaluation *e, int ranges, int worst, struct text *out)
{
	const struct evaluation_sum all = evaluation_sum(e, 0, e->count);
	const struct uneven_scores uneven = uneven_of(e);

	for (int k = 0; k < e->width; k++) {
		if (e->width > 1)
			text_addf(out, "%s%s\n", k ? "\n" : "", name_of(e, k));
		evaluation_numbers_text(&e->numbers[k], ranges, out);
	}
	if (e->width)
		return;
	text_addf(out, "%" PRId64 " sample%s with labels: %.2f %% right, ", all.count,
		all.count == 1 ? "" : "s", 100 * all.accuracy);
	if (e->classes > 5)
		text_addf(out, "%.2f %% among five, ", 100 * all.five);
	text_addf(out, "loss %.4f\n", all.loss);
	add_uneven(&uneven, out);
	if (!e->count)
		return;
	add_ranges(e, ranges, out);
	add_classes(e, worst, out);
	add_bins(e, out);
}

static void write_sum(struct jwriter *json, const struct evaluation_sum *sum)
{
	jwriter_whole(json, "samples", sum->count);
	jwriter_number(json, "accuracy", sum->count ? sum->accuracy : NAN);
	jwriter_number(json, "top5", sum->count ? sum->five : NAN);
	jwriter_number(json, "loss", sum->count ? sum->loss : NAN);
}

static void write_uneven(struct jwriter *json, const struct uneven_scores *scores)
{
	jwriter_number(json, "balanced", scores->balanced);
	jwriter_number(json, "f1", scores->f1);
	jwriter_number(json, "f1_rare", scores->f1_rare);
	jwriter_number(json, "auc", scores->auc);
	jwriter_number(json, "alert_recall", scores->alert_recall);
	jwriter_number(json, "alert_share", scores->alert_share);
}

static void write_classes(const struct evaluation *e, struct jwriter *json)
{
	jwriter_list(json, "classes");
	for (int32_t c = 0; c < e->classes; c++) {
		const struct confusion_class at = confusion_class(e->confusion, c);

		jwriter_table(json, NULL);
		jwriter_text(json, "class", name_of(e, c));
		jwriter_whole(json, "samples", at.seen);
		jwriter_whole(json, "recognised", at.right);
		jwriter_whole(json, "said", at.said);
		jwriter_end(json);
	}
	jwriter_end(json);
}

/* Of one number all that is said of it; several are a list. */
static void write_numbers(struct evaluation *e, int ranges, struct jwriter *json)
{
	jwriter_table(json, NULL);
	jwriter_text(json, "target", target_number.name);
	if (e->width == 1)
		evaluation_numbers_json(e->numbers, ranges, json);
	else
		jwriter_list(json, "numbers");
	for (int k = 0; k < e->width && e->width > 1; k++) {
		jwriter_table(json, NULL);
		jwriter_text(json, "name", name_of(e, k));
		evaluation_numbers_json(&e->numbers[k], ranges, json);
		jwriter_end(json);
	}
	if (e->width > 1)
		jwriter_end(json);
	jwriter_end(json);
}

void evaluation_json(struct evaluation *e, int ranges, struct text *out)
{
	const struct evaluation_sum all = evaluation_sum(e, 0, e->count);
	const struct uneven_scores uneven = uneven_of(e);
	struct evaluation_bin bins[EVALUATION_BINS];
	struct jwriter json = {.out = out};

	if (e->width) {
		write_numbers(e, ranges, &json);
		text_add(out, "\n");
		return;
	}
	evaluation_bins(e, bins);
	jwriter_table(&json, NULL);
	write_sum(&json, &all);
	if (!isnan(uneven.balanced))
		write_uneven(&json, &uneven);
	jwriter_number(&json, "calibration_error", evaluation_calibration(bins));
	jwriter_list(&json, "ranges");
	for (int i = 0; i < ranges && e->count; i++) {
		struct evaluation_range range;

		evaluation_range(e, i, ranges, &range);
		jwriter_table(&json, NULL);
		jwriter_whole(&json, "from", range.from);
		jwriter_whole(&json, "to", range.to);
		write_sum(&json, &range.sum);
		jwriter_end(&json);
	}
	jwriter_end(&json);
	if (e->confusion)
		write_classes(e, &json);
	jwriter_list(&json, "confidence");
	for (int i = 0; i < EVALUATION_BINS; i++) {
		jwriter_table(&json, NULL);
		jwriter_whole(&json, "samples", bins[i].count);
		jwriter_number(&json, "confidence", bins[i].confidence);
		jwriter_number(&json, "accuracy", bins[i].accuracy);
		jwriter_end(&json);
	}
	jwriter_end(&json);
	jwriter_end(&json);
	text_add(out, "\n");
}

int evaluation_confusion(const struct evaluation *e, struct text *out, struct err *err)
{
	const size_t classes = (size_t)e->classes;
	int64_t *counts;

	if (e->width)
		return err_set(
			err, ERR_INPUT, "--confusion: is for classes, and labels are numbers");
	counts = mem_new(classes * classes + 1, sizeof(*counts));
	if (!counts)
		return err_memory(err, "a confusion matrix", classes * classes * sizeof(*counts));
	for (int64_t i = 0; i < e->count; i++)
		counts[(size_t)e->samples[i].class * classes + (size_t)e->samples[i].predicted]++;
	text_add(out, "label");
	for (int32_t c = 0; c < e->classes; c++) {
		text_add(out, ",");
		text_add_field(out, name_of(e, c));
	}
	for (size_t row = 0; row < classes; row++) {
		text_add(out, "\n");
		text_add_field(out, name_of(e, (int32_t)row));
		for (size_t c = 0; c < classes; c++)
			text_addf(out, ",%" PRId64, counts[row * classes + c]);
	}
	text_add(out, "\n");
	mem_free(counts);
	return 0;
}
