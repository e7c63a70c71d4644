/*
 * What single values say: counts of the classes that came with each value of each input, as naive
 * Bayes has them. For codes and names, whose order and nearness mean nothing, and of which there
 * are too many for inputs of their own.
 *
 * A value is an input as it came, unscaled, by its bits: a number, the 1 of a category or word,
 * the code of a rarer category (schema/schema.h), NAN for a missing one. 0 is no value. With n(v, c)
 * rows of class c with value v, of which the newest PACE or so count, and the share b(c) of a class,
 *
 *	P(c) = b(c) exp(sum_v w(j) log(1 + n(v, c) / (SMOOTH b(c)))) / ...
 *
 * where w(j), the weight of the value's input j, follows the gradient of the loss (AdaGrad). An input
 * whose values hardly come again, as those of measurements, is dropped after TRIAL of them.
 *
 * Values are kept in a table of fixed size, in sets of WAYS; a new one takes the place of the rarest,
 * whose count is halved first. Each counts up to KEPT classes, the rarest gives way. So neither
 * memory nor cost grow with the numbers of values and classes, but for the shares.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "learn/parts/part.h"
#include "learn/parts/shares.h"

enum {
	SETS = 2048,
	WAYS = 4,
	ENTRIES = SETS * WAYS,
	KEPT = 6,       /* classes of a value */
	MOST = 128,     /* values of a row that count */
	TRIAL = 1000,   /* values of an input */
	FREQUENT = 500, /* rows that class shares are of */
};

static const float SMOOTH = 4, PACE = 256, FIRST_WEIGHT = 0.5F, RATE = 0.05F, HEAVIEST = 4;
static const float AGAIN = 0.1F; /* the least share of values that came before */
static const float LEAST_SHARE = 1e-4F;

struct entry {
	uint32_t tag; /* of its value; 0: none */
	float rows;
	int32_t classes[KEPT]; /* -1: none */
	float counts[KEPT];
};

/* A value of the row in hand. */
struct value {
	size_t input;
	uint64_t hash;
	const struct entry *entry; /* NULL: it has none */
	float logs[KEPT];          /* of its classes */
};

struct values {
	struct part part;
	int classes;
	size_t floats;
	int64_t seen;
	struct entry *table;    /* [ENTRIES] */
	float *weights, *grads; /* [input]: w, and the sum of squared gradients */
	float *again, *came; /* [input]: how often values came again, lately; values, up to TRIAL */
	double *shares;      /* [class] */
	float *scores;       /* [class]; of the row that is learned */
};

static struct values *mine(struct part *part)
{
	return (struct values *)part;
}

static void end(struct part *part)
{
	struct values *values = mine(part);

	mem_free(values->table);
	mem_free(values->weights);
	mem_free(values->grads);
	mem_free(values->again);
	mem_free(values->came);
	mem_free(values->shares);
	mem_free(values->scores);
	mem_free(values);
}

static void clear(struct entry *entry)
{
	*entry = (struct entry){0};
	for (int k = 0; k < KEPT; k++)
		entry->classes[k] = -1;
}

static int make(struct part **part, const struct part_view *view, struct err *err)
{
	struct values *made = mem_new(1, sizeof(*made));
	const size_t classes = (size_t)net_spec(view->net)->classes, floats = view->floats;

	if (!made)
		return err_memory(err, "counts of values", sizeof(*made));
	made->classes = (int)classes;
	made->floats = floats;
	made->part.raw = true;
	made->table = mem_new(ENTRIES, sizeof(*made->table));
	made->weights = mem_new(floats, sizeof(float));
	made->grads = mem_new(floats, sizeof(float));
	made->again = mem_new(floats, sizeof(float));
	made->came = mem_new(floats, sizeof(float));
	made->shares = mem_new(classes, sizeof(double));
	made->scores = mem_new(classes, sizeof(float));
	if (!made->table || !made->weights || !made->grads || !made->again || !made->came ||
		!made->shares || !made->scores) {
		end(&made->part);
		return err_memory(err, "counts of values", ENTRIES * sizeof(*made->table));
	}
	for (size_t i = 0; i < ENTRIES; i++)
		clear(&made->table[i]);
	for (size_t j = 0; j < floats; j++)
		made->weights[j] = FIRST_WEIGHT;
	shares_begin(made->shares, made->classes);
	*part = &made->part;
	return 0;
}

static uint64_t hash_of(size_t input, float value)
{
	uint32_t bits;
	uint64_t hash;

	value = isnan(value) ? NAN : value;
	memcpy(&bits, &value, sizeof(bits));
	hash = ((uint64_t)input << 32 | bits) * UINT64_C(0x9e3779b97f4a7c15);
	hash = (hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
	return hash ^ hash >> 32;
}

static uint32_t tag_of(uint64_t hash)
{
	return (uint32_t)(hash >> 32) | 1;
}

static struct entry *set_of(const struct values *values, uint64_t hash)
{
	return values->table + hash % SETS * WAYS;
}

static struct entry *find(const struct values *values, uint64_t hash)
{
	struct entry *set = set_of(values, hash);

	for (int i = 0; i < WAYS; i++)
		if (set[i].tag == tag_of(hash))
			return set + i;
	return NULL;
}

/* The entry of a value, perhaps a new one in place of the rarest. NULL: that one stays, for now. */
static struct entry *take(const struct values *values, uint64_t hash)
{
	struct entry *set = set_of(values, hash), *rarest = set, *found = find(values, hash);

	if (found)
		return found;
	for (int i = 1; i < WAYS; i++)
		if (set[i].rows < rarest->rows)
			rarest = set + i;
	if (rarest->rows >= 1) {
		rarest->rows /= 2;
		for (int k = 0; k < KEPT; k++)
			rarest->counts[k] /= 2;
		if (rarest->rows >= 1)
			return NULL;
	}
	clear(rarest);
	rarest->tag = tag_of(hash);
	return rarest;
}

/* Whether an input has values that come again. */
static bool lasts(const struct values *values, size_t input)
{
	return values->came[input] < TRIAL || values->again[input] >= AGAIN;
}

static float share_of(const struct values *values, int class)
{
	const float share = (float)values->shares[class];

	return share > LEAST_SHARE ? share : LEAST_SHARE;
}

/* The values of a row, and what they say of classes; none of a row that is not known. */
static int look(const struct values *values, const float *raw, struct value row[MOST])
{
	int count = 0;

	row[0] = (struct value){0};
	for (size_t j = 0; raw && j < values->floats && count < MOST; j++) {
		struct value *value = row + count;

		if (raw[j] == 0 || !lasts(values, j))
			continue;
		value->input = j;
		value->hash = hash_of(j, raw[j]);
		value->entry = find(values, value->hash);
		for (int k = 0; k < KEPT && value->entry; k++)
			value->logs[k] =
				value->entry->classes[k] < 0
					? 0
					: log1pf(value->entry->counts[k] /
						  (SMOOTH * share_of(values,
								    value->entry->classes[k])));
		count++;
	}
	return count;
}

static void weigh(const struct values *values, const struct value *row, int count, float *shares)
{
	float most = 0, sum = 0, rest;

	memset(shares, 0, (size_t)values->classes * sizeof(*shares));
	for (int i = 0; i < count; i++)
		for (int k = 0; k < KEPT && row[i].entry; k++)
			if (row[i].entry->classes[k] >= 0)
				shares[row[i].entry->classes[k]] +=
					values->weights[row[i].input] * row[i].logs[k];
	for (int c = 0; c < values->classes; c++)
		most = shares[c] > most ? shares[c] : most;
	/* Of most classes no value says anything. */
	rest = expf(-most);
	for (int c = 0; c < values->classes; c++)
		sum += shares[c] =
			share_of(values, c) * (shares[c] == 0 ? rest : expf(shares[c] - most));
	for (int c = 0; c < values->classes; c++)
		shares[c] /= sum;
}

static void ask_row(const struct values *values, const float *raw, float *probabilities)
{
	struct value row[MOST];

	weigh(values, row, look(values, raw, row), probabilities);
}

static int answer(struct part *part, int model, const struct part_samples *samples,
	float *probabilities, struct err *err)
{
	const struct values *values = mine(part);

	(void)model;
	(void)err;
	for (int i = 0; i < samples->n; i++)
		ask_row(values, samples->raw ? samples->raw + (size_t)i * values->floats : NULL,
			probabilities + (size_t)i * (size_t)values->classes);
	return 0;
}

/* The gradient of the loss by a value's weight. */
static void correct(struct values *values, const struct value *value, int32_t label)
{
	float *weight = values->weights + value->input, *grads = values->grads + value->input;
	float grad = 0;

	if (!value->entry)
		return;
	for (int k = 0; k < KEPT; k++)
		if (value->entry->classes[k] >= 0)
			grad += value->logs[k] * ((value->entry->classes[k] == label) -
							 values->scores[value->entry->classes[k]]);
	*grads += grad * grad;
	if (*grads > 0)
		*weight = fminf(fmaxf(*weight + RATE * grad / sqrtf(*grads), 0), HEAVIEST);
}

static void count(struct entry *entry, int32_t label)
{
	int at = 0;

	entry->rows += 1 - entry->rows / PACE;
	for (int k = 0; k < KEPT; k++)
		entry->counts[k] -= entry->counts[k] / PACE;
	while (at < KEPT && entry->classes[at] != label)
		at++;
	if (at == KEPT) {
		at = 0;
		for (int k = 1; k < KEPT; k++)
			if (entry->counts[k] < entry->counts[at])
				at = k;
		entry->classes[at] = label;
		entry->counts[at] = 0;
	}
	entry->counts[at]++;
}

static void learn_row(struct values *values, const float *raw, int32_t label)
{
	struct value row[MOST];
	const int present = look(values, raw, row);

	weigh(values, row, present, values->scores);
	for (int i = 0; i < present; i++)
		correct(values, row + i, label);
	for (int i = 0; i < present; i++) {
		struct entry *entry = take(values, row[i].hash);
		float *came = values->came + row[i].input, *again = values->again + row[i].input;

		*came = fminf(*came + 1, TRIAL);
		*again += ((row[i].entry != NULL) - *again) / fminf(*came, TRIAL / 4);
		if (entry)
			count(entry, label);
	}
	shares_follow(values->shares, values->classes, label, values->seen++, FREQUENT);
}

static int learn(struct part *part, struct part_lesson *lesson, struct err *err)
{
	struct values *values = mine(part);
	const struct part_samples *samples = &lesson->samples;

	(void)err;
	for (int i = 0; i < samples->n; i++)
		learn_row(values, samples->raw ? samples->raw + (size_t)i * values->floats : NULL,
			samples->labels[i].class);
	return 0;
}

static double macs(const struct part *part)
{
	return 2.0 * KEPT * fmin((double)((const struct values *)part)->floats, MOST);
}

/* What answers need, behind the struct: shares, the table, weights and which inputs last. */
static size_t copied(const struct part *part)
{
	const struct values *values = (const struct values *)part;

	return sizeof(*values) + (size_t)values->classes * sizeof(double) +
	       ENTRIES * sizeof(struct entry) + 3 * values->floats * sizeof(float);
}

static double bytes(const struct part *part)
{
	return (double)copied(part);
}

static void copy(const struct part *part, void *to)
{
	const struct values *values = (const struct values *)part;
	const size_t size = values->floats * sizeof(float);
	struct values *made = to;

	*made = *values;
	made->shares = (double *)(made + 1);
	made->table = (struct entry *)(made->shares + values->classes);
	made->weights = (float *)(made->table + ENTRIES);
	made->again = made->weights + values->floats;
	made->came = made->again + values->floats;
	memcpy(made->shares, values->shares, (size_t)values->classes * sizeof(double));
	memcpy(made->table, values->table, ENTRIES * sizeof(struct entry));
	memcpy(made->weights, values->weights, size);
	memcpy(made->again, values->again, size);
	memcpy(made->came, values->came, size);
}

static void answer_copy(const void *copy_of, int model, const struct part_questions *questions,
	float *probabilities)
{
	const struct values *values = copy_of;

	(void)model;
	for (int i = 0; i < questions->n; i++)
		ask_row(values, questions->raw + (size_t)i * values->floats,
			probabilities + (size_t)i * (size_t)values->classes);
}

static bool entry_is_sound(const struct values *values, const struct entry *entry)
{
	bool sound = entry->rows >= 0 && entry->rows <= PACE;

	for (int k = 0; k < KEPT; k++)
		sound = sound && entry->classes[k] >= -1 && entry->classes[k] < values->classes &&
			entry->counts[k] >= 0 && entry->counts[k] <= PACE;
	return sound;
}

static void state(struct part *part, struct state *state)
{
	struct values *values = mine(part);
	const struct state_inputs by = {1, values->floats, 1, 0, STATE_BY_ROWS};
	bool right = true;

	state_enter(state, "values");
	state_int64(state, "seen", &values->seen);
	state_class_doubles(state, "shares", values->shares, (size_t)values->classes, 1);
	state_input_floats(state, "weights", values->weights, by);
	state_input_floats(state, "grads", values->grads, by);
	state_input_floats(state, "again", values->again, by);
	state_input_floats(state, "came", values->came, by);
	state_int32s(state, "table", (int32_t *)values->table,
		ENTRIES * sizeof(struct entry) / sizeof(int32_t));
	state_leave(state);
	if (!state_reading(state) || state_failed(state))
		return;
	for (size_t i = 0; i < ENTRIES; i++)
		right = right && entry_is_sound(values, values->table + i);
	for (size_t j = 0; j < values->floats; j++)
		right = right && isfinite(values->weights[j]) && values->grads[j] >= 0 &&
			isfinite(values->grads[j]) && isfinite(values->again[j]) &&
			values->came[j] >= 0;
	if (right && values->seen >= 0)
		return;
	state_refuse(state, ERR_FORMAT, "counts of values that cannot be");
	for (size_t i = 0; i < ENTRIES; i++)
		clear(&values->table[i]);
}

const struct part_type part_values = {
	.word = "values",
	.make = make,
	.free = end,
	.answer = answer,
	.learn = learn,
	.macs = macs,
	.bytes = bytes,
	.state = state,
	.copied = copied,
	.copy = copy,
	.answer_copy = answer_copy,
};
