/* Samples are stored individually, 24 bytes each, since queries come later. */
#include "predict/evaluation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "predict/predict_impl.h"
#include "target/target.h"

static int begin(struct evaluation *e, const struct predict_model *model, struct err *err)
{
	int code = confusion_new(&e->confusion, model->shape.classes, err);

	if (!code)
		code = uneven_new(&e->uneven, 0, err);
	e->classes = model->shape.classes;
	for (int c = 0; c < e->classes && !code; c++) {
		const char *name = name_list_at(&model->known.names, (size_t)c);

		code = name_list_add(&e->names, name, strlen(name), err);
	}
	return code;
}

static int make_room(struct evaluation *e, struct err *err)
{
	const int64_t room = e->room ? 2 * e->room : 1024;
	struct evaluation_sample *more =
		e->count < e->room ? e->samples
				   : mem_resize(e->samples, (size_t)room, sizeof(*more));

	if (!more)
		return err_memory(err, "an evaluation", (size_t)room * sizeof(*more));
	if (e->count == e->room)
		e->room = room;
	e->samples = more;
	return 0;
}

static int rank_of(const float *probabilities, int classes, int32_t class)
{
	int rank = 1;

	for (int c = 0; c < classes; c++)
		rank += probabilities[c] > probabilities[class] ||
			(probabilities[c] == probabilities[class] && c < class);
	return rank;
}

static int begin_numbers(struct evaluation *e, const struct predict_model *model, struct err *err)
{
	char name[NUMBER_NAME];
	int code = 0;

	e->numbers = mem_new((size_t)model->width, sizeof(*e->numbers));
	if (!e->numbers)
		return err_memory(err, "an evaluation", (size_t)model->width * sizeof(*e->numbers));
	e->width = model->width;
	for (int k = 0; k < e->width && !code; k++) {
		number_said(model->numbers, k, name);
		code = name_list_add(&e->names, name, strlen(name), err);
	}
	return code;
}

/* A label counts as a whole. */
static void add_numbers(struct evaluation *e, const struct predict_told *told)
{
	if (isnan(told->label->number) || e->err.code ||
		(!e->width && begin_numbers(e, told->model, &e->err)))
		return;
	for (int k = 0; k < e->width && !e->err.code; k++) {
		const float *answer = told->probabilities + (ptrdiff_t)k * NUMBER_OUTPUTS;
		const struct evaluated_number sample = {.time = told->time ? told->time : told->row,
			.label = told->label[k].number,
			.value = answer[NUMBER_VALUE],
			.low = answer[NUMBER_LOW],
			.high = answer[NUMBER_HIGH]};

		e->numbers[k].timed |= told->time != 0;
		evaluation_numbers_add(&e->numbers[k], &sample, &e->err);
	}
}

void evaluation_add(void *evaluation, const struct predict_told *told)
{
	struct evaluation *e = evaluation;
	const int32_t class = told->label->class;

	if (told->model->shape.numbers) {
		add_numbers(e, told);
		return;
	}
	if (class < 0 || e->err.code)
		return;
	if ((!e->confusion && begin(e, told->model, &e->err)) || make_room(e, &e->err))
		return;
	e->timed |= told->time != 0;
	e->samples[e->count++] =
		(struct evaluation_sample){.time = told->time ? told->time : told->row,
			.class = class,
			.predicted = told->predicted,
			.confidence = told->probabilities[told->predicted],
			.likelihood = told->probabilities[class],
			.five = rank_of(told->probabilities, e->classes, class) <= 5};
	confusion_add(e->confusion, class, told->predicted);
	if (e->classes == 2)
		uneven_add(e->uneven, logf(told->probabilities[1]) - logf(told->probabilities[0]),
			class == 1);
}

void evaluation_release(struct evaluation *e)
{
	mem_free(e->samples);
	for (int k = 0; k < e->width; k++)
		evaluation_numbers_release(&e->numbers[k]);
	mem_free(e->numbers);
	name_list_release(&e->names);
	confusion_free(e->confusion);
	uneven_free(e->uneven);
	*e = (struct evaluation){0};
}

struct evaluation_sum evaluation_sum(const struct evaluation *e, int64_t first, int64_t end)
{
	struct evaluation_sum sum = {.count = end - first};

	for (int64_t i = first; i < end; i++) {
		const struct evaluation_sample *sample = &e->samples[i];

		sum.accuracy += sample->predicted == sample->class;
		sum.five += sample->five;
		sum.loss -= log(fmax((double)sample->likelihood, 1e-30));
	}
	sum.accuracy /= (double)sum.count;
	sum.five /= (double)sum.count;
	sum.loss /= (double)sum.count;
	return sum;
}

static int by_time(const void *a, const void *b)
{
	const struct evaluation_sample *x = a, *y = b;

	return (x->time > y->time) - (x->time < y->time);
}

int evaluation_range(struct evaluation *e, int range, int ranges, struct evaluation_range *out)
{
	int64_t first = 0, end;
	double begins, length;

	*out = (struct evaluation_range){0};
	if (!e->count)
		return ERR_INPUT;
	for (int64_t i = 1; i < e->count; i++)
		if (e->samples[i].time < e->samples[i - 1].time) {
			qsort(e->samples, (size_t)e->count, sizeof(*e->samples), by_time);
			break;
		}
	begins = (double)e->samples[0].time;
	length = ((double)e->samples[e->count - 1].time - begins + 1) / ranges;
	while (first < e->count && (double)e->samples[first].time < begins + range * length)
		first++;
	for (end = first; end < e->count &&
			  (range == ranges - 1 ||
				  (double)e->samples[end].time < begins + (range + 1) * length);)
		end++;
	out->from = (int64_t)ceil(begins + range * length);
	out->to = (int64_t)ceil(begins + (range + 1) * length) - 1;
	out->sum = evaluation_sum(e, first, end);
	return 0;
}

void evaluation_bins(const struct evaluation *e, struct evaluation_bin bins[EVALUATION_BINS])
{
	memset(bins, 0, EVALUATION_BINS * sizeof(*bins));
	for (int64_t i = 0; i < e->count; i++) {
		const struct evaluation_sample *sample = &e->samples[i];
		int bin = (int)ceil((double)sample->confidence * EVALUATION_BINS) - 1;

		bin = bin < 0 ? 0 : bin < EVALUATION_BINS ? bin : EVALUATION_BINS - 1;
		bins[bin].count++;
		bins[bin].confidence += (double)sample->confidence;
		bins[bin].accuracy += sample->predicted == sample->class;
	}
	for (int bin = 0; bin < EVALUATION_BINS; bin++) {
		bins[bin].confidence /= (double)bins[bin].count;
		bins[bin].accuracy /= (double)bins[bin].count;
	}
}

double evaluation_calibration(const struct evaluation_bin bins[EVALUATION_BINS])
{
	double sum = 0, all = 0;

	for (int bin = 0; bin < EVALUATION_BINS; bin++)
		if (bins[bin].count) {
			sum += (double)bins[bin].count *
			       fabs(bins[bin].confidence - bins[bin].accuracy);
			all += (double)bins[bin].count;
		}
	return all > 0 ? sum / all : NAN;
}
