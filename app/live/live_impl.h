/* What the files of a live stream share. */
#ifndef RETAIN_LIVE_LIVE_IMPL_H
#define RETAIN_LIVE_LIVE_IMPL_H

#include <pthread.h>

#include "store/journal.h"
#include "live/answers.h"
#include "live/feed.h"
#include "live/live_line.h"
#include "live/live_table.h"
#include "live/live.h"
#include "session/run.h"

/* So many inputs are predicted and synced together at most. */
enum { LIVE_GROUP = 256, LIVE_SEEN = 1 << 13 };

/* Where a line, or an object of a line that is a list, came from. */
struct live_place {
	int64_t line;
	int object; /* from 1; 0: the line is one */
};

/* "line 17", "line 17: object 2" */
#define LIVE_WHERE 64
const char *live_where(struct live_place place, char out[LIVE_WHERE]);

struct live_label {
	struct answers *to;
	struct live_place place;
	char id[JOURNAL_KEY + 1];
	int32_t label;
	char name[CLASS_NAME + 1]; /* empty: the label is a number */
};

/* Lines that were read and not acted on: inputs, then labels, of these or of earlier inputs. */
struct live_group {
	char (*ids)[JOURNAL_KEY + 1];
	const char **keys; /* point to ids */
	struct answers **to;
	struct answers_wish *wishes; /* all is said */
	float *inputs;
	int32_t *guesses;
	double *probabilities; /* of the first guesses */
	int inputs_count;
	struct live_label *labels;
	int labels_count;
	bool seen[LIVE_SEEN]; /* by an id's checksum: false where the id is not in the group */
};

struct live {
	struct run run; /* must be first */
	struct feed *feed;
	struct answers answers; /* to standard input's sender */
	struct live_watch watch;
	struct learner_config config; /* without channels: what inputs are is not known */
	const struct live_line_format *format;
	bool guesses; /* the format: no line has shown it yet */
	struct live_table table;
	struct live_line_shape shape;
	pthread_mutex_t naming;   /* of the schema that the shape has, for live_read */
	struct journal *journal;  /* the store's */
	struct answers_wish wish; /* where neither line nor sender says anything */
	bool strict;              /* a bad line ends the run */
	int per_step;             /* labelled samples of a time step */
	int64_t every;            /* time steps from a row of metrics to the next */
	int64_t lines, bad;       /* ever */
	int idle_most, idle_left; /* iterations beyond live->run.iterations of a time step */
	struct live_group group;
	float *logits;      /* of a group */
	int logits_classes; /* ... for so many classes */
	float *pending; /* two inputs that wait for their group: of a line, and of one that came in training */
	bool training; /* the watch's `between` is called */
	/* The time step that is not complete, and room to score it. */
	int64_t *ids;
	float *inputs;
	int32_t *labels, *predicted, *rank;
	char (*step_ids)[JOURNAL_KEY + 1];
	struct answers **step_to;
	int32_t *step_guesses;
	int step_count, step_kept; /* of the latter labels are on disk, and answered */
	bool more;                 /* lines are at hand */
	double settled;            /* when what was kept was synced last */
	bool outside;              /* a failure was the world's, not ours: the learner is well */
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

/* Predicts, answers and keeps the group's first n inputs; the answers wait to be sent. */
int live_predict(struct live *live, int n, struct err *err);

/* Answers a line that cannot be used. A failure that no line brought ends the run. */
int live_refuse(struct live *live, int64_t line, const char *id, struct answers *to,
	const struct err *why, struct err *err);
int live_refuse_if_bad(struct live *live, int64_t line, const char *id, struct answers *to,
	int code, const struct err *why, struct err *err);

/* Whether it is known what labels are; refuses a name among numbers, a number among names. */
bool live_labelled(const struct live *live);
/* A stream whose first label was a number below 0 takes all numbers as names. */
bool live_numbers_are_names(const struct live *live);
int live_check_label(
	const struct live *live, const struct live_line *line, const char *where, struct err *err);
int live_act_on_label(struct live *live, const struct live_label *label, struct err *err);

/* Whether lines are at hand that will be taken next: then answers and syncs may wait for them. */
void live_expect_more(struct live *live, bool more);

/* Syncs what was kept and sends the answers that wait, or says that they hold. */
int live_send(struct live *live, struct err *err);

/* The class as answers say it. */
struct answers_class live_class(const struct live *live, int32_t label);

/*
 * The label's input, which waits, goes to the time step as `class`; a time step that is full
 * ends.
 */
int live_join(struct live *live, const struct live_label *label, int32_t class, struct err *err);

/* Labels that do not make a time step yet are on disk, and answered when they are sent. */
int live_keep_labels(struct live *live, struct err *err);

/* Keeps, scores and answers the time step, full or not, and learns from it. */
int live_end_step(struct live *live, struct err *err);

/* Brings the learner to where the journal is. */
int live_catch_up(struct live *live, struct err *err);

/* The labels that a former process kept for its next time step. */
int live_take_up(struct live *live, struct err *err);

#endif
