/*
 * A pass is a primitive, made for one OpenMP thread and run by threads that are
 * told to have one: a primitive remembers how many it was made for, and another
 * number gives wrong sums. Workers share primitives; memory objects, streams and
 * scratch, all that a run changes, each worker has of its own.
 *
 * Only describe() differs between oneDNN 2 and 3. Everything after it asks the
 * description what an argument looks like.
 */
#include "nn/own/onednn.h"

#include <dnnl.h>
#include <dnnl_debug.h>
#include <sys/mman.h>
#include "base/mem.h"

#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP
/* OpenMP's own, declared here because omp.h comes with the compiler, and not with every one. */
int omp_get_max_threads(void);
void omp_set_num_threads(int threads);
#elif DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_SEQ
static int omp_get_max_threads(void)
{
	return 1;
}

static void omp_set_num_threads(int threads)
{
	(void)threads;
}
#else
#error "oneDNN must be built for OpenMP or without threads: it is kept to one thread per caller"
#endif

enum argument { ARG_IN, ARG_WEIGHTS, ARG_OUT, ARG_SCRATCH, ARGS };

/* What oneDNN calls the arguments of a pass. */
static const struct {
	const char *name;
	int arguments[ARGS];
} passes_known[ONEDNN_PASSES] = {
	[ONEDNN_FORWARD] = {"forward pass",
		{DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST, DNNL_ARG_SCRATCHPAD}},
	[ONEDNN_BACKWARD_INPUT] = {"input gradient",
		{DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST, DNNL_ARG_SCRATCHPAD}},
	[ONEDNN_BACKWARD_WEIGHTS] = {"weight gradient",
		{DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST, DNNL_ARG_SCRATCHPAD}},
};

/* The layouts for which oneDNN has fast kernels; with others it falls back to a reference one. */
struct layout {
	int block;
	bool pointwise_in_first;
	dnnl_format_tag_t image, weights, back, back_pointwise;
};

static const struct layout layouts[] = {
	{8, false, dnnl_nChw8c, dnnl_OIhw8i8o, dnnl_OIhw8o8i, dnnl_OIhw8o8i},
	{16, true, dnnl_nChw16c, dnnl_OIhw16i16o, dnnl_OIhw16o16i, dnnl_IOhw16o16i},
};

static const struct layout *layout_of(int block)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
		if (layouts[i].block == block)
			return layouts + i;
	return NULL;
}

enum onednn_speed onednn_speed(int block)
{
#if defined(__x86_64__)
	const enum onednn_speed speed = ONEDNN_FAST;
#else
	const enum onednn_speed speed =
		ONEDNN_SLOW; /* blocked layouts have reference kernels only */
#endif
	return layout_of(block) ? speed : ONEDNN_NONE;
}

struct worker {
	dnnl_stream_t stream;
	dnnl_memory_t memory[ONEDNN_PASSES][ARGS]; /* scratch: NULL where a pass needs none */
};

struct onednn_conv {
	struct onednn_shape shape;
	const struct layout *layout;
	dnnl_engine_t engine;
	struct {
		dnnl_primitive_desc_t description;
		dnnl_primitive_t primitive;
	} passes[ONEDNN_PASSES];
	size_t scratch_bytes;
	int workers;
	struct worker worker[];
};

/* The numbers a description is made of. */
struct geometry {
	dnnl_dims_t in, weights, out, strides, dilations, pads;
	dnnl_format_tag_t image_tag, weights_tag;
};

static struct geometry geometry_of(const struct onednn_conv *conv, enum onednn_pass pass)
{
	const struct onednn_shape *s = &conv->shape;
	const struct layout *l = conv->layout;
	const dnnl_format_tag_t back = s->size == 1 ? l->back_pointwise : l->back;

	return (struct geometry){.in = {s->n, s->in, s->height, s->width},
		.weights = {s->out, s->in, s->size, s->size},
		.out = {s->n, s->out, s->out_height, s->out_width},
		.strides = {s->stride, s->stride},
		.pads = {s->pad, s->pad},
		.image_tag = l->image,
		.weights_tag = pass == ONEDNN_BACKWARD_INPUT ? back : l->weights};
}

/*
 * Fills in conv->passes[pass].description. A backward pass wants the forward one's, so that comes
 * first; its kind is training for the same reason.
 */
#if DNNL_VERSION_MAJOR >= 3

static dnnl_status_t describe_pass(struct onednn_conv *conv, enum onednn_pass pass,
	const struct geometry *g, const_dnnl_primitive_attr_t attributes,
	const_dnnl_memory_desc_t in, const_dnnl_memory_desc_t weights, const_dnnl_memory_desc_t out)
{
	dnnl_primitive_desc_t *made = &conv->passes[pass].description;
	const_dnnl_primitive_desc_t hint = conv->passes[ONEDNN_FORWARD].description;
	const dnnl_engine_t engine = conv->engine;

	if (pass == ONEDNN_FORWARD)
		return dnnl_convolution_forward_primitive_desc_create(made, engine,
			dnnl_forward_training, dnnl_convolution_direct, in, weights, NULL, out,
			g->strides, g->dilations, g->pads, g->pads, attributes);
	if (pass == ONEDNN_BACKWARD_INPUT)
		return dnnl_convolution_backward_data_primitive_desc_create(made, engine,
			dnnl_convolution_direct, in, weights, out, g->strides, g->dilations,
			g->pads, g->pads, hint, attributes);
	return dnnl_convolution_backward_weights_primitive_desc_create(made, engine,
		dnnl_convolution_direct, in, weights, NULL, out, g->strides, g->dilations, g->pads,
		g->pads, hint, attributes);
}

static dnnl_status_t describe(
	struct onednn_conv *conv, enum onednn_pass pass, const_dnnl_primitive_attr_t attributes)
{
	const struct geometry g = geometry_of(conv, pass);
	dnnl_memory_desc_t in = NULL, weights = NULL, out = NULL;

	dnnl_status_t status =
		dnnl_memory_desc_create_with_tag(&in, 4, g.in, dnnl_f32, g.image_tag);
	if (status == dnnl_success)
		status = dnnl_memory_desc_create_with_tag(
			&weights, 4, g.weights, dnnl_f32, g.weights_tag);
	if (status == dnnl_success)
		status = dnnl_memory_desc_create_with_tag(&out, 4, g.out, dnnl_f32, g.image_tag);
	if (status == dnnl_success)
		status = describe_pass(conv, pass, &g, attributes, in, weights, out);
	dnnl_memory_desc_destroy(in);
	dnnl_memory_desc_destroy(weights);
	dnnl_memory_desc_destroy(out);
	return status;
}

#else

typedef const dnnl_memory_desc_t *const_dnnl_memory_desc_t;

static dnnl_status_t describe_pass(dnnl_convolution_desc_t *made, enum onednn_pass pass,
	const struct geometry *g, const_dnnl_memory_desc_t in, const_dnnl_memory_desc_t weights,
	const_dnnl_memory_desc_t out)
{
	if (pass == ONEDNN_FORWARD)
		return dnnl_convolution_forward_desc_init(made, dnnl_forward_training,
			dnnl_convolution_direct, in, weights, NULL, out, g->strides, g->pads,
			g->pads);
	if (pass == ONEDNN_BACKWARD_INPUT)
		return dnnl_convolution_backward_data_desc_init(made, dnnl_convolution_direct, in,
			weights, out, g->strides, g->pads, g->pads);
	return dnnl_convolution_backward_weights_desc_init(made, dnnl_convolution_direct, in,
		weights, NULL, out, g->strides, g->pads, g->pads);
}

static dnnl_status_t describe(
	struct onednn_conv *conv, enum onednn_pass pass, const_dnnl_primitive_attr_t attributes)
{
	const struct geometry g = geometry_of(conv, pass);
	dnnl_memory_desc_t in, weights, out;
	dnnl_convolution_desc_t convolution;

	dnnl_status_t status = dnnl_memory_desc_init_by_tag(&in, 4, g.in, dnnl_f32, g.image_tag);
	if (status == dnnl_success)
		status = dnnl_memory_desc_init_by_tag(
			&weights, 4, g.weights, dnnl_f32, g.weights_tag);
	if (status == dnnl_success)
		status = dnnl_memory_desc_init_by_tag(&out, 4, g.out, dnnl_f32, g.image_tag);
	if (status == dnnl_success)
		status = describe_pass(&convolution, pass, &g, &in, &weights, &out);
	if (status != dnnl_success)
		return status;
	return dnnl_primitive_desc_create(&conv->passes[pass].description, &convolution, attributes,
		conv->engine, conv->passes[ONEDNN_FORWARD].description);
}

#endif

static const_dnnl_memory_desc_t argument_of(
	const struct onednn_conv *conv, enum onednn_pass pass, enum argument argument)
{
	return dnnl_primitive_desc_query_md(conv->passes[pass].description, dnnl_query_exec_arg_md,
		passes_known[pass].arguments[argument]);
}

static size_t scratch_bytes(const struct onednn_conv *conv, enum onednn_pass pass)
{
	const_dnnl_memory_desc_t scratch = argument_of(conv, pass, ARG_SCRATCH);
	return scratch ? dnnl_memory_desc_get_size(scratch) : 0;
}

static dnnl_status_t make_pass(struct onednn_conv *conv, enum onednn_pass pass)
{
	dnnl_primitive_attr_t attributes = NULL;

	dnnl_status_t status = dnnl_primitive_attr_create(&attributes);
	if (status == dnnl_success)
		status = dnnl_primitive_attr_set_scratchpad_mode(
			attributes, dnnl_scratchpad_mode_user);
	if (status == dnnl_success)
		status = describe(conv, pass, attributes);
	dnnl_primitive_attr_destroy(attributes);
	if (status != dnnl_success)
		return status;
	const size_t bytes = scratch_bytes(conv, pass);
	conv->scratch_bytes = bytes > conv->scratch_bytes ? bytes : conv->scratch_bytes;
	return dnnl_primitive_create(&conv->passes[pass].primitive, conv->passes[pass].description);
}

/* What each worker has of its own for a pass: views of memory that a run will name. */
static dnnl_status_t make_memory(struct onednn_conv *conv, enum onednn_pass pass)
{
	const int arguments = scratch_bytes(conv, pass) ? ARGS : ARGS - 1;
	dnnl_status_t status = dnnl_success;

	for (int w = 0; w < conv->workers; w++)
		for (int a = 0; a < arguments && status == dnnl_success; a++)
			status = dnnl_memory_create(&conv->worker[w].memory[pass][a],
				argument_of(conv, pass, a), conv->engine, DNNL_MEMORY_NONE);
	return status;
}

static dnnl_status_t make_streams(struct onednn_conv *conv)
{
	dnnl_status_t status = dnnl_engine_create(&conv->engine, dnnl_cpu, 0);

	for (int w = 0; w < conv->workers && status == dnnl_success; w++)
		status = dnnl_stream_create(
			&conv->worker[w].stream, conv->engine, dnnl_stream_default_flags);
	return status;
}

static int refuse(
	const struct onednn_conv *conv, const char *what, dnnl_status_t status, struct err *err)
{
	const struct onednn_shape *s = &conv->shape;

	return err_set(err, status == dnnl_out_of_memory ? ERR_MEMORY : ERR_STATE,
		"oneDNN cannot make the %s of a convolution of %d images, %d x %d x %d, "
		"to %d channels (size %d, stride %d, padding %d, blocks of %d): %s",
		what, s->n, s->in, s->height, s->width, s->out, s->size, s->stride, s->pad,
		s->block, dnnl_status2str(status));
}

static int make(struct onednn_conv *conv, unsigned passes, struct err *err)
{
	conv->layout = layout_of(conv->shape.block);
	if (!conv->layout)
		return refuse(conv, "layout", dnnl_unimplemented, err);
	dnnl_status_t status = make_streams(conv);
	if (status != dnnl_success)
		return refuse(conv, "streams", status, err);
	for (int pass = 0; pass < ONEDNN_PASSES; pass++) {
		if (pass != ONEDNN_FORWARD && !(passes & 1u << pass))
			continue;
		status = make_pass(conv, pass);
		if (status == dnnl_success)
			status = make_memory(conv, pass);
		if (status != dnnl_success)
			return refuse(conv, passes_known[pass].name, status, err);
	}
	return 0;
}

/*
 * oneDNN is C++ and does not survive an allocation that fails: it throws, which C cannot catch, or
 * uses what it did not get. So more than a convolution takes is tried for first.
 */
static int try_room(struct err *err)
{
	enum { ROOM = 8 << 20 };
	void *room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (room == MAP_FAILED)
		return err_memory(err, "oneDNN", ROOM);
	munmap(room, ROOM);
	return 0;
}

int onednn_conv_new(struct onednn_conv **conv, const struct onednn_shape *shape, unsigned passes,
	int workers, struct err *err)
{
	const size_t bytes = sizeof(**conv) + workers * sizeof(struct worker);
	struct onednn_conv *made = mem_new(1, bytes);

	*conv = NULL;
	if (!made)
		return err_memory(err, "a convolution of oneDNN", bytes);
	made->shape = *shape;
	made->workers = workers;
	const int threads = omp_get_max_threads();
	omp_set_num_threads(1);
	const int code = try_room(err) ? ERR_MEMORY : make(made, passes, err);
	omp_set_num_threads(threads);
	if (code) {
		onednn_conv_free(made);
		return code;
	}
	*conv = made;
	return 0;
}

void onednn_conv_free(struct onednn_conv *conv)
{
	if (!conv)
		return;
	for (int w = 0; w < conv->workers; w++) {
		for (int pass = 0; pass < ONEDNN_PASSES; pass++)
			for (int a = 0; a < ARGS; a++)
				dnnl_memory_destroy(conv->worker[w].memory[pass][a]);
		dnnl_stream_destroy(conv->worker[w].stream);
	}
	for (int pass = 0; pass < ONEDNN_PASSES; pass++) {
		dnnl_primitive_destroy(conv->passes[pass].primitive);
		dnnl_primitive_desc_destroy(conv->passes[pass].description);
	}
	dnnl_engine_destroy(conv->engine);
	mem_free(conv);
}

size_t onednn_conv_scratch(const struct onednn_conv *conv)
{
	return (conv->scratch_bytes + sizeof(float) - 1) / sizeof(float);
}

bool onednn_conv_in_first(const struct onednn_conv *conv)
{
	return conv->layout->pointwise_in_first && conv->shape.size == 1;
}

int onednn_conv_run(struct onednn_conv *conv, enum onednn_pass pass, int worker,
	const struct onednn_arrays *arrays)
{
	float *const data[ARGS] = {arrays->in, arrays->weights, arrays->out, arrays->scratch};
	struct worker *own = conv->worker + worker;
	dnnl_exec_arg_t arguments[ARGS];
	dnnl_status_t status = dnnl_success;
	int count = 0;

	for (int a = 0; a < ARGS && own->memory[pass][a] && status == dnnl_success; a++) {
		status = dnnl_memory_set_data_handle(own->memory[pass][a], data[a]);
		arguments[count++] =
			(dnnl_exec_arg_t){passes_known[pass].arguments[a], own->memory[pass][a]};
	}
	const int threads = omp_get_max_threads();
	omp_set_num_threads(1);
	if (status == dnnl_success)
		status = dnnl_primitive_execute(
			conv->passes[pass].primitive, own->stream, count, arguments);
	if (status == dnnl_success)
		status = dnnl_stream_wait(own->stream);
	omp_set_num_threads(threads);
	return status == dnnl_success ? 0 : -1;
}
