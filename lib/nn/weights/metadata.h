/*
 * What a weights file says about its net, so that the net can be built from the
 * file alone. The words are strings of the file's "__metadata__":
 *
 *	retain.format       version of these keys, 1; files before it have no such key
 *	retain.arch         architecture, as model.arch spells it
 *	retain.norm         gn-ws, bn or none
 *	retain.classes      number of classes
 *	retain.input        channels,height,width
 *	retain.class_names  JSON list of one string per class; absent where no name is known
 *	retain.schema       what rows of named values become (schema/schema.h), as JSON; absent
 *	                    where inputs are numbers without names
 *	retain.target       number; absent where targets are classes
 *	retain.number_scale mean,factor of every number: outputs are (number - mean) * factor
 *	retain.numbers      their names, or how many there are (target/target.h); absent for one
 *	retain.class_logs   JSON list of a number per class to be added to logits, where classes do
 *	                    not weigh the same (target/class_weights.h)
 *	retain.iteration    training steps taken
 *	retain.version      retain's version when it wrote the file
 *
 * The scale of inputs is not here: it is tensors (nn/weights/weights_file.h).
 */
#ifndef RETAIN_NN_WEIGHTS_METADATA_H
#define RETAIN_NN_WEIGHTS_METADATA_H

#include "base/mem.h"
#include "base/text.h"
#include "nn/net.h"
#include "nn/weights/safetensors.h"
#include "target/target.h"

struct metadata {
	struct net_spec spec;
	int64_t iteration;              /* -1: not in the file */
	const char *const *class_names; /* one per class; NULL: not in the file */
	const char *schema;             /* JSON; NULL: not in the file */
	enum target_kind target;
	struct number_scales number_scales; /* of a target that is a number, */
	const char *numbers;                /* and retain.numbers; NULL: not in the file */
	const float *class_logs;            /* one per class; NULL: not in the file */
};

#define METADATA_SCHEMA "retain.schema"

/*
 * Everything a net is built from must be present. A file without any of it was not written by
 * retain: ERR_INPUT. Damaged, incomplete or newer metadata is ERR_FORMAT. The strings of spec and
 * the schema live as long as the file, names and weights of classes as long as the arena.
 */
int metadata_read(struct metadata *metadata, const struct safetensors *file, struct arena *arena,
	struct err *err);

/* Only the net, and only what is present: other strings are NULL and numbers 0. */
int metadata_spec(struct net_spec *spec, const struct safetensors *file, struct err *err);

/* The same metadata for safetensors_save. */
struct metadata_notes {
	struct safetensors_note rows[14];
	int count;
	char format[16], classes[16], input[48], iteration[24];
	struct text class_names, class_logs, number_scale;
};

/*
 * A class name may hold any bytes; those that are not UTF-8 become U+FFFD. A NULL name is saved
 * as "". Release the notes even after a failure.
 */
int metadata_notes_init(
	struct metadata_notes *notes, const struct metadata *metadata, struct err *err);
void metadata_notes_release(struct metadata_notes *notes);

#endif
