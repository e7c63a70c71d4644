/*
 * Runs over a source: a stream whose samples can be had at any time, and evaluation
 * data of every moment. The loop predicts each time step, scores it, reveals it and
 * trains; from time to time it evaluates. In the supervised form all samples are
 * revealed first, and time steps are only parts of the training. To the files of a
 * run (session/run.h) it adds
 *
 *	matrix.csv         accuracy by model time and data time
 */
#ifndef RETAIN_STORED_STORED_H
#define RETAIN_STORED_STORED_H

#include "session/run.h"

struct stored;
struct source;

/* Refuses everything that can be refused, before any work. A failed open needs no close. */
int stored_open(struct stored **stored, const struct run_config *config, struct err *err);

/* Goes on to the end of the stream and writes the folder's last files. */
int stored_go(struct stored *stored, struct run_result *result, struct err *err);
void stored_close(struct stored *stored);

/*
 * Makes the folder of a run over a source one that events go on with (session/session.h): the
 * samples that were revealed are kept in its journal. Options are those of the run and become
 * those of the session. ERR_INPUT if the data has changed or is gone, or there is no checkpoint.
 */
int stored_adopt(
	struct options *options, const char *folder, const struct log *log, struct err *err);

/*
 * How a learner loads samples of a source, by part (learner_config.load); and a checksum over so
 * many samples at most, evenly over the stream and over the evaluation data, in words: what tells
 * it from other data. Few samples do for any data; of rows, which are quick to read, many are
 * taken. False: something cannot be read.
 */
enum { STORED_DIGEST = 32, STORED_FEW = 64, STORED_MANY = 1 << 16 };
int stored_load(void *source, int part, const int64_t *ids, int n, float *inputs, struct err *err);
bool stored_digest(struct source *source, int most, char out[STORED_DIGEST]);

/*
 * A line about the run, its stream, net and budget; of a data set two, what it is and what was
 * chosen.
 */
void stored_describe(const struct stored *stored, char *out, size_t size);

/* How many time steps it goes over; what it computes with (the text lives for ever). */
int64_t stored_steps(const struct stored *stored);
int stored_threads(const struct stored *stored);
const char *stored_isa(const struct stored *stored);

/* What a run has to do, and with what. */
struct stored_plan {
	const struct net_spec *net; /* as long as the run */
	double macs, params;        /* of the net: multiply-adds of a sample, numbers */
	int batch, averages;
	int64_t iterations;          /* planned */
	double price;                /* of one, in iterations of plain SGD */
	double predicted, evaluated; /* samples that go forward for LE, and for all evaluations */
	double bytes;                /* of all training samples as inputs */
};
void stored_plan(const struct stored *stored, struct stored_plan *plan);

/* Samples that could not be read (stream.on_bad); seconds that this process waited for data. */
int64_t stored_skipped(const struct stored *stored);
double stored_waited(const struct stored *stored);

/* Keys of section run and eval that only such runs have. Ends with a row without a section. */
extern const struct option_row stored_options[];

#endif
