/* The numbers of the page's charts as tables: a file for each, a row for each point of a line. */
#include "report/curves_csv.h"

#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "report/curves.h"

static const struct {
	const char *file;
	struct {
		const char *name; /* NULL: no more */
		enum curve_kind kind;
	} lines[4];
} tables[] = {
	{"ir", {{"ir", CURVE_IR}, {"ir_sgd", CURVE_IR_SGD}}},
	{"le", {{"le", CURVE_LE}, {"recent", CURVE_RECENT}, {"blind", CURVE_BLIND}}},
	{"lr", {{"lr", CURVE_RATE}}},
	{"sigma", {{"sigma", CURVE_SIGMA}}},
	{"loss", {{"val_loss_ma", CURVE_LOSS}, {"val_loss_sgd", CURVE_LOSS_SGD}}},
	{"ft", {{"ft", CURVE_FT}, {"ft_sgd", CURVE_FT_SGD}}},
	{"gamma", {{"window1", CURVE_WINDOW1}, {"window2", CURVE_WINDOW2}}},
};

static void add_quoted(struct text *out, const char *name)
{
	text_add(out, "\"");
	for (; *name; name++)
		text_addf(out, *name == '"' ? "\"%c" : "%c", *name);
	text_add(out, "\"");
}

static void add_number(struct text *out, double number, char end)
{
	char words[TEXT_NUMBER];

	text_from_double(words, number);
	text_addf(out, "%s%c", words, end);
}

static int add_line(struct text *out, const struct run_set *set, int group, const char *name,
	enum curve_kind kind, struct err *err)
{
	struct curve curve;
	const int code = curve_make(&curve, set, group, kind, err);

	for (size_t i = 0; i < curve.count && !code; i++) {
		add_quoted(out, set->groups[group].name);
		text_addf(out, ",%s,", name);
		add_number(out, curve.x[i], ',');
		add_number(out, curve.mean[i], ',');
		add_number(out, curve.low[i], ',');
		add_number(out, curve.high[i], '\n');
	}
	curve_release(&curve);
	return code;
}

static int write_table(const char *folder, size_t table, const struct run_set *set, struct err *err)
{
	struct text path = {0}, out = {0};
	int code = 0;

	text_addf(&path, "%s/%s.csv", folder, tables[table].file);
	text_add(&out, "method,line,iteration,mean,least,most\n");
	for (int group = 0; group < set->group_count && !code; group++)
		for (int i = 0; tables[table].lines[i].name && !code; i++)
			code = add_line(&out, set, group, tables[table].lines[i].name,
				tables[table].lines[i].kind, err);
	if (!code && (path.failed || out.failed))
		code = err_memory(err, folder, out.capacity);
	if (!code)
		code = file_write(path.data, out.data, out.size, err);
	text_release(&path);
	text_release(&out);
	return code;
}

int curves_csv(const char *folder, const struct run_set *set, struct err *err)
{
	int code = file_make_folder(folder, err);

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables) && !code; i++)
		code = write_table(folder, i, set, err);
	return code;
}
