/*
 * Vectors in memory, or a program's. The latter are reserved ranges of addresses that nothing may
 * touch, each with the program's handle; the list of them is short and searched.
 */
#include "nn/vectors.h"

#include <math.h>
#include <pthread.h>
#include <retain.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "nn/net.h"

struct range {
	char *begin;
	size_t bytes;
	void *vector;
};

struct vectors {
	struct retain_vectors functions;
	atomic_int users;
	pthread_mutex_t lock; /* of what follows */
	struct range *ranges;
	int count, room;
	struct err why;   /* the first failure of an operation */
	atomic_bool lost; /* there was one */
};

int vectors_new(struct vectors **vectors, const struct retain_vectors *functions, struct err *err)
{
	struct vectors *made = mem_new(1, sizeof(*made));

	*vectors = made;
	if (!made)
		return err_memory(err, "vectors", sizeof(*made));
	made->functions = *functions;
	made->users = 1;
	pthread_mutex_init(&made->lock, NULL);
	return 0;
}

struct vectors *vectors_hold(struct vectors *vectors)
{
	if (vectors)
		atomic_fetch_add(&vectors->users, 1);
	return vectors;
}

void vectors_release(struct vectors *vectors)
{
	if (!vectors || atomic_fetch_sub(&vectors->users, 1) > 1)
		return;
	pthread_mutex_destroy(&vectors->lock);
	mem_free(vectors->ranges);
	mem_free(vectors);
}

/* What a function of the program said, in our words. */
static int told(const char *function, int code, const struct retain_err *why, struct err *err)
{
	char number[48];

	if (!why->message[0])
		snprintf(number, sizeof(number), "failed with code %d", code);
	return err_set(err, code > 0 || code < ERR_STOPPED ? ERR_STATE : code, "vectors: %s: %.*s",
		function, (int)sizeof(why->message) - 1, why->message[0] ? why->message : number);
}

/* Of an operation that cannot be repeated. */
static void note(
	struct vectors *vectors, const char *function, int code, const struct retain_err *why)
{
	if (!code)
		return;
	pthread_mutex_lock(&vectors->lock);
	if (!atomic_exchange(&vectors->lost, true))
		told(function, code, why, &vectors->why);
	pthread_mutex_unlock(&vectors->lock);
}

int vectors_failed(const struct engine *engine, struct err *err)
{
	struct vectors *vectors = engine->vectors;
	int code = 0;

	if (!vectors)
		return 0;
	pthread_mutex_lock(&vectors->lock);
	if (vectors->lost)
		code = err_set(err, vectors->why.code,
			"%s; the weights in memory are lost: open the learner again",
			vectors->why.message);
	pthread_mutex_unlock(&vectors->lock);
	return code;
}

static bool has_batches(const struct engine *engine)
{
	return engine->vectors && engine->vectors->functions.batch_make &&
	       engine->vectors->functions.batch_free;
}

float *batch_new(const struct engine *engine, size_t floats)
{
	const struct retain_vectors *own;

	if (!has_batches(engine))
		return mem_new(floats, sizeof(float));
	own = &engine->vectors->functions;
	return own->batch_make(own->context, floats);
}

void batch_free(const struct engine *engine, float *batch)
{
	const struct retain_vectors *own;

	if (!batch)
		return;
	if (!has_batches(engine)) {
		mem_free(batch);
		return;
	}
	own = &engine->vectors->functions;
	own->batch_free(own->context, batch);
}

struct retain_span vectors_span(struct vectors *vectors, const float *at)
{
	struct retain_span span = {0};

	pthread_mutex_lock(&vectors->lock);
	for (int i = 0; i < vectors->count && !span.vector; i++) {
		const struct range *range = &vectors->ranges[i];
		const size_t from = (size_t)((const char *)at - range->begin);

		if ((const char *)at >= range->begin && from < range->bytes)
			span = (struct retain_span){range->vector, from / sizeof(float)};
	}
	pthread_mutex_unlock(&vectors->lock);
	return span;
}

/* Addresses for a new vector of the program. */
static int add_range(struct vectors *vectors, size_t bytes, void *vector, float **at)
{
	void *begin =
		mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct range *grown = vectors->ranges;

	if (begin == MAP_FAILED)
		return ERR_MEMORY;
	pthread_mutex_lock(&vectors->lock);
	if (vectors->count == vectors->room) {
		grown = mem_resize(vectors->ranges, (size_t)vectors->room + 16, sizeof(*grown));
		vectors->ranges = grown ? grown : vectors->ranges;
		vectors->room += grown ? 16 : 0;
	}
	if (grown)
		grown[vectors->count++] = (struct range){begin, bytes, vector};
	pthread_mutex_unlock(&vectors->lock);
	if (!grown) {
		munmap(begin, bytes);
		return ERR_MEMORY;
	}
	*at = begin;
	return 0;
}

static int make(float **vector, struct vectors *vectors, size_t floats, struct err *err)
{
	const struct retain_vectors *f = &vectors->functions;
	struct retain_err why = {0};
	void *handle = NULL;
	int code = f->make(f->context, floats, &handle, &why);

	if (!code && !handle)
		return err_set(err, ERR_STATE, "vectors: make gave no vector");
	if (code)
		return told("make", code, &why, err);
	code = add_range(vectors, floats * sizeof(float), handle, vector);
	if (code) {
		f->free(f->context, handle);
		return err_memory(err, "addresses of a vector", floats * sizeof(float));
	}
	return 0;
}

int vector_new(float **vector, const struct engine *engine, size_t floats, const char *what,
	struct err *err)
{
	*vector = NULL;
	floats = floats ? floats : 1;
	if (engine && engine->vectors)
		return make(vector, engine->vectors, floats, err);
	*vector = mem_new(floats, sizeof(float));
	return *vector ? 0 : err_memory(err, what, floats * sizeof(float));
}

static void drop(struct vectors *vectors, const float *vector)
{
	const struct retain_vectors *f = &vectors->functions;
	struct range range = {0};

	pthread_mutex_lock(&vectors->lock);
	for (int i = 0; i < vectors->count; i++)
		if (vectors->ranges[i].begin == (const char *)vector) {
			range = vectors->ranges[i];
			vectors->ranges[i] = vectors->ranges[--vectors->count];
		}
	pthread_mutex_unlock(&vectors->lock);
	if (!range.begin)
		return;
	munmap(range.begin, range.bytes);
	f->free(f->context, range.vector);
}

void vector_free(const struct engine *engine, float *vector)
{
	if (!engine || !engine->vectors)
		mem_free(vector);
	else if (vector)
		drop(engine->vectors, vector);
}

/* from NULL: zeros. */
static void copy(struct vectors *vectors, float *to, const float *from, size_t floats)
{
	const struct retain_vectors *f = &vectors->functions;
	const struct retain_span none = {0};
	struct retain_err why = {0};

	if (!vectors->lost)
		note(vectors, "copy",
			f->copy(f->context, vectors_span(vectors, to),
				from ? vectors_span(vectors, from) : none, floats, &why),
			&why);
}

void vector_copy(const struct engine *engine, float *to, const float *from, size_t floats)
{
	if (engine && engine->vectors)
		copy(engine->vectors, to, from, floats);
	else
		memcpy(to, from, floats * sizeof(*to));
}

void vector_zero(const struct engine *engine, float *vector, size_t floats)
{
	if (engine && engine->vectors)
		copy(engine->vectors, vector, NULL, floats);
	else
		memset(vector, 0, floats * sizeof(*vector));
}

void vectors_combine(struct vectors *vectors, float *out, float a, const float *x, float b,
	const float *y, size_t floats)
{
	const struct retain_vectors *f = &vectors->functions;
	struct retain_err why = {0};

	if (!vectors->lost)
		note(vectors, "combine",
			f->combine(f->context, vectors_span(vectors, out), a,
				vectors_span(vectors, x), b, vectors_span(vectors, y), floats,
				&why),
			&why);
}

void vector_add(const struct engine *engine, float *out, const float *x, float b, const float *y,
	size_t floats)
{
	if (engine && engine->vectors) {
		vectors_combine(engine->vectors, out, 1, x, b, y, floats);
		return;
	}
	for (size_t i = 0; i < floats; i++)
		out[i] = x[i] + b * y[i];
}

double vectors_square(struct vectors *vectors, const float *x, size_t floats)
{
	const struct retain_vectors *f = &vectors->functions;
	struct retain_err why = {0};
	double sum = (double)NAN;

	if (!vectors->lost)
		note(vectors, "square",
			f->square(f->context, vectors_span(vectors, x), floats, &sum, &why), &why);
	return sum;
}

bool vector_finite(const struct engine *engine, const float *vector, size_t floats)
{
	size_t bad = 0;

	if (engine && engine->vectors)
		return isfinite(vectors_square(engine->vectors, vector, floats));
	for (size_t i = 0; i < floats; i++)
		bad += !isfinite(vector[i]);
	return !bad;
}

int vector_read(const struct engine *engine, const float *vector, float *values, size_t floats,
	struct err *err)
{
	const struct retain_vectors *f;
	struct retain_err why = {0};
	int code;

	if (!engine || !engine->vectors) {
		memcpy(values, vector, floats * sizeof(*values));
		return 0;
	}
	f = &engine->vectors->functions;
	code = vectors_failed(engine, err);
	if (code)
		return code;
	code = f->read(f->context, vectors_span(engine->vectors, vector), values, floats, &why);
	note(engine->vectors, "read", code, &why);
	return code ? vectors_failed(engine, err) : 0;
}

int vector_look(const struct engine *engine, const float *vector, size_t floats, float **values,
	struct err *err)
{
	int code;

	*values = (float *)vector;
	if (!engine || !engine->vectors)
		return 0;
	*values = mem_new(floats ? floats : 1, sizeof(**values));
	code = *values ? vector_read(engine, vector, *values, floats, err)
		       : err_memory(err, "a copy of weights", floats * sizeof(**values));
	if (code) {
		mem_free(*values);
		*values = NULL;
	}
	return code;
}

int vector_leave(const struct engine *engine, float *vector, size_t floats, float *values,
	bool changed, struct err *err)
{
	const struct retain_vectors *f;
	struct retain_err why = {0};
	int code = 0;

	if (!engine || !engine->vectors)
		return 0;
	f = &engine->vectors->functions;
	if (values && changed)
		code = f->write(
			f->context, vectors_span(engine->vectors, vector), values, floats, &why);
	mem_free(values);
	note(engine->vectors, "write", code, &why);
	return code ? vectors_failed(engine, err) : 0;
}

void vector_state(const struct engine *engine, struct state *state, const char *name, float *vector,
	size_t floats)
{
	struct err err;
	float *values;
	int code = vector_look(engine, vector, floats, &values, &err);

	if (!code) {
		state_params(state, name, values, floats);
		code = vector_leave(engine, vector, floats, values,
			state_reading(state) && !state_failed(state), &err);
	}
	if (code)
		state_refuse(state, code, "%s", err.message);
}

int vector_init(const struct engine *engine, const struct net *net, uint64_t seed, float *params,
	float *stats, struct err *err)
{
	const size_t floats = net_params(net)->floats;
	float *values;
	int code = vector_look(engine, params, floats, &values, err), kept;

	if (code)
		return code;
	code = net_init(net, seed, values, stats, err);
	kept = vector_leave(engine, params, floats, values, !code, code ? NULL : err);
	return code ? code : kept;
}

/* A step with the vectors that its kind has; the rest is filled in. */
static void take_step(struct vectors *vectors, struct retain_step *one, float *params,
	const float *const *all, const struct average_step *averages)
{
	const struct retain_vectors *f = &vectors->functions;
	struct retain_err why = {0};

	one->params = vectors_span(vectors, params);
	one->grad = vectors_span(vectors, all[0]);
	for (int i = 0; i < 2 && all[i + 1]; i++)
		one->buffers[i] = vectors_span(vectors, all[i + 1]);
	one->average_count = averages->count;
	for (int i = 0; i < averages->count; i++) {
		one->averages[i] = vectors_span(vectors, averages->average[i]);
		one->keep[i] = averages->keep[i];
	}
	if (!vectors->lost)
		note(vectors, "step", f->step(f->context, one, &why), &why);
}

void vectors_step(struct vectors *vectors, float *params, const float *grad, size_t count,
	float rate, bool first, const struct average_step *averages)
{
	struct retain_step one = {.kind = "program", .count = count, .first = first, .rate = rate};

	take_step(vectors, &one, params, (const float *[]){grad, NULL, NULL}, averages);
}

static int save(struct vectors *vectors, void **bytes, int64_t *size, struct err *err)
{
	const struct retain_vectors *f = &vectors->functions;
	struct retain_err why = {0};
	const void *said = NULL;
	size_t length = 0;
	int code = f->save(f->context, &said, &length, &why);

	if (code)
		return told("save", code, &why, err);
	*bytes = mem_new(length + 1, 1);
	if (!*bytes)
		return err_memory(err, "a program's state", length);
	if (length)
		memcpy(*bytes, said, length);
	*size = (int64_t)length;
	return 0;
}

static int load(struct vectors *vectors, const void *bytes, int64_t size, struct err *err)
{
	const struct retain_vectors *f = &vectors->functions;
	struct retain_err why = {0};
	const int code = f->load(f->context, bytes, (size_t)size, &why);

	return code ? told("load", code, &why, err) : 0;
}

void vectors_state(const struct engine *engine, struct state *state)
{
	const bool adds = engine->vectors && engine->vectors->functions.save &&
			  engine->vectors->functions.load;
	const bool reading = state_reading(state);
	struct err err = {0};
	int64_t size = 0;
	void *bytes = NULL;
	int code = 0;

	/* Ranks share no program's vectors, and peeking would send what peers do not expect. */
	if (engine->ranks || (reading ? !state_next_is(state, "program") : !adds))
		return;
	if (!reading)
		code = save(engine->vectors, &bytes, &size, &err);
	state_enter(state, "program");
	state_int64(state, "size", &size);
	if (reading && !state_failed(state) &&
		(size < 0 || !(bytes = mem_new((size_t)size + 1, 1))))
		code = err_memory(&err, "a program's state", (unsigned long long)size);
	if (bytes)
		state_bytes(state, "bytes", bytes, (size_t)size);
	state_leave(state);
	if (reading && !code && !state_failed(state) && adds)
		code = load(engine->vectors, bytes, size, &err);
	if (code)
		state_refuse(state, code, "%s", err.message);
	mem_free(bytes);
}

void vector_sgd(const struct engine *engine, float *params, const float *grad, float *momentum,
	size_t count, const struct sgd_step *step, const struct average_step *averages)
{
	struct retain_step one = {.kind = "sgd",
		.count = count,
		.first = step->first,
		.rate = step->rate,
		.decay = step->decay,
		.momentum = step->momentum};

	if (engine->vectors)
		take_step(engine->vectors, &one, params, (const float *[]){grad, momentum, NULL},
			averages);
	else
		engine->ops->sgd(params, grad, momentum, count, step, averages);
}

void vector_adam(const struct engine *engine, float *params, const float *grad, float *mean,
	float *square, size_t count, const struct adam_step *step,
	const struct average_step *averages)
{
	struct retain_step one = {.kind = "adam",
		.count = count,
		.rate = step->rate,
		.decay = step->decay,
		.beta1 = step->beta1,
		.beta2 = step->beta2,
		.epsilon = step->epsilon,
		.correction1 = step->correction1,
		.correction2 = step->correction2};

	if (engine->vectors)
		take_step(engine->vectors, &one, params, (const float *[]){grad, mean, square},
			averages);
	else
		engine->ops->adam(params, grad, mean, square, count, step, averages);
}

void vector_schedule_free(const struct engine *engine, float *params, const float *grad, float *z,
	float *x, size_t count, const struct schedule_free_step *step,
	const struct average_step *averages)
{
	struct retain_step one = {.kind = "schedule-free",
		.count = count,
		.first = step->first,
		.rate = step->rate,
		.decay = step->decay,
		.beta = step->beta,
		.share = step->share};

	if (engine->vectors)
		take_step(engine->vectors, &one, params, (const float *[]){grad, z, x}, averages);
	else
		engine->ops->schedule_free(params, grad, z, x, count, step, averages);
}
