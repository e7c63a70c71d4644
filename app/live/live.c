/*
 * The loop of a live stream: lines become events of a session (session/session.h), its answers
 * become lines. Formats are in live_line.h; the input shape from the first line in live_first.c.
 */
#include <inttypes.h>
#include <string.h>

#include "live/live_impl.h"
#include "base/json.h"
#include "formats/pieces.h"
#include "schema/schema.h"

static const double WAIT = 0.2; /* seconds, after which a wish to stop is looked at again */

bool live_is_blank(const struct feed_line *line)
{
	size_t at = 0;

	while (at < line->size && strchr(" \t\r", line->bytes[at]) && line->bytes[at])
		at++;
	return at == line->size && !line->cut;
}

void live_guess_format(struct live *live, const struct feed_line *line)
{
	const struct live_line_format *found;

	if (live->firm || line->cut)
		return;
	found = live_line_guess(line->bytes, line->size);
	live->guesses = !found;
	if (found)
		live->format = found;
}

bool live_is_list(const struct live *live, const struct feed_line *line)
{
	if (!live->format->lists || line->cut)
		return false;
	return line->json ? jvalue_kind(line->json) == JVALUE_LIST && jvalue_count(line->json)
			  : pieces_count(line->bytes, line->size) > 0;
}

bool live_list_next(const struct feed_line *line, size_t *at, struct feed_line *object)
{
	struct pieces pieces = {line->bytes, line->size, *at};
	const int before = *at ? object->object : 0;
	struct piece piece = {0};

	*object = *line;
	object->object = before + 1;
	if (line->json) {
		object->json = (struct jvalue *)jvalue_at(line->json, (*at)++);
		return object->json;
	}
	if (!pieces_next(&pieces, &piece))
		return false;
	*at = pieces.at;
	object->bytes = piece.bytes;
	object->size = piece.size;
	return true;
}

/* Other formats than JSON have bytes alone. */
static bool parsed(const struct live *live, const struct feed_line *line)
{
	return line->json && live->format->lists;
}

int live_read_line(const struct live *live, const struct feed_line *line,
	const struct live_line_shape *shape, const char *where, struct event *event, float *input,
	struct err *err)
{
	return parsed(live, line) ? live_line_object(line->json, where, shape, event, input, err)
				  : live->format->read(line->bytes, line->size, where, shape, event,
					    input, err);
}

int live_look_at_line(const struct live *live, const struct feed_line *line,
	struct live_first *first, struct err *err)
{
	return parsed(live, line) ? live_first_object(first, line->json, err)
				  : live->format->first(first, line->bytes, line->size, err);
}

int live_check_line(
	const struct live *live, const struct feed_line *line, const char *where, struct err *err)
{
	if (line->cut)
		return err_set(err, ERR_FORMAT, "%s: is too long", where);
	if (live->guesses)
		return err_set(err, ERR_FORMAT, "%s: is neither a JSON object nor a row of a table",
			where);
	return 0;
}

int live_check_fraction(
	const struct live *live, const struct event *event, const char *where, struct err *err)
{
	const struct session *s = &live->session;

	if (!event->fraction || !session_labels_whole(s))
		return 0;
	if (!session_learns(s) || !session_labelled(s))
		return err_set(err, ERR_INPUT,
			"%s: label: has a fraction, so it looks like a number rather than a class; "
			"--target number learns numbers, --target class takes names",
			where);
	return err_set(err, ERR_INPUT,
		"%s: label: has a fraction, and those before it are whole numbers, taken as "
		"classes; begin anew (--force) with --target number, or with --target class if "
		"they are names",
		where);
}

static int read_line(struct live *live, const struct feed_line *from, enum live_kind kind,
	struct event *event, struct err *err)
{
	struct session *s = &live->session;
	char where[EVENT_WHERE];
	int code;

	event_where((struct event_place){from->number, from->object}, where);
	event->id[0] = '\0';
	event->fraction = false;
	code = live_check_line(live, from, where, err);
	if (code)
		return code;
	live->shape.as_names = session_numbers_are_names(s);
	live->shape.as_numbers = session_classes_are_numbers(s);
	live->shape.open = session_target_open(s);
	code = live_read_line(live, from, &live->shape, where, event, session_room(s), err);
	if (live_check_fraction(live, event, where, err))
		return ERR_INPUT;
	if (!code && kind == LIVE_INPUTS && event->has_label)
		code = err_set(
			err, ERR_INPUT, "%s: has a label, and only inputs are taken here", where);
	if (!code && kind == LIVE_LABELS && event->has_input)
		code = err_set(
			err, ERR_INPUT, "%s: has an input, and only labels are taken here", where);
	return code;
}

/* A line with fields that inputs have no numbers for is read once more when they have. */
static int read_growing(struct live *live, const struct feed_line *from, enum live_kind kind,
	struct event *event, struct err *err)
{
	struct session *s = &live->session;
	const int64_t rows = live->table.rows;
	int code = read_line(live, from, kind, event, err);

	if (code || !session_wide(s))
		return code;
	code = session_widen(s, schema_floats(s->run.schema), err);
	if (code)
		return code;
	live->shape.floats = s->run.floats;
	live->table.rows = rows;
	return read_line(live, from, kind, event, err);
}

static void tell_lacks(struct live *live)
{
	if (!live->table.lacks.size)
		return;
	log_write(&live->session.run.config.log, LOG_WARN,
		"the heading has no column %s: missing in the rows below it",
		live->table.lacks.data);
	text_release(&live->table.lacks);
}

/* Whether labels may be numbers after all. In a young stream of a command that ends it. */
static bool doubts(const struct live *live)
{
	enum { SURE = 1000 };

	return live->feed && session_labels_whole(&live->session) &&
	       store_stored(live->session.run.store) < SURE;
}

static int take_one(struct live *live, const struct feed_line *from, enum live_kind kind,
	struct answers *to, struct err *err)
{
	struct session *s = &live->session;
	const size_t learned = session_decode(s);
	struct event event;
	struct err why = {0};
	int code = read_growing(live, from, kind, &event, &why);
	int64_t bad;

	session_decoded(s, learned, code);
	live->firm = live->firm || !code;
	tell_lacks(live);
	s->lines++;
	event.place = (struct event_place){from->number, from->object};
	event.input = session_room(s);
	event.learned = learned;
	if (code && event.fraction && doubts(live)) {
		s->outside = true;
		return err_set(err, code, "%s", why.message);
	}
	if (code)
		return session_refuse(s, event.place, event.id, &to->sender, code, &why, err);
	bad = s->bad;
	code = session_take(s, &event, &to->sender, err);
	live->taken += s->bad == bad && (event.has_input || event.has_label);
	return code;
}

int64_t live_taken(const struct live *live)
{
	return live->taken;
}

bool live_learns(const struct live *live)
{
	return session_learns(&live->session);
}

int live_take(struct live *live, const struct feed_line *from, enum live_kind kind,
	struct answers *to, struct err *err)
{
	struct feed_line object;
	size_t at = 0;
	const bool more = live->session.more;
	int code = 0;

	if (live_is_blank(from))
		return 0;
	live_guess_format(live, from);
	if (!live_learns(live)) {
		bool made;

		code = live_take_first(live, from, kind, to, &made, err);
		if (!code && made)
			code = session_begin(&live->session, err);
		if (code || !made)
			return code;
	}
	if (!live_is_list(live, from))
		return take_one(live, from, kind, to, err);
	session_expect_more(&live->session, true);
	while (!code && live_list_next(from, &at, &object))
		code = take_one(live, &object, kind, to, err);
	session_expect_more(&live->session, more);
	return code;
}

int live_read(struct live *live, const struct feed_line *line, const char *where,
	struct event *event, float *input, size_t floats, struct err *err)
{
	struct live_line_shape shape;
	int code;

	pthread_mutex_lock(&live->session.naming);
	shape = live->shape;
	shape.anonymous = true;
	shape.floats = floats;
	if (!shape.schema)
		pthread_mutex_unlock(&live->session.naming);
	code = line->json ? live_line_object(line->json, where, &shape, event, input, err)
			  : live_line_ndjson(
				    line->bytes, line->size, where, &shape, event, input, err);
	if (shape.schema)
		pthread_mutex_unlock(&live->session.naming);
	return code;
}

static int turn(struct live *live, struct err *err)
{
	struct session *s = &live->session;
	struct feed_line line;
	bool came = false, more;
	int code = feed_fill(live->feed, s->idle_left ? 0 : WAIT, err);

	s->outside |= code != 0;
	while (!code && !run_stopping(&s->run) && feed_next(live->feed, &line)) {
		came = true;
		session_expect_more(s, feed_waits(live->feed));
		code = live_take(live, &line, LIVE_ANY, &live->answers, err);
	}
	session_expect_more(s, false);
	if (!code && came)
		code = session_flush(s, err);
	if (code || came)
		return code ? code : run_save_when_due(&s->run, err);
	return session_idle(s, &more, err);
}

int live_begin(struct live *live, const struct live_watch *watch, struct err *err)
{
	if (watch)
		live->watch = *watch;
	return live_learns(live) ? session_begin(&live->session, err) : 0;
}

static int go(struct live *live, struct err *err)
{
	struct session *s = &live->session;
	int code = live_begin(live, NULL, err);

	/* Once more after the end: what has come before it began may be all there is. */
	for (bool more = true; !code && !run_stopping(&s->run) && more;) {
		more = !feed_ended(live->feed);
		code = turn(live, err);
	}
	if (!code && !run_stopping(&s->run))
		code = session_finish(s, err);
	return code;
}

int live_go(struct live *live, struct run_result *result, struct err *err)
{
	return session_end(&live->session, go(live, err), result, err);
}
