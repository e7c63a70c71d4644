/*
 * What models say of samples, for pools. Of up to FEW classes all probabilities count. Where there are
 * more, a sample's outcomes are the TOP classes of every model that answers, and the rest as one: so
 * what is mixed does not grow with the classes. A label that no model had among its first counts as
 * the rest. Classes of the rest share its probability as the first model, the slow net, has them.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "learn/parts/mix_impl.h"
#include "learn/parts/tops.h"

enum { FEW = 64, TOP = 4, TURNS = 2 };

static const float LEAST = (float)MIX_LEAST;

int mix_said_init(struct mix_said *said, const struct mix *mix, int samples, struct err *err)
{
	const size_t classes = (size_t)mix->classes, models = (size_t)mix->count;
	const size_t rows = (size_t)samples, most = TOP * models + 1;
	const bool many = classes > FEW && classes > most;
	const size_t width = many ? most : classes, numbers = (TURNS * MIX_BLENDS + 1) * width;
	const size_t floats = (2 * models * width + classes + (many ? models * classes : 0)) * rows;

	*said = (struct mix_said){.samples = samples, .width = (int)width};
	if (!mix->config.pool)
		return 0;
	said->blends[0] = mem_new(1, numbers * sizeof(double) + floats * sizeof(float) +
					     rows * (width + 1) * sizeof(int32_t));
	if (!said->blends[0])
		return err_memory(err, "a mixture", floats * sizeof(float));
	said->blends[1] = said->blends[0] + MIX_BLENDS * width;
	said->answer = said->blends[1] + MIX_BLENDS * width;
	said->shares = (float *)(said->answer + width);
	said->logs = said->shares + models * rows * width;
	said->raised = said->logs + models * rows * width;
	said->whole = many ? said->raised + rows * classes : NULL;
	said->counts = (int *)(said->shares + floats);
	said->outcomes = (int32_t *)(said->counts + rows);
	return 0;
}

void mix_said_release(struct mix_said *said)
{
	mem_free(said->blends[0]);
}

static size_t place_of(const struct mix_said *said, int model, int sample)
{
	return (size_t)model * (size_t)said->samples + (size_t)sample;
}

const float *mix_said_row(const struct mix_said *said, const float *array, int model, int sample)
{
	return array + place_of(said, model, sample) * (size_t)said->width;
}

static const float *whole_row(
	const struct mix *mix, const struct mix_said *said, int model, int sample)
{
	return said->whole + place_of(said, model, sample) * (size_t)mix->classes;
}

int mix_said_outcomes(const struct mix *mix, const struct mix_said *said, int sample)
{
	return said->whole ? said->counts[sample] + 1 : mix->classes;
}

static const int32_t *outcomes_of(const struct mix_said *said, int sample)
{
	return said->outcomes + (size_t)sample * (size_t)said->width;
}

int mix_said_outcome(const struct mix *mix, const struct mix_said *said, int sample, int32_t label)
{
	const int32_t *outcomes = outcomes_of(said, sample);
	int at = 0;

	(void)mix;
	while (said->whole && at < said->counts[sample] && outcomes[at] != label)
		at++;
	return said->whole ? at : label;
}

static void begin(struct mix_said *said, int model, bool passes)
{
	said->passed[model] = passes;
	said->blended[0] = said->blended[1] = said->shortened = 0;
}

static void take(
	const struct mix *mix, struct mix_said *said, int model, const float *probabilities, int n)
{
	const size_t count = (size_t)n * (size_t)mix->classes;
	const size_t at = place_of(said, model, 0) * (size_t)mix->classes;

	begin(said, model, false);
	if (said->whole) {
		memcpy(said->whole + at, probabilities, count * sizeof(float));
		return;
	}
	for (size_t i = 0; i < count; i++)
		said->shares[at + i] = probabilities[i] > LEAST ? probabilities[i] : LEAST;
	memcpy(said->logs + at, said->shares + at, count * sizeof(float));
	mix_logs(said->logs + at, count);
}

/* All outcomes are alike to a model that does not answer. */
static void fill(struct mix_said *said, int model, int sample, int outcomes)
{
	const float share = fmaxf(1 / (float)outcomes, LEAST), log = logf(share);
	const size_t at = place_of(said, model, sample) * (size_t)said->width;

	for (int i = 0; i < outcomes; i++) {
		said->shares[at + (size_t)i] = share;
		said->logs[at + (size_t)i] = log;
	}
}

static void pass(const struct mix *mix, struct mix_said *said, int model, int n)
{
	begin(said, model, true);
	for (int i = 0; i < n && !said->whole; i++)
		fill(said, model, i, mix->classes);
}

void mix_say(
	const struct mix *mix, struct mix_said *said, int model, const float *probabilities, int n)
{
	take(mix, said, model, probabilities, n);
	if (model || !(mix->config.prior > 0))
		return;
	if (!mix_answers(mix, mix->count - 1)) {
		pass(mix, said, mix->count - 1, n);
		return;
	}
	memset(said->raised, 0, (size_t)n * (size_t)mix->classes * sizeof(*said->raised));
	mix_add(mix, 0, 1, probabilities, n, said->raised);
	take(mix, said, mix->count - 1, said->raised, n);
}

void mix_pool_pass(struct mix *mix, int model, int n)
{
	if (mix->pool)
		pass(mix, &mix->said, model, n);
}

static void choose_outcomes(const struct mix *mix, struct mix_said *said, int sample)
{
	int32_t *outcomes = said->outcomes + (size_t)sample * (size_t)said->width;
	int *count = said->counts + sample;

	*count = 0;
	for (int i = 0; i < mix->count; i++) {
		struct tops tops = {0};

		if (!said->passed[i])
			tops_find(&tops, TOP, whole_row(mix, said, i, sample), mix->classes);
		for (int k = 0; k < tops.count; k++) {
			const int known = mix_said_outcome(mix, said, sample, tops.classes[k]);

			outcomes[known] = tops.classes[k];
			*count += known == *count;
		}
	}
}

static void shorten(const struct mix *mix, struct mix_said *said, int sample)
{
	const int32_t *outcomes = outcomes_of(said, sample);
	const int count = said->counts[sample];

	for (int i = 0; i < mix->count; i++) {
		const float *whole = whole_row(mix, said, i, sample);
		const size_t at = place_of(said, i, sample) * (size_t)said->width;
		float rest = 1;

		if (said->passed[i]) {
			fill(said, i, sample, count + 1);
			continue;
		}
		for (int k = 0; k < count; k++) {
			const float share = whole[outcomes[k]];

			said->shares[at + (size_t)k] = share > LEAST ? share : LEAST;
			rest -= share > 0 ? share : 0;
		}
		said->shares[at + (size_t)count] = rest > LEAST ? rest : LEAST;
		memcpy(said->logs + at, said->shares + at, (size_t)(count + 1) * sizeof(float));
		mix_logs(said->logs + at, (size_t)count + 1);
	}
}

void mix_said_shorten(const struct mix *mix, struct mix_said *said, int n)
{
	for (; said->whole && said->shortened < n; said->shortened++) {
		choose_outcomes(mix, said, said->shortened);
		shorten(mix, said, said->shortened);
	}
}

/* No class of the rest comes near the first outcome. */
void mix_said_spread(const struct mix *mix, const struct mix_said *said, int sample,
	const double *shares, float *all)
{
	const int32_t *outcomes = outcomes_of(said, sample);
	const int count = said->whole ? said->counts[sample] : mix->classes;
	const float *slow;
	double most = 0, rest = 1;
	float by, cap;

	for (int c = 0; c < count && !said->whole; c++)
		all[c] = (float)shares[c];
	if (!said->whole)
		return;
	slow = whole_row(mix, said, 0, sample);
	for (int k = 0; k < count; k++) {
		most = shares[k] > most ? shares[k] : most;
		rest -= (double)slow[outcomes[k]];
	}
	by = (float)(shares[count] / (rest > MIX_LEAST ? rest : MIX_LEAST));
	cap = count ? (float)(most / 2) : 1;
	for (int c = 0; c < mix->classes; c++) {
		const float share = by * slow[c];

		all[c] = share < cap ? share : cap;
	}
	for (int k = 0; k < count; k++)
		all[outcomes[k]] = (float)shares[k];
}
