/* What the files of a stored run share. */
#ifndef RETAIN_STORED_STORED_IMPL_H
#define RETAIN_STORED_STORED_IMPL_H

#include "eval/album.h"
#include "eval/matrix.h"
#include "stored/stored.h"
#include "streams/source.h"

enum { STORED_BATCH = 256 }; /* samples that are predicted at a time */

/* How much is trained and when, as the options say, for every time step to ask. */
struct stored_pace {
	int every, iterations, batch;
	double epochs; /* of a time step's samples; 0: iterations */
	int64_t task_steps;
};

struct stored {
	struct run run; /* must be first */
	bool supervised;
	bool equal; /* a time step may cost what its iterations of plain SGD would */
	struct stored_pace pace;
	int64_t stream_steps; /* run.planned_steps may be fewer: run.stop_after */
	int evaluations;
	struct source *source;
	struct matrix *matrix;
	struct matrix *now; /* of the mixture that answers now; NULL: there are no fast weights */
	/* Room for STORED_BATCH samples, and for the labels of a time step. */
	float *logits;
	int64_t *ids;
	int32_t *labels, *predicted, *rank;
	int64_t *users; /* of a time step; NULL: they are not known */
	struct album album;
};

/* Iterations of a time step, as planned; the supervised form's parts are all alike. */
double stored_iterations(const struct stored *stored, int64_t step);

/* ... and of all before a step. */
double stored_iterations_until(const struct stored *stored, int64_t steps);

/* The samples of all whole time steps: shares of the stream are shares of them. */
int64_t stored_samples(const struct stored *stored);

/* The lines of stored_describe, for run.json: what the data is and, of a data set, what was chosen. */
void stored_about(const struct stored *stored, struct text *data, struct text *choice);

/* The bin of an evaluation sample in the matrix. */
int stored_bin(const struct stored *stored, int64_t id);

/* A row of the matrix and of the metrics. */
int stored_evaluate(struct stored *stored, struct err *err);

/* Call it whenever samples were asked for: it tells the events which ones were bad. */
void stored_note_bad(struct stored *stored);

/* For struct run_driver. */
void stored_iterated(struct run *run);
bool stored_due(const struct run *run);
void stored_facts(const struct run *run, struct jwriter *json);
bool stored_class_names(const struct run *run, const char **names);
bool stored_schema(const struct run *run, struct jwriter *json);

int stored_write_matrix(const struct stored *stored, struct err *err);

#endif
