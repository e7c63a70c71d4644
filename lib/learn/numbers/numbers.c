/* Creates, frees, copies and measures the models as a whole. */
#include "learn/numbers/numbers.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "learn/numbers/numbers_impl.h"

enum { FIRST_ROOM = 16 };

const struct linear_kind linear_kinds[LINEARS] = {
	{.keep = 0.998F, .first = ROWS_ONE, .target = ROWS_LEVEL},
	{.keep = 0.9998F, .target = ROWS_CHANGE},
	{.keep = 0.98F, .target = ROWS_CHANGE},
	{.keep = 0.99F, .numbers = LAGS, .target = ROWS_CHANGE},
	{.keep = 0.998F, .numbers = ROWS_FIRST, .target = ROWS_CHANGE, .hidden = true},
	{.keep = 0, .first = ROWS_ONE, .target = ROWS_LEVEL, .since = 18},
};

static const char *const NAMES[NUMBERS_PARTS] = {
	"last",
	"mean",
	"median",
	"slow",
	"nearest-level",
	"nearest-change",
	"forest-level-short",
	"forest-level-long",
	"forest-rest-short",
	"forest-rest-long",
	"linear-inputs",
	"linear",
	"linear-quick",
	"lags",
	"hidden",
	"linear-inputs-quick",
};

_Static_assert(LINEAR + LINEARS == NUMBERS_PARTS, "as many parts as the header says");
_Static_assert((int)NUMBERS_PARTS <= (int)BLEND_PARTS, "a blend has a place for each");

static size_t width_of(const struct numbers *numbers)
{
	return ROWS_FIRST + numbers->inputs + VALUES_EACH * VALUES_PLACES;
}

int numbers_reserve(struct numbers *numbers, int n, struct err *err)
{
	const size_t room = (size_t)n;
	float *rows;
	struct numbers_said *said;

	if (n <= numbers->room)
		return 0;
	rows = mem_resize(numbers->step_rows, room, ROWS_PADDED * sizeof(float));
	if (rows)
		numbers->step_rows = rows;
	said = mem_resize(numbers->said, room, sizeof(*said));
	if (said)
		numbers->said = said;
	if (!rows || !said)
		return err_memory(err, "a time step", room * ROWS_PADDED * sizeof(float));
	numbers->room = n;
	return 0;
}

/* Allocates what only learning needs. */
static int make_rows(struct numbers *numbers, struct err *err)
{
	const size_t width = width_of(numbers);
	const size_t hidden = rls_padded(numbers->config.features + ROWS_FIRST);
	int code = rows_init(&numbers->rows, width, err);

	if (code || (code = numbers_reserve(numbers, FIRST_ROOM, err)))
		return code;
	numbers->hidden = mem_new(hidden, sizeof(float));
	return numbers->hidden ? 0 : err_memory(err, "features", hidden * sizeof(float));
}

static int make_costly(struct numbers *numbers, bool copy, struct err *err)
{
	const struct numbers_config *config = &numbers->config;
	int code;

	if (config->lean)
		return 0;
	code = bank_init(&numbers->bank, numbers->inputs, config->ops, err);
	return code ? code : grove_init(&numbers->grove, config->seed, config->ops, copy, err);
}

/* How much least squares keeps of a row. With few inputs ten rows suffice. */
static float keep_of(const struct linear_kind *kind, size_t inputs)
{
	return kind->keep > 0 ? kind->keep : 1 - 1 / fmaxf(10, (float)inputs);
}

static int make(struct numbers *numbers, bool copy, struct err *err)
{
	const struct numbers_config *config = &numbers->config;
	const size_t inputs = numbers->inputs;
	int code;

	level_init(&numbers->level);
	since_init(&numbers->since);
	blend_init(&numbers->blend, NUMBERS_PARTS);
	again_init(&numbers->again);
	foretold_init(&numbers->foretold);
	band_init(&numbers->band, config->coverage);
	if ((code = lags_init(&numbers->lags, err)) ||
		(code = values_init(&numbers->values, inputs, err)) ||
		(code = make_costly(numbers, copy, err)))
		return code;
	for (int k = 0; k < LINEARS && !code; k++)
		code = rls_init(&numbers->linear[k], linear_numbers(numbers, k, width_of(numbers)),
			keep_of(&linear_kinds[k], inputs), config->ops, copy, err);
	return code ? code : copy ? 0 : make_rows(numbers, err);
}

static int make_numbers(
	struct numbers **numbers, const struct numbers_config *config, bool copy, struct err *err)
{
	struct numbers *made = mem_new(1, sizeof(*made));
	int code;

	*numbers = NULL;
	if (!made)
		return err_memory(err, "models of numbers", sizeof(*made));
	made->config = *config;
	made->inputs = config->floats <= ROWS_INPUTS ? config->floats : 0;
	code = make(made, copy, err);
	if (code) {
		numbers_free(made);
		return code;
	}
	*numbers = made;
	return 0;
}

int numbers_new(struct numbers **numbers, const struct numbers_config *config, struct err *err)
{
	return make_numbers(numbers, config, false, err);
}

const struct numbers_config *numbers_config(const struct numbers *numbers)
{
	return &numbers->config;
}

void numbers_free(struct numbers *numbers)
{
	if (!numbers)
		return;
	lags_release(&numbers->lags);
	values_release(&numbers->values);
	bank_release(&numbers->bank);
	grove_release(&numbers->grove);
	rows_release(&numbers->rows);
	for (int k = 0; k < LINEARS; k++)
		rls_release(&numbers->linear[k]);
	mem_free(numbers->step_rows);
	mem_free(numbers->said);
	mem_free(numbers->hidden);
	mem_free(numbers);
}

void numbers_restart(struct numbers *numbers)
{
	for (int k = 0; k < LINEARS; k++)
		if (linear_kinds[k].hidden)
			rls_begin(&numbers->linear[k]);
}

int numbers_copy_new(struct numbers **copy, const struct numbers *numbers, struct err *err)
{
	const int code = make_numbers(copy, &numbers->config, true, err);

	if (!code)
		numbers_copy(*copy, numbers);
	return code;
}

void numbers_copy(struct numbers *copy, const struct numbers *numbers)
{
	copy->level = numbers->level;
	copy->blend = numbers->blend;
	copy->again = numbers->again;
	copy->foretold = numbers->foretold;
	copy->band = numbers->band;
	copy->late = numbers->late;
	copy->since = numbers->since;
	lags_copy(&copy->lags, &numbers->lags);
	values_copy(&copy->values, &numbers->values);
	if (!numbers->config.lean) {
		bank_copy(&copy->bank, &numbers->bank);
		grove_copy(&copy->grove, &numbers->grove);
	}
	for (int k = 0; k < LINEARS; k++)
		rls_copy(&copy->linear[k], &numbers->linear[k]);
}

int numbers_parts(const struct numbers *numbers, const char *names[NUMBERS_PARTS],
	double weights[NUMBERS_PARTS])
{
	double all[BLEND_PARTS];

	blend_weights(&numbers->blend, all);
	memcpy(names, NAMES, sizeof(NAMES));
	memcpy(weights, all, NUMBERS_PARTS * sizeof(*weights));
	return NUMBERS_PARTS;
}

double numbers_macs(const struct numbers *numbers)
{
	const double used = (double)numbers_used(numbers), parts = NUMBERS_PARTS;
	double macs = (double)numbers->bank.room * used +
		      (numbers->config.lean ? 0 : grove_visits()) + parts * parts * (parts / 6 + 1);

	for (int k = 0; k < LINEARS; k++)
		macs += rls_macs(
			&numbers->linear[k], linear_numbers(numbers, k, numbers_used(numbers)));
	return macs;
}

double numbers_bytes(const struct numbers *numbers)
{
	double bytes = sizeof(*numbers) + LAGS_HISTORY * sizeof(double) +
		       (double)numbers->values.columns * sizeof(struct values_column) +
		       (numbers->config.lean ? 0 : bank_bytes(&numbers->bank) + grove_bytes()) +
		       rows_bytes(&numbers->rows) +
		       numbers->room * (ROWS_PADDED * sizeof(float) + sizeof(*numbers->said));

	for (int k = 0; k < LINEARS; k++)
		bytes += rls_bytes(&numbers->linear[k]);
	return bytes;
}

/* Older versions had no late labels: their models have learned all rows. */
static void late_state(struct numbers *numbers, struct state *state)
{
	const int64_t seen = numbers->rows.seen;

	if (state_reading(state)) {
		numbers->taught = seen;
		numbers->late = 0;
	}
	if (state_version(state) < 13)
		return;
	state_int(state, "late", &numbers->late);
	state_int64(state, "taught", &numbers->taught);
	if (!state_reading(state) ||
		(!state_failed(state) && numbers->late >= 0 && numbers->late <= NUMBERS_LATE &&
			numbers->taught >= seen - NUMBERS_LATE && numbers->taught <= seen))
		return;
	state_refuse(state, ERR_FORMAT, "models of numbers that learn too late");
	numbers->late = 0;
	numbers->taught = seen;
}

/* Older versions had fewer models, and none on features where the net has none. */
static bool had_linear(const struct numbers *numbers, int k, const struct state *state)
{
	const struct linear_kind *kind = &linear_kinds[k];

	return state_version(state) >= kind->since &&
	       (state_version(state) >= 18 || !kind->hidden || numbers->config.features);
}

void numbers_state(struct numbers *numbers, struct state *state)
{
	state_enter(state, "numbers");
	level_state(&numbers->level, state);
	lags_state(&numbers->lags, state);
	values_state(&numbers->values, state);
	since_state(&numbers->since, &numbers->values, numbers->inputs, state);
	for (int k = 0; k < LINEARS; k++)
		if (had_linear(numbers, k, state))
			rls_state(&numbers->linear[k], state);
		else
			rls_begin(&numbers->linear[k]);
	rows_state(&numbers->rows, state);
	if (numbers->rows.seen != numbers->lags.seen || numbers->rows.seen != numbers->level.seen)
		state_refuse(state, ERR_FORMAT, "models of numbers that saw different rows");
	if (!numbers->config.lean)
		grove_state(&numbers->grove, numbers_used(numbers), state);
	blend_state(&numbers->blend, state);
	for (int k = 0; k < LINEARS; k++)
		if (state_reading(state) && linear_kinds[k].since > state_version(state))
			blend_begin(&numbers->blend, LINEAR + k);
	again_state(&numbers->again, state);
	foretold_state(&numbers->foretold, &numbers->values, state);
	band_state(&numbers->band, state);
	late_state(numbers, state);
	state_leave(state);
	if (!state_reading(state))
		return;
	numbers->asked = 0;
	numbers_fill_bank(numbers);
}
