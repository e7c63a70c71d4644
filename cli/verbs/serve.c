/* `retain serve`: a learner, or a model, over HTTP. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/mem.h"
#include "base/paths.h"
#include "config/app_defaults.h"
#include "report/report.h"
#include "serve/serve.h"

#include "cli/adopt.h"
#include "cli/args.h"
#include "cli/brought.h"
#include "cli/cli.h"
#include "cli/open.h"
#include "cli/settings.h"
#include "cli/watch.h"
#include "service.h"

struct request {
	const char *what, *out, *listen, *follow, *method;
	struct arg_list settings;
	bool open, quiet, ranks_anyway;
};

static void show_message(void *context, enum log_level level, const char *message)
{
	(void)context;
	say("%s: %s", log_level_name(level), message);
}

/* A connection is a descriptor; as many as may be. */
static void allow_descriptors(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static void print_ready(
	const struct request *request, const struct service *service, const struct serve *serve)
{
	if (!request->quiet) {
		printf("retain: %s  (dashboard /, metrics /metrics, description /openapi.json)\n",
			serve_url(serve));
		for (int i = 0; i < service->count && service->several; i++)
			printf("retain: %s/%s/\n", serve_url(serve), service->items[i].name);
		for (int i = 0; i < service->count; i++)
			if (*serve_lines(serve, i))
				printf("retain: lines at %s\n", serve_lines(serve, i));
		fflush(stdout);
	}
	if (request->open)
		open_in_browser(serve_url(serve));
}

/* Those that had an input are runs now, and have a page. */
static int make_reports(const struct service *service, struct err *err)
{
	int code = 0;

	for (int i = 0; i < service->count && !code; i++) {
		const char *out = service->learners[i].out;
		char *config = out ? path_join(out, "config.ini") : NULL;

		if (config && path_exists(config))
			code = report_folder(out, err);
		mem_free(config);
	}
	return code;
}

static int go(const struct request *request, const struct service *service)
{
	const struct serve_config config = {
		.options = service->options, .items = service->items, .count = service->count};
	struct serve *serve;
	struct err err = {0};
	int code = serve_open(&serve, &config, &err);

	if (code)
		return complain(code == ERR_INPUT ? EXIT_USAGE : EXIT_FAILED, "%s", err.message);
	print_ready(request, service, serve);
	code = serve_go(serve, watch_stop(), &err);
	serve_close(serve);
	if (!code)
		code = make_reports(service, &err);
	if (code)
		return complain(EXIT_FAILED, "%s", err.message);
	if (!request->quiet && service->several)
		printf("Saved. Go on with the same command.\n");
	else if (!request->quiet && service->items[0].run)
		printf("Saved. Go on with: %s serve %s\n", brought_words(), request->out);
	return EXIT_OK;
}

static int start(const struct request *request, bool model, struct service *service)
{
	const struct service_wish wish = {request->what, request->out, request->listen,
		request->follow, request->method, &request->settings,
		{.write = show_message, .most = LOG_NOTE}, request->ranks_anyway};
	struct err err = {0};
	bool same;
	int code = request->out && !request->follow
			   ? adopt_folder(request->out, NULL, &request->settings, &same, &err)
			   : 0;

	if (!code)
		code = service_open(service, &wish, &err);
	if (code)
		return complain(EXIT_USAGE, "%s", err.message);
	if (!model && !request->out && !service->several && service->items[0].run)
		return complain(
			EXIT_USAGE, "serve: needs a folder (--out DIR), in which samples are kept");
	watch_interrupts();
	allow_descriptors();
	return go(request, service);
}

static bool holds_run(const char *folder)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/config.ini", folder);
	return path_exists(path);
}

int cmd_serve(int argc, char **argv)
{
	struct request request = {0};
	const struct arg rows[] = {
		{"out", "DIR",
			"the learner's folder: new, or goes on where it stopped; of several: above "
			"theirs",
			.text = &request.out},
		{"listen", "ADDRESS", "HOST:PORT or unix:PATH; see retain config serve",
			.text = &request.listen},
		{"set", "KEY=VALUE", "set one key; see retain config; may be repeated",
			.list = &request.settings},
		{"target", "KIND", "what labels are: class or number", .list = &request.settings,
			.key = "model.target"},
		{"follow", "URL", "answer by a copy of another service, and learn nothing",
			.text = &request.follow},
		SETTINGS_ANSWERS(request.settings),
		{"method", "NAME", "a bundle of keys; see retain methods", .text = &request.method},
		{"open", NULL, "show the dashboard in the browser", .flag = &request.open},
		{"quiet", NULL, "only warnings", .flag = &request.quiet},
		{"ranks-anyway", NULL, "under mpirun: share even what one process does faster",
			.flag = &request.ranks_anyway},
		{0},
	};
	const struct args args = {"retain serve", "[CONFIG | DIR | MODEL.safetensors]",
		"Learns and answers over HTTP: predictions, labels whenever they come, a "
		"dashboard.\n"
		"Nothing need be set: the first input says what inputs are, and classes come\n"
		"with their labels. CONFIG has keys, or [learner NAME] sections for several\n"
		"learners. DIR is a folder that --out made; a MODEL only answers, and so does a\n"
		"copy of another service (--follow). See docs/guide/serve.md.",
		rows, .example = "retain serve --out runs/shop"};
	struct service *service;
	bool model;
	int status = args_read(&args, &argc, argv);

	if (status != ARGS_GO_ON)
		return status;
	if (argc > 2)
		return complain(EXIT_USAGE, "%s: one CONFIG, DIR or MODEL is enough", argv[2]);
	request.what = argv[1];
	model = request.what && path_ends(request.what, ".safetensors");
	if (request.what && !path_is_folder(request.what) && app_is_data(request.what))
		return complain(EXIT_USAGE,
			"%s: is data; learn it first by retain run %s, then serve the run's folder",
			request.what, request.what);
	if (request.what && path_is_folder(request.what) && !request.out)
		request.out = request.what;
	/* A folder goes on by its own config, whoever made it. */
	if (!request.what && request.out && holds_run(request.out))
		request.what = request.out;
	if (model && request.out)
		return complain(EXIT_USAGE, "--out: a model that does not learn needs no folder");
	service = mem_new(1, sizeof(*service));
	if (!service)
		return complain(EXIT_FAILED, "out of memory");
	status = start(&request, model, service);
	service_release(service);
	mem_free(service);
	return status;
}
