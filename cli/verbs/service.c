/*
 * A single learner is a service of one; a file with sections is read twice: its sections, then
 * the keys of each.
 */
#include "service.h"

#include <stdio.h>
#include <string.h>

#include "base/words/ini_read.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/text.h"
#include "config/app_config.h"
#include "streams/source.h"

#include "cli/brought.h"
#include "cli/crew.h"
#include "cli/settings.h"

static const char SECTION[] = "learner ";

struct reading {
	struct service *service;
	const char *file;
	struct service_learner own; /* words of [serve] */
};

static int add_word(struct service_learner *learner, const char *word, struct err *err)
{
	const size_t count = (size_t)learner->word_count + 1;
	char **more = mem_resize(learner->words, count, sizeof(*more));

	if (!more)
		return err_memory(err, "a setting", count * sizeof(*more));
	learner->words = more;
	more[learner->word_count] = mem_text(word);
	if (!more[learner->word_count])
		return err_memory(err, "a setting", strlen(word));
	learner->word_count++;
	return 0;
}

static int set_text(char **place, const char *words, struct err *err)
{
	mem_free(*place);
	*place = mem_text(words);
	return *place ? 0 : err_memory(err, "a path", strlen(words));
}

static struct service_learner *find(struct service *service, const char *name)
{
	for (int i = 0; i < service->count; i++)
		if (!strcmp(service->learners[i].name, name))
			return &service->learners[i];
	return NULL;
}

static int make_learner(struct service *service, const char *name, struct err *err)
{
	int code = serve_name_check(name, err);

	if (!code && service->count == SERVE_MOST)
		code = err_set(err, ERR_INPUT, "there are more than %d learners", SERVE_MOST);
	if (!code)
		code = set_text(&service->learners[service->count].name, name, err);
	service->count += !code;
	return code;
}

static int set_key(struct service_learner *learner, const char *section, const char *name,
	const char *value, struct err *err)
{
	char word[4096];

	if (!section && !strcmp(name, "out"))
		return set_text(&learner->out, value, err);
	if (!section && !strcmp(name, "config"))
		return set_text(&learner->config, value, err);
	if (!section && !strcmp(name, "model"))
		return set_text(&learner->model, value, err);
	if (!section && !strchr(name, '.'))
		return err_set(err, ERR_INPUT,
			"%s: no such key; there are out, config and model, and all that retain "
			"config lists, as section.key",
			name);
	if (snprintf(word, sizeof(word), "%s%s%s=%s", section ? section : "", section ? "." : "",
		    name, value) >= (int)sizeof(word))
		return err_set(err, ERR_INPUT, "%s: its value is too long", name);
	return add_word(learner, word, err);
}

static int take_value(void *context, const char *section, const char *name, const char *value,
	int line, struct err *err)
{
	struct reading *reading = context;
	const bool learner = !strncmp(section, SECTION, sizeof(SECTION) - 1);
	const char *whose = learner ? section + sizeof(SECTION) - 1 : "";
	struct err why = {0};
	int code = 0;

	if (learner && !find(reading->service, whose))
		code = make_learner(reading->service, whose, &why);
	if (!code && !learner && strcmp(section, "serve") != 0)
		code = err_set(&why, ERR_INPUT,
			"[%s]: beside [learner NAME] only [serve] can stand; keys of a learner go "
			"into its section, as %s.KEY = VALUE",
			section, section);
	if (!code && name)
		code = set_key(learner ? find(reading->service, whose) : &reading->own,
			learner ? NULL : section, name, value, &why);
	return code ? err_set(err, code, "%s:%d: %s", reading->file, line, why.message) : 0;
}

static int look_for_learners(void *several, const char *section, const char *name,
	const char *value, int line, struct err *err)
{
	if (!strncmp(section, SECTION, sizeof(SECTION) - 1))
		*(bool *)several = true;
	return 0;
}

/* The verb's own settings, the learner's, and what the command line says for all. */
static int resolve(const struct service_wish *wish, const char *file,
	const struct service_learner *learner, struct options **options, struct err *err)
{
	const struct setting settings[] = {{"stream.source", SOURCE_LIVE},
		{"serve.listen", wish->listen}, {"serve.follow", wish->follow},
		{"run.method", wish->method}, {0}};
	const int own = learner ? learner->word_count : 0, more = wish->settings->count;
	const char **words = mem_new((size_t)(own + more) + 1, sizeof(*words));
	int code;

	if (!words)
		return err_memory(err, "settings", (size_t)(own + more) * sizeof(*words));
	for (int i = 0; i < own; i++)
		words[i] = learner->words[i];
	for (int i = 0; i < more; i++)
		words[own + i] = wish->settings->items[i];
	code = app_config_make(options, file, settings, words, own + more, err);
	mem_free(words);
	return code;
}

static int choose_folder(
	struct service_learner *learner, const struct service_wish *wish, struct err *err)
{
	if (learner->model && learner->out)
		return err_set(err, ERR_INPUT, "out: a model that does not learn needs no folder");
	if (learner->out || learner->model)
		return 0;
	learner->out = path_join(wish->out ? wish->out : "runs", learner->name);
	return learner->out ? 0 : err_memory(err, "a path", strlen(learner->name));
}

static int resolve_learner(
	struct service_learner *learner, const struct service_wish *wish, struct err *err)
{
	struct err why = {0};
	int code = choose_folder(learner, wish, &why);

	if (!code)
		code = resolve(wish, learner->config, learner, &learner->options, &why);
	return code ? err_set(err, code, "%s: [learner %s]: %s", wish->what, learner->name,
			      why.message)
		    : 0;
}

static int read_several(struct service *service, const struct service_wish *wish, struct err *err)
{
	struct reading reading = {.service = service, .file = wish->what};
	struct service_wish plain = *wish;
	int code = ini_read_file(wish->what, take_value, &reading, err);

	plain.method = NULL;
	if (!code)
		code = resolve(&plain, NULL, &reading.own, &service->options, err);
	for (int i = 0; i < reading.own.word_count; i++)
		mem_free(reading.own.words[i]);
	mem_free(reading.own.words);
	for (int i = 0; i < service->count && !code; i++)
		code = resolve_learner(&service->learners[i], wish, err);
	return code;
}

static int read_one(struct service *service, const struct service_wish *wish, struct err *err)
{
	const bool model = wish->what && path_ends(wish->what, ".safetensors");
	struct service_learner *learner = &service->learners[0];
	int code = resolve(wish, model ? NULL : wish->what, NULL, &service->options, err);

	service->count = 1;
	if (!code)
		code = set_text(&learner->name, options_text(service->options, "serve.name"), err);
	if (!code && model)
		code = set_text(&learner->model, wish->what, err);
	if (!code && !model && wish->out)
		code = set_text(&learner->out, wish->out, err);
	return code;
}

static void make_items(struct service *service, const struct service_wish *wish)
{
	for (int i = 0; i < service->count; i++) {
		struct service_learner *learner = &service->learners[i];
		struct serve_item *item = &service->items[i];

		item->name = learner->name;
		item->options = learner->options ? learner->options : service->options;
		item->model = learner->model;
		item->folder = learner->out;
		item->log = wish->log;
		if (learner->model || *options_text(item->options, "serve.follow"))
			continue;
		learner->run = (struct run_config){.options = item->options,
			.folder = learner->out,
			.start = RUN_RESUME,
			.peers = service->several ? NULL
						  : crew_lead(item->options, wish->ranks_anyway),
			.maker = brought_net(),
			.log = wish->log,
			.advice_diverged =
				"--set run.on_nan=rollback goes on from it at half the rate"};
		learner->page = (struct page){(const char *const *)&learner->out, 1};
		item->run = &learner->run;
		item->page = page_serve(&learner->page);
	}
}

int service_open(struct service *service, const struct service_wish *wish, struct err *err)
{
	int code = 0;

	*service = (struct service){0};
	if (wish->what && !path_is_folder(wish->what) && !path_ends(wish->what, ".safetensors"))
		code = ini_read_file(wish->what, look_for_learners, &service->several, err);
	if (!code)
		code = (service->several ? read_several : read_one)(service, wish, err);
	if (code)
		service_release(service);
	else
		make_items(service, wish);
	return code;
}

void service_release(struct service *service)
{
	options_free(service->options);
	for (int i = 0; i < SERVE_MOST; i++) {
		struct service_learner *learner = &service->learners[i];

		for (int k = 0; k < learner->word_count; k++)
			mem_free(learner->words[k]);
		mem_free(learner->words);
		mem_free(learner->name);
		mem_free(learner->out);
		mem_free(learner->config);
		mem_free(learner->model);
		options_free(learner->options);
	}
}
