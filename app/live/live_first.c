/*
 * The input shape: configured, from the folder, or from the first line with an input. Lines
 * before that one are answered at once, since their sender may wait for it. A stream over a
 * descriptor waits for that line when it is opened; one whose lines come by live_take is open
 * before, and has no learner until then.
 */
#include <inttypes.h>
#include <limits.h>

#include "base/mem.h"
#include "live/lead.h"
#include "live/live_impl.h"
#include "schema/schema.h"

enum { LINE_LONGEST = 1 << 20 };
static const double WAIT = 0.2; /* seconds, after which a wish to stop is looked at again */

static bool found(const struct live_first *first)
{
	return first->schema || first->floats;
}

static int refuse(struct live *live, const struct feed_line *from, const char *id,
	struct answers *to, int code, const struct err *why, struct err *err)
{
	const struct event_place place = {from->number, from->object};

	return session_refuse(&live->session, place, id, &to->sender, code, why, err);
}

/* What is wrong with a line that has no input, or none that says what inputs are. */
static int reason(
	struct live *live, const struct feed_line *from, struct event *line, struct err *why)
{
	const struct live_line_shape any = {.classes = INT_MAX,
		.grows = true,
		.numbers = live_numbers(live),
		.number_names = live_number_names(live),
		.missing = true};
	char where[EVENT_WHERE];
	int code;

	event_where((struct event_place){from->number, from->object}, where);
	code = live_check_line(live, from, where, why);
	if (!code)
		code = live_read_line(live, from, &any, where, line, NULL, why);
	if (code)
		return code;
	if (line->has_input)
		return err_set(why, ERR_INPUT, "%s: input: has no numbers", where);
	return err_set(why, ERR_INPUT, "%s: no input waits under id %s", where, line->id);
}

/*
 * A line that says what inputs are must be one that can be taken: what is refused teaches nothing.
 * Of CSV only the input is known to be good, since a heading may still change its columns.
 */
static int check_first(struct live *live, struct live_first *first, const struct feed_line *from,
	struct event *line, struct err *why)
{
	const struct learner_config *config = &live->session.learner;
	const struct live_line_shape shape = {
		.floats = first->schema ? schema_floats(first->schema) : first->floats,
		.classes = config->classes_most ? config->classes_most : config->classes,
		.grows = config->classes_most > 0,
		.numbers = live_numbers(live),
		.number_names = live_number_names(live),
		.open = session_target_open(&live->session),
		.missing = true,
		.schema = first->schema,
		.table = &live->table};
	const int64_t rows = live->table.rows;
	char where[EVENT_WHERE];
	float *input;
	int code;

	if (!live->format->lists && live->format->first != live_first_table)
		return 0;
	event_where((struct event_place){from->number, from->object}, where);
	input = mem_new(shape.floats, sizeof(*input));
	code = input ? live_read_line(live, from, &shape, where, line, input, why)
		     : err_memory(why, "an input", shape.floats * sizeof(*input));
	live->numbers = live_check_fraction(live, line, where, why) != 0;
	if (live->numbers)
		code = ERR_INPUT;
	mem_free(input);
	live->table.rows = rows;
	if (!code && first->labels_only)
		code = err_set(
			why, ERR_INPUT, "%s: has an input, and only labels are taken here", where);
	return code;
}

static void forget(struct live_first *first)
{
	schema_free(first->schema);
	first->schema = NULL;
	first->floats = 0;
}

/*
 * Looks at a line, or an object of one; answers it, if it is to, where it does not say what
 * inputs are.
 */
static int look_at_one(struct live *live, struct live_first *first, const struct feed_line *from,
	struct answers *to, struct err *err)
{
	const int headings = first->headings;
	struct event line = {0};
	struct err why = {0};
	int code = from->cut ? 0 : live_look_at_line(live, from, first, &why);

	if (found(first)) {
		code = check_first(live, first, from, &line, &why);
		live->firm = live->firm || !code;
		if (!code)
			return 0;
		forget(first);
		if (live->numbers && live->settles && !live->session.bad)
			return err_set(err, code, "%s", why.message);
		if (!to)
			return 0;
		live->session.lines++;
		return refuse(live, from, line.id, to, code, &why, err);
	}
	if (!to)
		return 0;
	live->session.lines++;
	live->firm = live->firm || first->headings > headings;
	if (first->headings > headings)
		return 0;
	if (code) {
		const struct err bare = why;
		char where[EVENT_WHERE];

		event_where((struct event_place){from->number, from->object}, where);
		err_set(&why, code, "%s: input: %s", where, bare.message);
	} else {
		code = reason(live, from, &line, &why);
	}
	return refuse(live, from, line.id, to, code, &why, err);
}

static int look_at_list(struct live *live, struct live_first *first, const struct feed_line *from,
	struct answers *to, struct err *err)
{
	struct feed_line object;
	size_t at = 0;
	int code = 0;

	while (!code && !found(first) && live_list_next(from, &at, &object))
		code = look_at_one(live, first, &object, to, err);
	return code;
}

/* A list of which one object says it comes once more as a whole, so none of it is answered yet. */
static int look_at(struct live *live, struct live_first *first, const struct feed_line *from,
	struct answers *to, struct err *err)
{
	int code;

	if (live_is_blank(from))
		return 0;
	live_guess_format(live, from);
	if (!live_is_list(live, from))
		return look_at_one(live, first, from, to, err);
	code = look_at_list(live, first, from, NULL, err);
	return code || found(first) ? code : look_at_list(live, first, from, to, err);
}

/* Whether a line may precede a table: the format, or the columns, are not known yet. */
static enum lead leads(const struct live *live, const struct feed_line *line, bool quiet)
{
	const bool table = live->guesses || live->format->first == live_first_table;

	return table && !live->table.plan.count && !line->cut && !live_is_blank(line)
		       ? lead_of(live->feed, line, LINE_LONGEST, quiet ? 1 : 2)
		       : LEAD_NONE;
}

/*
 * The line that says it comes once more; so does one that may stand before a table. `quiet`: the
 * sender has paused.
 */
static int look_for_input(struct live *live, struct live_first *first, bool quiet, struct err *err)
{
	enum lead lead = LEAD_NONE;
	struct feed_line line;
	int code = 0;

	while (!code && !found(first) && lead != LEAD_OPEN && feed_next(live->feed, &line)) {
		lead = leads(live, &line, quiet);
		if (lead == LEAD_NONE)
			code = look_at(live, first, &line, &live->answers, err);
		else if (lead == LEAD_LINE)
			live->session.lines++;
	}
	if (found(first) || lead == LEAD_OPEN)
		feed_back(live->feed);
	return code ? code : session_settle(&live->session, err);
}

static int wait_for_input(struct live *live, struct live_first *first, struct err *err)
{
	size_t before, left;
	int code = 0;

	while (!code && !found(first)) {
		const bool ended = feed_ended(live->feed);

		if (run_stopping(&live->session.run))
			return err_set(err, ERR_STATE,
				"stopped before the first input; nothing was taken");
		feed_left(live->feed, &before);
		code = feed_fill(live->feed, WAIT, err);
		feed_left(live->feed, &left);
		if (!code)
			code = look_for_input(live, first, left == before, err);
		if (!code && !found(first) && ended)
			return err_set(err, ERR_INPUT,
				"model.input = auto: the stream has no input, which would say "
				"what inputs are");
	}
	return code;
}

int live_shape(struct live *live, int input, struct err *err)
{
	struct session *s = &live->session;
	const struct schema_sizes sizes = schema_sizes(s->run.config.options);
	struct live_first first = {.sizes = &sizes, .table = &live->table};
	int code = session_find_shape(s, err);

	if (code || s->learner.channels || input < 0)
		return code;
	if (!live->feed)
		code = feed_open(&live->feed, input, LINE_LONGEST, err);
	if (!code) {
		feed_hold(live->feed);
		code = wait_for_input(live, &first, err);
	}
	if (!code)
		code = session_set_shape(s, first.floats, first.schema, err);
	if (s->run.schema != first.schema)
		schema_free(first.schema);
	mem_free(first.heading);
	return code;
}

int live_take_first(struct live *live, const struct feed_line *from, enum live_kind kind,
	struct answers *to, bool *made, struct err *err)
{
	struct session *s = &live->session;
	const struct schema_sizes sizes = schema_sizes(s->run.config.options);
	struct live_first first = {
		.sizes = &sizes, .labels_only = kind == LIVE_LABELS, .table = &live->table};
	struct feed_line line = *from;
	struct err why = {0};
	int code;

	*made = false;
	line.cut = line.size > LINE_LONGEST;
	code = look_at(live, &first, &line, to, err);
	mem_free(first.heading);
	if (code || !found(&first))
		return code;
	code = session_set_shape(s, first.floats, first.schema, &why);
	if (s->run.schema != first.schema)
		schema_free(first.schema);
	*made = !code;
	if (!code)
		return live_make(live, -1, err);
	if (code == ERR_INPUT) {
		const struct err bare = why;

		s->lines++;
		err_set(&why, ERR_INPUT, "line %" PRId64 ": input: %s", from->number, bare.message);
	}
	return refuse(live, from, "", to, code, &why, err);
}
