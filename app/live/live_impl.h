/* Shared by the files of a live stream. */
#ifndef RETAIN_LIVE_LIVE_IMPL_H
#define RETAIN_LIVE_LIVE_IMPL_H

#include "live/answers.h"
#include "live/feed.h"
#include "live/live_line.h"
#include "live/live_table.h"
#include "live/live.h"
#include "session/session.h"

struct live {
	struct session session; /* must be first */
	struct feed *feed;
	struct answers answers; /* to standard input's sender */
	struct live_watch watch;
	const struct live_line_format *format;
	bool guesses;          /* the format is not known yet */
	bool firm;             /* it is what a key says, or that of a line that was taken */
	bool settles, numbers; /* as of struct live_ends */
	struct live_table table;
	struct live_line_shape shape;
	int64_t taken; /* inputs and labels since it was opened */
};

/*
 * Determines the input shape and the limit of classes; may wait for the first line. Without a
 * descriptor the config may be left without channels, and then there is no learner yet.
 */
int live_shape(struct live *live, int input, struct err *err);

/* Creates the learner and everything that has the size of its inputs. */
int live_make(struct live *live, int input, struct err *err);

/*
 * A line before there is a learner: it is answered, or defines the inputs and the learner is
 * created; then the line must still be taken.
 */
int live_take_first(struct live *live, const struct feed_line *from, enum live_kind kind,
	struct answers *to, bool *made, struct err *err);

bool live_is_blank(const struct feed_line *line);
/* Rejects a line that was cut, or whose format is unknown. */
int live_check_line(
	const struct live *live, const struct feed_line *line, const char *where, struct err *err);
/* Rejects a label with a fraction where nothing, or only whole numbers, have shown what labels are. */
int live_check_fraction(
	const struct live *live, const struct event *event, const char *where, struct err *err);
/* Detects the format from the first line that shows it. */
void live_guess_format(struct live *live, const struct feed_line *line);
/*
 * Reads a line, parsed or not; and looks at one for the input shape. It must not be a list.
 */
int live_read_line(const struct live *live, const struct feed_line *line,
	const struct live_line_shape *shape, const char *where, struct event *event, float *input,
	struct err *err);
int live_look_at_line(const struct live *live, const struct feed_line *line,
	struct live_first *first, struct err *err);

/*
 * Whether the line is a nonempty list; its objects, from *at = 0 on. Errors in it are left to the
 * reader.
 */
bool live_is_list(const struct live *live, const struct feed_line *line);
bool live_list_next(const struct feed_line *line, size_t *at, struct feed_line *object);

/* How many numbers a label is, 0 of classes; and their names. */
static inline int live_numbers(const struct live *live)
{
	return session_target(&live->session) == TARGET_NUMBER ? session_width(&live->session) : 0;
}

static inline const char *live_number_names(const struct live *live)
{
	return options_text(live->session.run.config.options, "model.numbers");
}

#endif
