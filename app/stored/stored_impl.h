/* Shared by the files of a stored run. */
#ifndef RETAIN_STORED_STORED_IMPL_H
#define RETAIN_STORED_STORED_IMPL_H

#include "eval/album.h"
#include "eval/matrix.h"
#include "session/session.h"
#include "stored/stored.h"
#include "streams/source.h"

enum { STORED_BATCH = 256 }; /* samples predicted at a time */

/* How much is trained and when, from the options, for every time step. */
struct stored_pace {
	int every, iterations, batch;
	double epochs; /* of a time step's samples; 0: use iterations */
	int64_t task_steps;
};

struct stored {
	struct session session; /* must be first */
	struct run *run;        /* the session's */
	bool supervised;
	bool equal; /* a time step's budget is the cost of its iterations of plain SGD */
	struct stored_pace pace;
	int64_t stream_steps; /* run->planned_steps may be fewer: run.stop_after */
	char digest[STORED_DIGEST];
	int evaluations;
	struct source *source;
	struct matrix *matrix;
	struct matrix *now; /* of the mixture that answers NOW; NULL: no fast weights */
	/* Scratch for STORED_BATCH samples, and for the labels of a time step. */
	float *logits;
	int64_t *ids;
	union target *labels, *guesses; /* guesses: target_guess for each label */
	int64_t *users;                 /* of a time step; NULL: unknown */
	struct album album;
	double variance[TARGET_WIDTH];    /* of evaluation labels that are numbers */
	const struct stored_probe *probe; /* NULL: none */
};

/* Planned iterations of a time step; the supervised form's parts are all equal. */
double stored_iterations(const struct stored *stored, int64_t step);

/* ... and of all before a step. */
double stored_iterations_until(const struct stored *stored, int64_t steps);

/* The samples of all complete time steps: fractions of the stream refer to them. */
int64_t stored_samples(const struct stored *stored);

/* The lines of stored_describe, for run.json: the data and, for a data set, what was chosen. */
void stored_about(const struct stored *stored, struct text *data, struct text *choice);

/* The bin of an evaluation sample in the matrix. */
int stored_bin(const struct stored *stored, int64_t id);

/* Call whenever samples were requested: logs bad ones as events. */
void stored_note_bad(struct stored *stored);

/* For struct run_driver. */
void stored_iterated(struct run *run);
bool stored_due(const struct run *run);
int stored_evaluate(struct run *run, struct err *err); /* a row of the matrix and of the metrics */
void stored_pace(struct run *run);
void stored_facts(const struct run *run, struct jwriter *json);
bool stored_class_names(const struct run *run, const char **names);
bool stored_schema(const struct run *run, struct jwriter *json);

int stored_write_matrix(const struct stored *stored, struct err *err);

#endif
