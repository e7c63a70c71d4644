/* Shared by the files of the Open Inference Protocol. */
#ifndef RETAIN_SERVE_V2_H
#define RETAIN_SERVE_V2_H

#include "base/json.h"
#include "base/json_write.h"
#include "serve/exchange.h"

#define V2_LENGTH "Inference-Header-Content-Length"

/* A request: its JSON, and the binary tensors behind it. */
struct v2_question {
	struct jvalue *json;
	const char *binary;
	size_t size;
};

/* Fills in exchange->inputs and count, from tensors of a row's columns or one of numbers. */
int v2_read_inputs(struct exchange *exchange, const struct v2_question *question, struct err *err);

/* Writes the requested outputs, or all, from the answers of a copy. */
enum http_next v2_say_outputs(struct exchange *exchange, const struct v2_question *question,
	const struct copy *copy, const float *logits);

/* The "inputs" and "outputs" of a description. */
void v2_say_inputs(struct jwriter *json, struct exchange *exchange);
void v2_say_output_tensors(struct jwriter *json, struct exchange *exchange);

/* {"name": ..., "datatype": ..., "shape": [-1, ...]}; the shape ends with 0. */
void v2_say_tensor(struct jwriter *json, const char *name, const char *type, const int *shape);

#endif
