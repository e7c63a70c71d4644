/*
 * Reads experiments. Sections come in any order and may be reopened; references are resolved
 * after the whole file was read, in experiment_look_up.c.
 */
#include "contest/experiment.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/words/ini_read.h"
#include "base/text.h"
#include "contest/experiment_impl.h"
#include "base/words/nearest.h"
#include "base/paths.h"

struct reading {
	struct experiment *made;
	struct rule_words rules[EXPERIMENT_RULES];
};

struct place {
	const char *section; /* its first word */
	const char *name;    /* and its second; "": none */
	const char *key, *value;
	int line;
};

static int complain_at(
	const struct reading *reading, const struct place *place, struct err *err, const char *what)
{
	return err_set(
		err, ERR_INPUT, "%s:%d: %s %s", reading->made->path, place->line, place->key, what);
}

static int keep(struct experiment *e, const char *words, const char **out, struct err *err)
{
	*out = arena_text(&e->texts, words);
	return *out ? 0 : err_memory(err, "an experiment", strlen(words));
}

static int add_setting(struct reading *reading, struct experiment_settings *settings,
	const struct place *place, struct err *err)
{
	struct text setting = {0};
	int code;

	if (settings->count == EXPERIMENT_SETTINGS)
		return complain_at(reading, place, err, "is one setting too many");
	text_addf(&setting, "%s=%s", place->key, place->value);
	code = setting.failed
		       ? err_memory(err, "an experiment", strlen(place->value))
		       : keep(reading->made, setting.data, &settings->items[settings->count], err);
	text_release(&setting);
	settings->count += !code;
	return code;
}

/* A key without a dot: one of a section's own. */
struct own_key {
	const char *name;
	const char **value;
};

static int set_own(struct reading *reading, const struct own_key *keys, const struct place *place,
	struct err *err)
{
	const char *nearest = nearest_name(place->key, &keys->name, sizeof(*keys));

	for (const struct own_key *key = keys; key->name; key++)
		if (!strcmp(key->name, place->key)) {
			if (*key->value)
				return complain_at(reading, place, err, "stands here twice");
			return keep(reading->made, place->value, key->value, err);
		}
	return err_set(err, ERR_INPUT, "%s:%d: %s: no such key in [%s]%s%s%s", reading->made->path,
		place->line, place->key, place->section, nearest ? "; did you mean " : "",
		nearest ? nearest : "", nearest ? "?" : "");
}

static int read_experiment(struct reading *reading, const struct place *place, struct err *err)
{
	struct experiment *e = reading->made;
	const struct own_key keys[] = {{"title", &e->title}, {"figure", &e->figure},
		{"claim", &e->claim}, {"note", &e->note}, {"seeds", &e->seeds}, {"show", &e->show},
		{"differ", &e->differ}, {0}};

	return set_own(reading, keys, place, err);
}

static int read_base(struct reading *reading, const struct place *place, struct err *err)
{
	return add_setting(reading, &reading->made->base, place, err);
}

/*
 * The place of the section's name in a list of `count` things of `size` bytes, which begin
 * with their name; it is added if it is new. Negative: an error's code.
 */
static int name_place(struct reading *reading, void *list, size_t size, int *count, int most,
	const struct place *place, struct err *err)
{
	char words[64];
	int at = 0, code;

	while (at < *count &&
		strcmp(*(const char **)((char *)list + (size_t)at * size), place->name) != 0)
		at++;
	if (at < *count)
		return at;
	snprintf(words, sizeof(words), "is of one %s too many", place->section);
	if (at == most)
		return complain_at(reading, place, err, words);
	code = keep(
		reading->made, place->name, (const char **)((char *)list + (size_t)at * size), err);
	*count += !code;
	return code ? code : at;
}

static int read_scale(struct reading *reading, const struct place *place, struct err *err)
{
	struct experiment *e = reading->made;
	const int at = name_place(reading, e->scales, sizeof(*e->scales), &e->scale_count,
		EXPERIMENT_SCALES, place, err);
	struct experiment_scale *scale = &e->scales[at < 0 ? 0 : at];

	if (at < 0)
		return at;
	if (strchr(place->key, '.'))
		return add_setting(reading, &scale->settings, place, err);
	return set_own(reading,
		(const struct own_key[]){{"about", &scale->about}, {"seeds", &scale->seeds},
			{"config", &scale->config}, {"sources", &scale->sources},
			{"variants", &scale->variants}, {"moment", &scale->moment}, {0}},
		place, err);
}

/* A folder's name, too. */
static bool good_name(const char *name)
{
	return *name && *name != '.' && *name != '-' && !strpbrk(name, "/{},;") &&
	       strlen(name) < 64;
}

static int read_extra(struct reading *reading, const struct place *place, struct err *err)
{
	struct experiment *e = reading->made;
	const int at = name_place(reading, e->extras, sizeof(*e->extras), &e->extra_count,
		EXPERIMENT_EXTRAS, place, err);

	if (at < 0)
		return at;
	if (!strchr(place->key, '.'))
		return complain_at(reading, place, err, "is not a setting: those have a dot");
	return add_setting(reading, &e->extras[at].settings, place, err);
}

static int read_variant(struct reading *reading, const struct place *place, struct err *err)
{
	struct experiment *e = reading->made;

	if (strstr(place->name, EXPERIMENT_AT))
		return read_extra(reading, place, err);

	const int at = name_place(reading, e->variants, sizeof(*e->variants), &e->variant_count,
		EXPERIMENT_VARIANTS, place, err);

	if (at < 0)
		return at;
	if (strchr(place->key, '.'))
		return add_setting(reading, &e->variants[at].settings, place, err);
	return set_own(reading, (const struct own_key[]){{"title", &e->variants[at].title}, {0}},
		place, err);
}

static int read_rule(struct reading *reading, const struct place *place, struct err *err)
{
	struct experiment *e = reading->made;
	const int at = name_place(
		reading, e->rules, sizeof(*e->rules), &e->rule_count, EXPERIMENT_RULES, place, err);

	if (at < 0)
		return at;
	struct rule_words *words = &reading->rules[at];
	const struct own_key keys[] = {{"text", &e->rules[at].text}, {"metric", &words->metric},
		{"of", &words->of}, {"against", &words->against},
		{"against_metric", &words->against_metric}, {"less", &words->less},
		{"least", &words->least}, {"most", &words->most}, {0}};

	return set_own(reading, keys, place, err);
}

static const struct {
	const char *name;
	bool named; /* [variant NAME], not [base] */
	int (*read)(struct reading *reading, const struct place *place, struct err *err);
} sections[] = {
	{"experiment", false, read_experiment},
	{"base", false, read_base},
	{"scale", true, read_scale},
	{"variant", true, read_variant},
	{"rule", true, read_rule},
};

static int read_value(void *context, const char *section, const char *name, const char *value,
	int line, struct err *err)
{
	struct reading *reading = context;
	char words[128];
	char *second;

	snprintf(words, sizeof(words), "%s", section);
	second = strchr(words, ' ');
	if (second)
		*second++ = '\0';
	while (second && *second == ' ')
		second++;
	const struct place place = {words, second ? second : "", name, value, line};

	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
		if (strcmp(words, sections[i].name) != 0 || sections[i].named != !!second)
			continue;
		if (second && !good_name(second))
			return err_set(err, ERR_INPUT, "%s:%d: [%s]: not a good name",
				reading->made->path, line, section);
		return name ? sections[i].read(reading, &place, err) : 0;
	}
	return err_set(err, ERR_INPUT,
		"%s:%d: [%s]: an experiment has [experiment], [base], [scale NAME], [variant NAME] "
		"and [rule NAME]",
		reading->made->path, line, section);
}

int experiment_variant(const struct experiment *experiment, const char *name)
{
	for (int i = 0; i < experiment->variant_count; i++)
		if (!strcmp(experiment->variants[i].name, name))
			return i;
	return -1;
}

bool experiment_word(const char **words, char *out, size_t size)
{
	const char *at = *words;
	size_t length;

	while (*at == ',' || isspace((unsigned char)*at))
		at++;
	length = strcspn(at, ",");
	*words = at + length;
	while (length && isspace((unsigned char)at[length - 1]))
		length--;
	snprintf(out, size, "%.*s", (int)length, at);
	return length > 0;
}

int experiment_seeds(const char *words, int64_t seeds[EXPERIMENT_SEEDS], struct err *err)
{
	const char *at = words;
	char word[64], *end;
	int count = 0;

	for (; experiment_word(&at, word, sizeof(word)); count++) {
		if (count == EXPERIMENT_SEEDS)
			return err_set(err, ERR_INPUT, "%s: too many seeds", words);
		errno = 0;
		seeds[count] = strtoll(word, &end, 10);
		if (end == word || *end || errno || seeds[count] < 0)
			return err_set(err, ERR_INPUT, "seed %s: not a whole number", word);
		for (int i = 0; i < count; i++)
			if (seeds[i] == seeds[count])
				return err_set(err, ERR_INPUT, "seed %s: stands there twice", word);
	}
	return count ? count : err_set(err, ERR_INPUT, "seeds: there are none");
}

static int make(struct reading *reading, const char *path, struct err *err)
{
	char name[256];
	int code;

	reading->made = mem_new(1, sizeof(*reading->made));
	if (!reading->made)
		return err_memory(err, "an experiment", sizeof(*reading->made));
	snprintf(name, sizeof(name), "%s", path_name(path));
	if (strlen(name) > 4 && !strcmp(name + strlen(name) - 4, ".ini"))
		name[strlen(name) - 4] = '\0';
	code = keep(reading->made, path, &reading->made->path, err);
	return code ? code : keep(reading->made, name, &reading->made->name, err);
}

int experiment_read(struct experiment **experiment, const char *path, struct err *err)
{
	struct reading reading = {0};
	int code = make(&reading, path, err);

	*experiment = NULL;
	if (!code)
		code = ini_read_file(path, read_value, &reading, err);
	if (!code)
		code = experiment_look_up(reading.made, reading.rules, err);
	if (code)
		experiment_free(reading.made);
	else
		*experiment = reading.made;
	return code;
}

int experiment_new(
	struct experiment **experiment, const char *name, const char *title, struct err *err)
{
	struct reading reading = {0};
	int code = make(&reading, name, err);

	*experiment = NULL;
	if (!code)
		code = keep(reading.made, title, &reading.made->title, err);
	if (code)
		experiment_free(reading.made);
	else
		*experiment = reading.made;
	return code;
}

int experiment_add(struct experiment *experiment, const char *variant, const char *key,
	const char *value, struct err *err)
{
	struct reading reading = {.made = experiment};
	const struct place place = {"variant", variant, key, value, 0};
	int code, at;

	if (!good_name(variant))
		return err_set(err, ERR_INPUT, "%s: not a good name", variant);
	code = read_variant(&reading, &place, err);
	at = experiment_variant(experiment, variant);
	if (!code && !experiment->variants[at].title)
		experiment->variants[at].title = experiment->variants[at].name;
	return code;
}

int experiment_of_methods(struct experiment **experiment, const char *methods, struct err *err)
{
	struct experiment *made = NULL;
	char name[128];
	int code = experiment_new(&made, "methods", "Methods", err);

	*experiment = NULL;
	while (!code && experiment_word(&methods, name, sizeof(name)))
		code = experiment_variant(made, name) >= 0
			       ? err_set(err, ERR_INPUT, "method %s: stands there twice", name)
			       : experiment_add(made, name, "run.method", name, err);
	if (!code && !made->variant_count)
		code = err_set(err, ERR_INPUT, "--methods: there are none");
	if (code)
		experiment_free(made);
	else
		*experiment = made;
	return code;
}

void experiment_free(struct experiment *experiment)
{
	if (!experiment)
		return;
	arena_release(&experiment->texts);
	mem_free(experiment);
}
