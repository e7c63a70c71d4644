#include "learn/numbers/rows.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

enum { BYTES_MOST = 1 << 24 };

int rows_init(struct rows *rows, size_t width, struct err *err)
{
	const size_t most = BYTES_MOST / (width * sizeof(float));
	const size_t room = most < ROWS_KEPT ? most : ROWS_KEPT;
	bool made;

	*rows = (struct rows){.width = width, .room = (int64_t)room};
	made = (rows->number = mem_new(room * width, sizeof(float))) &&
	       (rows->base = mem_new(room, sizeof(double))) &&
	       (rows->scale = mem_new(room, sizeof(double))) &&
	       (rows->ahead = mem_new(room, sizeof(*rows->ahead)));
	for (int k = 0; k < ROWS_TARGETS && made; k++)
		made = (rows->target[k] = mem_new(room, sizeof(float)));
	return made ? 0 : err_memory(err, "rows that are kept", room * width * sizeof(float));
}

void rows_release(struct rows *rows)
{
	mem_free(rows->number);
	mem_free(rows->base);
	mem_free(rows->scale);
	mem_free(rows->ahead);
	for (int k = 0; k < ROWS_TARGETS; k++)
		mem_free(rows->target[k]);
}

void rows_add(struct rows *rows, const float *row, const float target[ROWS_TARGETS],
	const struct lags_moment *moment)
{
	const size_t at = (size_t)(rows->seen++ % rows->room);

	for (size_t j = 0; j < rows->width; j++)
		rows_number(rows, j)[at] = row[j];
	for (int k = 0; k < ROWS_TARGETS; k++)
		rows->target[k][at] = target[k];
	rows->base[at] = moment->base;
	rows->scale[at] = moment->scale;
	rows->ahead[at] = (int32_t)(moment->at - moment->known);
}

void rows_renew_seasons(struct rows *rows, const struct lags *lags)
{
	for (int64_t id = rows->seen - rows_kept(rows); id < rows->seen; id++) {
		const size_t at = (size_t)(id % rows->room);
		const struct lags_moment moment = {
			id, id - rows->ahead[at], rows->base[at], rows->scale[at]};
		float seasons[2 * SEASONS];

		lags_fill_seasons(lags, &moment, seasons);
		for (size_t j = 0; j < 2 * SEASONS; j++)
			rows_number(rows, LAGS - 2 * SEASONS + j)[at] = seasons[j];
	}
}

void rows_clear(struct rows *rows, size_t number)
{
	memset(rows_number(rows, number), 0, (size_t)rows->room * sizeof(float));
}

double rows_bytes(const struct rows *rows)
{
	return (double)rows->room *
	       (sizeof(float) * ((double)rows->width + ROWS_TARGETS + 1) + 2 * sizeof(double));
}

/* Only rows that came: others are zeros. */
static bool sound(const struct rows *rows)
{
	const size_t kept = (size_t)rows_kept(rows);
	bool right = true;

	for (size_t j = 0; j < rows->width; j++)
		for (size_t i = 0; i < kept; i++)
			right = right && isfinite(rows_number(rows, j)[i]);
	for (size_t i = 0; i < kept; i++) {
		right = right && fabs(rows->base[i]) < 1e100 && rows->scale[i] > 0 &&
			rows->scale[i] < 1e100 && rows->ahead[i] >= 0;
		for (int k = 0; k < ROWS_TARGETS; k++)
			right = right && isfinite(rows->target[k][i]);
	}
	return right;
}

void rows_state(struct rows *rows, struct state *state)
{
	static const char *const names[ROWS_TARGETS] = {"level", "change", "rest"};
	size_t kept;

	state_enter(state, "rows");
	state_int64(state, "seen", &rows->seen);
	if (rows->seen < 0)
		state_refuse(state, ERR_FORMAT, "%lld rows", (long long)rows->seen);
	if (state_failed(state))
		rows->seen = 0;
	kept = (size_t)rows_kept(rows);
	for (size_t j = 0; j < rows->width; j++)
		state_floats(state, "numbers", rows_number(rows, j), kept);
	for (int k = 0; k < ROWS_TARGETS; k++)
		state_floats(state, names[k], rows->target[k], kept);
	state_doubles(state, "base", rows->base, kept);
	state_doubles(state, "scale", rows->scale, kept);
	state_int32s(state, "ahead", rows->ahead, kept);
	state_leave(state);
	if (!state_reading(state) || (!state_failed(state) && sound(rows)))
		return;
	state_refuse(state, ERR_FORMAT, "rows that cannot be");
	rows->seen = 0;
}
