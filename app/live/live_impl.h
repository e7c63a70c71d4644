/* What the files of a live stream share. */
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
	bool guesses; /* the format: no line has shown it yet */
	struct live_table table;
	struct live_line_shape shape;
};

/*
 * What inputs are and how many classes there may be; may wait for the first line. Without one
 * of a descriptor the config may be left without channels, and then there is no learner yet.
 */
int live_shape(struct live *live, int input, struct err *err);

/* The learner and all that has the size of its inputs. */
int live_make(struct live *live, int input, struct err *err);

/*
 * A line before there is a learner: it is answered, or says what inputs are; then there is one,
 * and the line is still to be taken.
 */
int live_take_first(struct live *live, const struct feed_line *from, enum live_kind kind,
	struct answers *to, bool *made, struct err *err);

bool live_is_blank(const struct feed_line *line);
/* Refuses a line that is cut, or of which nobody knows what it is. */
int live_check_line(
	const struct live *live, const struct feed_line *line, const char *where, struct err *err);
/* What lines are, by the first that shows it. */
void live_guess_format(struct live *live, const struct feed_line *line);
/*
 * Whether it is a list with something in it. What is wrong with one that is not is for the
 * reader.
 */
bool live_is_list(const struct live *live, const struct feed_line *line);

#endif
