/*
 * A snapshot that answers queries without recording them: a copy of a learner's knowledge, or a
 * fixed model. Thread-safe and never blocks. Reference counted, so a learner that gets more
 * classes can publish a new copy while the old one is in use.
 */
#ifndef RETAIN_SESSION_COPY_H
#define RETAIN_SESSION_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "nn/net.h"
#include "nn/weights/weights_file.h"
#include "session/event.h"
#include "session/run/run.h"

struct copy;

/*
 * Created with one reference. A learner's copy is created and renewed on the learner's thread;
 * weights are borrowed.
 */
int copy_of_run(struct copy **copy, const struct run *run, struct err *err);
/* A copy of another learner of the run's stream. */
int copy_of_learner(
	struct copy **copy, struct learner *learner, const struct run *run, struct err *err);
int copy_of_weights(
	struct copy **copy, const struct weights *weights, const char *path, struct err *err);
/*
 * A frozen learner: a folder's model.safetensors, and beside it what its checkpoint has. The folder
 * is read and not needed afterwards.
 */
int copy_of_folder(struct copy **copy, const char *folder, const struct log *log, struct err *err);
struct copy *copy_hold(struct copy *copy); /* returns it; accepts NULL */
void copy_free(struct copy *copy);

/* Whether it can be renewed in place: false once classes were added. */
bool copy_fits(const struct copy *copy, const struct learner *learner);
int copy_renew(struct copy *copy, struct learner *learner, struct err *err);

const struct net_spec *copy_net(const struct copy *copy);
size_t copy_floats(const struct copy *copy);
double copy_macs(const struct copy *copy); /* multiply-adds per input */
int copy_known(const struct copy *copy);   /* classes known, of those of the net */
enum target_kind copy_target(const struct copy *copy);
/* How many numbers a target has (1 for classes), and their names (target/target.h). */
int copy_width(const struct copy *copy);
const char *copy_numbers(const struct copy *copy);
bool copy_named(const struct copy *copy);               /* some of them have names */
const char *copy_name(const void *copy, int32_t label); /* NULL: unnamed */

/*
 * The schema of named rows, NULL if inputs are plain numbers, and whether numbers may be missing.
 * Only copies of weights and folders have these: a run's schema still grows.
 */
struct schema *copy_schema(const struct copy *copy);
bool copy_lacks(const struct copy *copy);

/*
 * Whether it can answer all of these queries; copy_predict fills in (n, classes) logits, or answers
 * about numbers.
 */
bool copy_answers(const struct copy *copy, const struct answers_wish *wishes, int n);
int copy_predict(struct copy *copy, const struct answers_wish *wishes, const float *inputs, int n,
	float *logits, struct err *err);

/*
 * The same for inputs of `floats` numbers each. Fields that came after the copy was made are left
 * out.
 */
int copy_predict_wide(struct copy *copy, const struct answers_wish *wishes, const float *inputs,
	size_t floats, int n, float *logits, struct err *err);

/* The same with all queries about now. */
int copy_predict_now(struct copy *copy, const float *inputs, size_t floats, int n, float *logits,
	struct err *err);

/* How many queries from `at` on are for the same model. */
int copy_alike(const struct answers_wish *wishes, int at, int n);

#endif
