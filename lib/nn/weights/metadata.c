/*
 * Reads and writes the metadata of weights files. A file is untrusted: every word is checked, and
 * error messages repeat none that a terminal could obey.
 */
#include "nn/weights/metadata.h"

#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <retain.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/words/decimal.h"
#include "base/json.h"
#include "base/json_write.h"

enum { FORMAT = 1, LOG_MOST = 1000 };

#define FORMAT_KEY    "retain.format"
#define ARCH_KEY      "retain.arch"
#define NORM_KEY      "retain.norm"
#define CLASSES_KEY   "retain.classes"
#define INPUT_KEY     "retain.input"
#define NAMES_KEY     "retain.class_names"
#define ITERATION_KEY "retain.iteration"
#define VERSION_KEY   "retain.version"
#define TARGET_KEY    "retain.target"
#define NUMBER_KEY    "retain.number_scale"
#define LOGS_KEY      "retain.class_logs"
#define NUMBERS_KEY   "retain.numbers"

static int fault(
	const struct safetensors *file, const char *key, const char *problem, struct err *err)
{
	return err_set(err, ERR_FORMAT, "%s: metadata %s %s", safetensors_path(file), key, problem);
}

/* Digits only; moves *text behind them. */
static int read_number(int64_t *number, const char **text, int64_t least, int64_t most)
{
	int64_t value = 0;

	if (**text < '0' || **text > '9')
		return -1;
	for (; **text >= '0' && **text <= '9'; ++*text)
		if (__builtin_mul_overflow(value, 10, &value) ||
			__builtin_add_overflow(value, **text - '0', &value))
			return -1;
	*number = value;
	return value < least || value > most ? -1 : 0;
}

/* Comma-separated positive numbers, exactly count of them. */
static int read_numbers(
	int **numbers, int count, const struct safetensors *file, const char *key, struct err *err)
{
	const char *next = safetensors_get(file, key);
	int64_t number;

	for (int i = 0; next && i < count; i++) {
		if (read_number(&number, &next, 1, INT_MAX) ||
			*next != (i + 1 < count ? ',' : '\0'))
			return fault(file, key,
				count == 1 ? "should be a positive number"
					   : "should be positive numbers, comma-separated",
				err);
		*numbers[i] = (int)number;
		next++;
	}
	return 0;
}

/* A name that error sentences can repeat: not long, no blanks, nothing a terminal would obey. */
static int read_word(
	const char **word, const struct safetensors *file, const char *key, struct err *err)
{
	*word = safetensors_get(file, key);
	for (const char *c = *word; c && *c; c++)
		if (*c <= ' ' || *c > '~' || c - *word >= 200)
			return fault(file, key, "should be a plain word", err);
	return 0;
}

static int check_format(const struct safetensors *file, struct err *err)
{
	const char *text = safetensors_get(file, FORMAT_KEY);
	int64_t format;

	if (!text)
		return 0;
	if (read_number(&format, &text, 1, INT64_MAX) || *text)
		return fault(file, FORMAT_KEY, "should be a positive number", err);
	if (format > FORMAT)
		return err_set(err, ERR_FORMAT,
			"%s: its metadata has format %" PRId64
			", a later retain's; this one, " RETAIN_VERSION ", reads formats up to %d",
			safetensors_path(file), format, FORMAT);
	return 0;
}

int metadata_spec(struct net_spec *spec, const struct safetensors *file, struct err *err)
{
	int *classes[] = {&spec->classes};
	int *input[] = {&spec->channels, &spec->height, &spec->width};

	memset(spec, 0, sizeof(*spec));
	int code = check_format(file, err);
	if (!code)
		code = read_word(&spec->arch, file, ARCH_KEY, err);
	if (!code)
		code = read_word(&spec->norm, file, NORM_KEY, err);
	if (!code)
		code = read_numbers(classes, 1, file, CLASSES_KEY, err);
	if (!code)
		code = read_numbers(input, 3, file, INPUT_KEY, err);
	return code;
}

static int check_whole(const struct net_spec *spec, const struct safetensors *file, struct err *err)
{
	if (!spec->arch && !spec->norm && !spec->classes && !spec->channels)
		return err_set(err, ERR_INPUT,
			"%s: was not saved by retain: its metadata does not say which net the "
			"weights belong to",
			safetensors_path(file));
	const char *missing = !spec->arch       ? ARCH_KEY
			      : !spec->norm     ? NORM_KEY
			      : !spec->classes  ? CLASSES_KEY
			      : !spec->channels ? INPUT_KEY
						: NULL;
	return missing ? fault(file, missing, "is missing", err) : 0;
}

static int read_iteration(int64_t *iteration, const struct safetensors *file, struct err *err)
{
	const char *text = safetensors_get(file, ITERATION_KEY);

	*iteration = -1;
	if (text && (read_number(iteration, &text, 0, INT64_MAX) || *text))
		return fault(file, ITERATION_KEY, "should be a number", err);
	return 0;
}

static int copy_names(struct metadata *metadata, const struct jvalue *list,
	const struct safetensors *file, struct arena *arena, struct err *err)
{
	const size_t count = (size_t)metadata->spec.classes;

	if (jvalue_kind(list) != JVALUE_LIST || jvalue_count(list) != count)
		return fault(file, NAMES_KEY, "should be a list of one string per class", err);
	const char **names = arena_new(arena, count, sizeof(*names));
	if (!names)
		return err_memory(err, "class names", count * sizeof(*names));
	for (size_t i = 0; i < count; i++) {
		const char *name = jvalue_text(jvalue_at(list, i));
		if (!name)
			return fault(
				file, NAMES_KEY, "should be a list of one string per class", err);
		names[i] = arena_text(arena, name);
		if (!names[i])
			return err_memory(err, "a class name", strlen(name) + 1);
	}
	metadata->class_names = names;
	return 0;
}

/* The list that a key holds; NULL if it is absent. */
static int read_list(
	struct jvalue **list, const struct safetensors *file, const char *key, struct err *err)
{
	const char *text = safetensors_get(file, key);
	struct text where = {0};
	int code;

	*list = NULL;
	if (!text)
		return 0;
	text_addf(&where, "%s: metadata %s", safetensors_path(file), key);
	code = where.failed ? err_memory(err, "a path", strlen(safetensors_path(file)))
			    : jvalue_read(list, text, strlen(text), where.data, err);
	text_release(&where);
	return code;
}

static int read_names(struct metadata *metadata, const struct safetensors *file,
	struct arena *arena, struct err *err)
{
	struct jvalue *list;
	int code = read_list(&list, file, NAMES_KEY, err);

	metadata->class_names = NULL;
	if (!code && list)
		code = copy_names(metadata, list, file, arena, err);
	jvalue_free(list);
	return code;
}

static int copy_logs(struct metadata *metadata, const struct jvalue *list,
	const struct safetensors *file, struct arena *arena, struct err *err)
{
	const size_t count = (size_t)metadata->spec.classes;
	float *logs = arena_new(arena, count, sizeof(*logs));
	bool right = jvalue_kind(list) == JVALUE_LIST && jvalue_count(list) == count;
	double log = 0;

	if (!logs)
		return err_memory(err, "weights of classes", count * sizeof(*logs));
	for (size_t i = 0; right && i < count; i++) {
		right = jvalue_number(jvalue_at(list, i), &log) && fabs(log) < LOG_MOST;
		logs[i] = (float)log;
	}
	metadata->class_logs = logs;
	return right ? 0 : fault(file, LOGS_KEY, "should be a list of a number per class", err);
}

static int read_logs(struct metadata *metadata, const struct safetensors *file, struct arena *arena,
	struct err *err)
{
	struct jvalue *list;
	int code = read_list(&list, file, LOGS_KEY, err);

	metadata->class_logs = NULL;
	if (!code && list)
		code = copy_logs(metadata, list, file, arena, err);
	jvalue_free(list);
	return code;
}

/* The next of comma-separated numbers; *words moves behind it. */
static bool next_number(const char **words, double *number)
{
	const size_t size = *words ? strcspn(*words, ",") : 0;

	if (!size || !decimal_number(*words, size, number))
		return false;
	*words += size + ((*words)[size] == ',');
	return fabs(*number) <= (double)FLT_MAX;
}

static bool read_scales(const char *words, struct number_scales *scales)
{
	double mean, factor;

	for (int k = 0; k < scales->width; k++) {
		if (!next_number(&words, &mean) || !next_number(&words, &factor) || factor < 0)
			return false;
		scales->each[k] = (struct number_scale){(float)mean, (float)factor};
	}
	return !*words;
}

/* Files of classes have no word about it. */
static int read_target(struct metadata *metadata, const struct safetensors *file, struct err *err)
{
	const char *target = safetensors_get(file, TARGET_KEY);
	const char *numbers = safetensors_get(file, NUMBERS_KEY);
	struct number_scales *scales = &metadata->number_scales;

	metadata->target = target ? target_kind(target) : TARGET_CLASS;
	metadata->numbers = numbers;
	*scales = (struct number_scales){0};
	if (!target)
		return 0;
	if (metadata->target != TARGET_NUMBER)
		return fault(file, TARGET_KEY, "should be number", err);
	scales->width = numbers ? numbers_count(numbers) : 1;
	if (!scales->width)
		return fault(file, NUMBERS_KEY, "should be a count or names of numbers", err);
	if (metadata->spec.classes != NUMBER_OUTPUTS * scales->width)
		return fault(file, CLASSES_KEY, "does not fit targets that are numbers", err);
	if (!read_scales(safetensors_get(file, NUMBER_KEY), scales))
		return fault(file, NUMBER_KEY,
			"should be a mean and a factor for each number, comma-separated", err);
	return 0;
}

int metadata_read(struct metadata *metadata, const struct safetensors *file, struct arena *arena,
	struct err *err)
{
	int code = metadata_spec(&metadata->spec, file, err);

	if (!code)
		code = check_whole(&metadata->spec, file, err);
	if (!code)
		code = read_iteration(&metadata->iteration, file, err);
	if (!code)
		code = read_names(metadata, file, arena, err);
	if (!code)
		code = read_target(metadata, file, err);
	if (!code)
		code = read_logs(metadata, file, arena, err);
	metadata->schema = safetensors_get(file, METADATA_SCHEMA);
	return code;
}

static int add_names(struct text *list, const struct metadata *metadata, struct err *err)
{
	struct jwriter json = {.out = list, .dense = true};

	jwriter_list(&json, NULL);
	for (int i = 0; i < metadata->spec.classes; i++)
		jwriter_text(&json, NULL, metadata->class_names[i] ? metadata->class_names[i] : "");
	jwriter_end(&json);
	return list->failed ? err_memory(err, "class names", list->size) : 0;
}

static int add_logs(struct text *list, const struct metadata *metadata, struct err *err)
{
	struct jwriter json = {.out = list, .dense = true};

	jwriter_list(&json, NULL);
	for (int i = 0; i < metadata->spec.classes; i++)
		jwriter_number(&json, NULL, (double)metadata->class_logs[i]);
	jwriter_end(&json);
	return list->failed ? err_memory(err, "weights of classes", list->size) : 0;
}

static void add_numbers(struct metadata_notes *notes, const struct metadata *metadata)
{
	const struct number_scales *scales = &metadata->number_scales;

	for (int k = 0; k < scales->width; k++)
		text_addf(&notes->number_scale, "%s%.9g,%.9g", k ? "," : "",
			(double)scales->each[k].mean, (double)scales->each[k].factor);
	notes->rows[notes->count++] = (struct safetensors_note){TARGET_KEY, target_number.name};
	notes->rows[notes->count++] =
		(struct safetensors_note){NUMBER_KEY, notes->number_scale.data};
	if (metadata->numbers)
		notes->rows[notes->count++] =
			(struct safetensors_note){NUMBERS_KEY, metadata->numbers};
}

int metadata_notes_init(
	struct metadata_notes *notes, const struct metadata *metadata, struct err *err)
{
	const struct net_spec *spec = &metadata->spec;

	memset(notes, 0, sizeof(*notes));
	snprintf(notes->format, sizeof(notes->format), "%d", FORMAT);
	snprintf(notes->classes, sizeof(notes->classes), "%d", spec->classes);
	snprintf(notes->input, sizeof(notes->input), "%d,%d,%d", spec->channels, spec->height,
		spec->width);
	snprintf(notes->iteration, sizeof(notes->iteration), "%" PRId64, metadata->iteration);
	int code = metadata->class_names ? add_names(&notes->class_names, metadata, err) : 0;

	if (!code && metadata->class_logs)
		code = add_logs(&notes->class_logs, metadata, err);
	const struct safetensors_note rows[] = {
		{"format", "pt"}, /* PyTorch's tools ask for it */
		{FORMAT_KEY, notes->format},
		{ARCH_KEY, spec->arch},
		{NORM_KEY, spec->norm},
		{CLASSES_KEY, notes->classes},
		{INPUT_KEY, notes->input},
		{ITERATION_KEY, notes->iteration},
		{VERSION_KEY, RETAIN_VERSION},
	};
	memcpy(notes->rows, rows, sizeof(rows));
	notes->count = (int)(sizeof(rows) / sizeof(rows[0]));
	if (metadata->class_names)
		notes->rows[notes->count++] =
			(struct safetensors_note){NAMES_KEY, notes->class_names.data};
	if (metadata->class_logs)
		notes->rows[notes->count++] =
			(struct safetensors_note){LOGS_KEY, notes->class_logs.data};
	if (metadata->target == TARGET_NUMBER)
		add_numbers(notes, metadata);
	if (metadata->schema)
		notes->rows[notes->count++] =
			(struct safetensors_note){METADATA_SCHEMA, metadata->schema};
	if (!code && notes->number_scale.failed)
		code = err_memory(err, "the scale of numbers", notes->number_scale.size);
	return code;
}

void metadata_notes_release(struct metadata_notes *notes)
{
	text_release(&notes->class_names);
	text_release(&notes->class_logs);
	text_release(&notes->number_scale);
}
