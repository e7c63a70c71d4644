/*
 * Sessions over a source: a stream with random access, and evaluation data for every moment. It
 * predicts each time step and gives it to the session, which trains on it; from time to time it
 * evaluates. In the supervised form all samples are revealed first, and time steps are only parts
 * of the training. To the files of a run (session/run/run.h) it adds
 *
 *	matrix.csv         accuracy by model time and data time
 */
#ifndef RETAIN_STORED_STORED_H
#define RETAIN_STORED_STORED_H

#include "session/run/run.h"

struct stored;
struct source;

/* Rejects all invalid settings before any work. A failed open needs no close. */
int stored_open(struct stored **stored, const struct run_config *config, struct err *err);

/* Runs to the end of the stream and writes the folder's last files. */
int stored_go(struct stored *stored, struct run_result *result, struct err *err);
void stored_close(struct stored *stored);

/*
 * A look at a run before each time step of `count` samples, from `first` on, is predicted. It must
 * change nothing; an error ends the run. The probe is borrowed.
 */
struct learner;
struct stored_view {
	struct learner *learner;
	struct source *source;
	int64_t step, steps; /* steps: of the whole run */
	int64_t first, count;
};
struct stored_probe {
	int (*look)(void *context, const struct stored_view *view, struct err *err);
	void *context;
};
void stored_set_probe(struct stored *stored, const struct stored_probe *probe);

/*
 * Converts the folder of a run over a source to one that events can continue (session/session.h):
 * stores the revealed samples in its journal. Options are those of the run and become those of
 * the session. ERR_INPUT if the data has changed or is gone, or there is no checkpoint.
 */
int stored_adopt(
	struct options *options, const char *folder, const struct log *log, struct err *err);

/*
 * stored_load loads a source's samples for a learner, by part (learner_config.load).
 * stored_digest computes a fingerprint of at most `most` samples, spread evenly over the stream
 * and over the evaluation data, as a string. A few samples suffice for any data; for rows, which
 * are fast to read, use many. False: something cannot be read.
 */
enum { STORED_DIGEST = 32, STORED_FEW = 64, STORED_MANY = 1 << 16 };
int stored_load(void *source, int part, const int64_t *ids, int n, float *inputs, struct err *err);
bool stored_digest(struct source *source, int most, char out[STORED_DIGEST]);

/*
 * A line about the run, its stream, net and budget; two for a data set: what it is and what was
 * chosen.
 */
void stored_describe(const struct stored *stored, char *out, size_t size);

/* The number of time steps; threads and instruction set (a static string). */
int64_t stored_steps(const struct stored *stored);
int stored_threads(const struct stored *stored);
const char *stored_isa(const struct stored *stored);

/* The work of a run. */
struct stored_plan {
	const struct net_spec *net; /* lives as long as the run */
	double macs, params; /* of the net: multiply-adds of a sample, number of parameters */
	int batch, averages;
	int64_t iterations;          /* planned */
	double price;                /* of one, in iterations of plain SGD */
	double predicted, evaluated; /* samples of forward passes for LE, and for all evaluations */
	double bytes;                /* of all training samples as inputs */
};
void stored_plan(const struct stored *stored, struct stored_plan *plan);

/* Unreadable samples (stream.on_bad); seconds that this process waited for data. */
int64_t stored_skipped(const struct stored *stored);
double stored_waited(const struct stored *stored);

/* Keys of sections run and eval for such runs. Ends with a row without a section. */
extern const struct option_row stored_options[];

#endif
