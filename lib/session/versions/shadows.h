/*
 * Shadows: alternatives that are scored on the live stream without answering anyone. A shadow is a
 * frozen version, or a learner of its own with another method or config. The learner itself
 * (`live`) and all shadows are contenders; one of them is the champion, which answers
 * (champion.h). All learn, whichever answers.
 *
 * Every contender predicts inputs before it learns their labels, and is scored on that. If inputs
 * are labelled in turn, this is what it would have answered; for late labels it is what each knows
 * right before them.
 *
 * Each contender has a duel with the champion (eval/duel.h), which starts anew with every
 * champion. With a rule (versions.promote), a contender that wins its duel becomes the champion.
 *
 * A shadow that learns is a function of the samples, as the learner is. Its state is saved with
 * each checkpoint as versions/shadows/NAME-SAMPLES.state, and it replays later samples with the
 * learner; so it survives kills bit for bit. It shares the learner's samples, or keeps a pool's in
 * memory.
 */
#ifndef RETAIN_SESSION_VERSIONS_SHADOWS_H
#define RETAIN_SESSION_VERSIONS_SHADOWS_H

#include <stdbool.h>

#include "base/options.h"
#include "eval/duel.h"
#include "eval/recent.h"
#include "learn/learner.h"
#include "session/versions/version.h"

struct copy;
struct session;

enum { SHADOWS_MOST = 8, CONTENDERS = SHADOWS_MOST + 2, SHADOW_WORDS = 256 };

/* When to promote: never while labels is 0. */
struct shadow_rule {
	double margin; /* of the loss */
	int64_t labels;
	double p;
};

/* "better by 0.5 points over 5000 labels, p < 0.01", or "never". */
int shadow_rule_parse(struct shadow_rule *rule, const char *words, struct err *err);

struct contender {
	char name[VERSION_NAME + 1];
	char words[SHADOW_WORDS]; /* as serve.shadow has it */
	struct copy *frozen;      /* of a version; or */
	struct learner *learner;  /* owned, but for the first's */
	struct options *options;
	struct store *store;
	int iterations;       /* per time step */
	bool guest;           /* not a shadow: a contender only while it answers */
	bool stopped;         /* it failed, and is neither scored nor trained any more */
	struct copy *answers; /* while it is the champion, a copy for other threads */
	int64_t labels;
	double loss; /* summed: errors of classes, absolute errors of numbers */
	struct recent recent;
	struct duel duel; /* with the champion */
};

struct shadows {
	int count;                         /* of contenders; 0: there are no shadows */
	struct contender list[CONTENDERS]; /* the first is the learner itself */
	char champion[VERSION_NAME + 1];   /* the opponent of all duels */
	struct shadow_rule rule;
	double *losses; /* of a time step, by contender */
	int losses_room;
	float *answers;
	size_t answers_room;
	double publish_due;
	int64_t last, kept; /* samples at the last checkpoint, and at the one before */
};

/* A contender's results, for display. NAN: unknown. */
struct standing {
	char name[VERSION_NAME + 1];
	bool serves;
	int64_t labels;
	double score;  /* accuracy; of numbers the mean absolute error */
	double recent; /* accuracy of the latest */
	double ahead; /* of the champion, in points of accuracy; of numbers in hundredths of errors */
	double p;     /* that it is not ahead by more than versions.promote says */
};

/* Makes the shadows of a comma-separated list, once the learner exists, and loads their states. */
int shadows_open(struct session *session, const char *list, struct err *err);
int shadows_load(struct session *session, struct err *err);
void shadows_release(struct shadows *shadows);

/* Call before the learner's reveal of a time step, to score, and after it, to learn. */
struct session_samples;
int shadows_score(struct session *session, const struct session_samples *samples, struct err *err);
void shadows_learn(struct session *session, const struct session_samples *samples);
int shadows_widen(struct shadows *shadows, size_t floats, struct err *err);

/* Call before and after a checkpoint. */
int shadows_save(struct session *session, struct err *err);
void shadows_saved(struct session *session);

/* NULL: no shadow has this name. */
struct contender *shadows_find(struct shadows *shadows, const char *name);
/*
 * Changes the champion; duels start anew. `copy` is that of a version which need not be a shadow:
 * it is a contender as long as it answers.
 */
void shadows_turn_to(struct shadows *shadows, const char *champion, struct copy *copy);
/* The contender that the rule promotes; NULL: none. */
const struct contender *shadows_winner(const struct session *session);
/* The copy for other threads of a champion that learns, renewed when due. */
int shadows_publish(struct session *session, struct copy **copy, struct err *err);

int shadows_standings(const struct session *session, struct standing standings[CONTENDERS]);

#endif
