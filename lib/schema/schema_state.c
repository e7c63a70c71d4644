/* The columns a state was saved with: a net cannot continue with others. */
#include <stdbool.h>
#include <string.h>

#include "schema/schema.h"

enum { NAME_MOST = 64 };

static const char what_then[] =
	"The data changed since, or another version of retain reads it otherwise: go on with "
	"what it was then, or begin anew (--force)";

static const char *kind_name(int kind)
{
	return kind >= SCHEMA_NUMBER && kind <= SCHEMA_TIME ? schema_kinds[kind] : "nothing known";
}

static void column_state(const struct schema_column *column, struct state *state)
{
	char name[NAME_MOST] = {0}, was[NAME_MOST];
	int64_t inputs = (int64_t)column->inputs;
	int kind = (int)column->kind;

	strncpy(name, column->name, sizeof(name) - 1);
	memcpy(was, name, sizeof(was));
	state_bytes(state, "name", was, sizeof(was));
	state_int(state, "kind", &kind);
	state_int64(state, "inputs", &inputs);
	if (state_failed(state))
		return;
	if (memcmp(was, name, sizeof(was)))
		state_refuse(state, ERR_INPUT,
			"was saved with a column \"%.*s\" where now is \"%s\". %s", NAME_MOST - 1,
			was, name, what_then);
	else if (kind != (int)column->kind || inputs != (int64_t)column->inputs)
		state_refuse(state, ERR_INPUT,
			"was saved when column \"%s\" was a %s (inputs: %lld); now it is a %s "
			"(%zu). "
			"%s",
			name, kind_name(kind), (long long)inputs, kind_name((int)column->kind),
			column->inputs, what_then);
}

void schema_same_state(const struct schema *schema, struct state *state)
{
	const int now = schema_count(schema);
	int count = now;

	state_enter(state, "columns");
	state_int(state, "count", &count);
	if (!state_failed(state) && count != now)
		state_refuse(state, ERR_INPUT, "was saved with %d columns; now there are %d. %s",
			count, now, what_then);
	for (int i = 0; i < now; i++)
		column_state(schema_column(schema, i), state);
	state_leave(state);
}
