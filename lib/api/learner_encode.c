/*
 * Encodes rows of named values as inputs of a learner. The first row makes the schema, all rows
 * extend it; so calls take turns, and the order of rows matters.
 */
#include "api/learner_impl.h"
#include "base/json.h"
#include "schema/schema.h"

/* Where nothing has told the size of inputs yet, rows do. */
static int check_size(struct retain_learner *learner, const struct schema *schema, struct err *err)
{
	if (!session_learns(learner->session)) {
		const int code = program_shape(learner->session, schema_floats(schema), err);

		if (code)
			return code;
		api_learner_reshape(learner);
	}
	if (schema_first_floats(schema) == (size_t)learner->session->learner.channels)
		return 0;
	return err_set(err, ERR_INPUT, "rows make %zu numbers, and an input has %d (model.input)",
		schema_first_floats(schema), learner->session->learner.channels);
}

/* The first row says what rows are. */
static int make_schema(struct retain_learner *learner, const struct jvalue *row, struct err *err)
{
	const struct schema_sizes sizes = schema_sizes(learner->options);
	struct run *run = learner->run;
	struct schema *made;
	int code = schema_of_row(&made, &sizes, row, err);

	if (!code)
		code = check_size(learner, made, err);
	if (code)
		schema_free(made);
	else
		run->schema = made;
	if (!code)
		session_limit_schema(learner->session);
	return code;
}

/* A row may have brought fields that inputs have no numbers for yet. */
static int learn_row(struct retain_learner *learner, const struct jvalue *row, struct err *err)
{
	struct session *s = learner->session;
	int code = schema_learn_row(s->run.schema, row, err);

	if (code || !session_wide(s))
		return code;
	code = session_widen(s, schema_floats(s->run.schema), err);
	api_learner_reshape(learner);
	return code;
}

static int encode(struct retain_learner *learner, bool learn, const struct jvalue *row,
	float *input, size_t floats, struct err *err)
{
	struct run *run = learner->run;
	int code;

	if (!run->schema && !learn)
		return err_set(err, ERR_STATE, "no row was encoded yet, so there is no schema");
	code = run->schema ? check_size(learner, run->schema, err) : make_schema(learner, row, err);
	if (!code && learn)
		code = learn_row(learner, row, err);
	if (code || !input)
		return code;
	if (floats != run->floats)
		return err_set(err, ERR_INPUT, "floats = %zu: an input has %zu%s", floats,
			run->floats,
			floats < run->floats && floats >= schema_first_floats(run->schema)
				? "; new fields came"
				: "");
	return schema_encode_row(run->schema, row, input, floats, NULL, err);
}

/* A call of the name `who`, whose arguments are there. */
static int encode_text(const char *who, struct retain_learner *learner, bool learn, const char *row,
	size_t length, float *input, size_t floats, struct err *err)
{
	struct jvalue *value = NULL;
	struct err why = {0};
	int code = 0;

	if (!input && floats)
		code = err_set(err, ERR_INPUT, "%s: floats = %zu: must be 0 where input is NULL",
			who, floats);
	if (!code)
		code = jvalue_read(&value, row, length, "row", err);
	if (!code)
		code = api_learner_enter(learner, who, err);
	if (code) {
		jvalue_free(value);
		return code;
	}
	code = encode(learner, learn, value, input, floats, &why);
	api_learner_leave(learner);
	jvalue_free(value);
	return code ? err_set(err, code, "%s: %s", who, why.message) : 0;
}

int retain_learner_encode(struct retain_learner *learner, const char *row, size_t length,
	float *input, size_t floats, struct retain_err *err)
{
	const int code = ARGS_CHECK(err, ARG(learner), ARG(row));

	return code ? code
		    : encode_text(__func__, learner, true, row, length, input, floats, inner(err));
}

int retain_learner_encode_known(struct retain_learner *learner, const char *row, size_t length,
	float *input, size_t floats, struct retain_err *err)
{
	const int code = ARGS_CHECK(err, ARG(learner), ARG(row), ARG(input));

	return code ? code
		    : encode_text(__func__, learner, false, row, length, input, floats, inner(err));
}
