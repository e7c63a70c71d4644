/* `retain serve`: a learner, or a model, over HTTP. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/paths.h"
#include "report/report.h"
#include "serve/serve.h"

#include "args.h"
#include "cli.h"
#include "crew.h"
#include "open.h"
#include "page.h"
#include "settings.h"
#include "watch.h"

struct request {
	const char *what, *out, *listen, *method;
	struct arg_list settings;
	bool open, quiet;
};

static void show_message(void *context, enum log_level level, const char *message)
{
	(void)context;
	fprintf(stderr, "retain: %s: %s\n", log_level_name(level), message);
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

static void print_ready(const struct request *request, const struct serve *serve)
{
	if (!request->quiet) {
		printf("retain: %s  (dashboard /, metrics /metrics, description /openapi.json)\n",
			serve_url(serve));
		if (*serve_lines(serve))
			printf("retain: lines at %s\n", serve_lines(serve));
		fflush(stdout);
	}
	if (request->open)
		open_in_browser(serve_url(serve));
}

static int go(const struct request *request, const struct serve_config *config)
{
	struct serve *serve;
	struct run_result result = {0};
	struct err err = {0};
	int code = serve_open(&serve, config, &err);

	if (code)
		return complain(code == ERR_INPUT ? EXIT_USAGE : EXIT_FAILED, "%s", err.message);
	print_ready(request, serve);
	code = serve_go(serve, watch_stop(), &result, &err);
	serve_close(serve);
	if (!code && request->out)
		code = report_folder(request->out, &err);
	if (code)
		return complain(EXIT_FAILED, "%s", err.message);
	if (!request->quiet && request->out)
		printf("Saved. Go on with: retain serve %s\n", request->out);
	return EXIT_OK;
}

static int serve_learner(const struct request *request, const struct options *options)
{
	const struct page page = {&request->out, 1};
	const struct run_config run = {.options = options,
		.folder = request->out,
		.start = RUN_RESUME,
		.ranks = crew_lead(options),
		.log = {.write = show_message, .most = LOG_WARN},
		.advice_diverged = "--set run.on_nan=rollback goes on from it at half the rate"};
	const struct serve_config config = {
		.options = options, .run = &run, .page = page_serve(&page)};

	return go(request, &config);
}

static int serve_model(const struct request *request, const struct options *options)
{
	const struct serve_config config = {.options = options, .model = request->what};

	return go(request, &config);
}

static int resolve(
	const struct request *request, bool model, struct options **options, struct err *err)
{
	const struct setting settings[] = {{"stream.source", "stdin"},
		{"serve.listen", request->listen}, {"run.method", request->method}, {0}};

	return settings_resolve(
		options, model ? NULL : request->what, settings, &request->settings, err);
}

int cmd_serve(int argc, char **argv)
{
	struct request request = {0};
	const struct arg rows[] = {
		{"out", "DIR", "the learner's folder: new, or goes on where it stopped",
			.text = &request.out},
		{"listen", "ADDRESS", "HOST:PORT or unix:PATH; see retain config serve",
			.text = &request.listen},
		{"set", "KEY=VALUE", "set one key; see retain config; may be repeated",
			.list = &request.settings},
		{"method", "NAME", "a bundle of keys; see retain methods", .text = &request.method},
		{"open", NULL, "show the dashboard in the browser", .flag = &request.open},
		{"quiet", NULL, "only warnings", .flag = &request.quiet},
		{0},
	};
	const struct args args = {"retain serve", "[CONFIG | DIR | MODEL.safetensors]",
		"Learns and answers over HTTP: predictions, labels whenever they come, a "
		"dashboard.\n"
		"DIR is a folder that --out made; a MODEL only answers. See docs/serve.md.",
		rows, .example = "retain serve shop.ini --out runs/shop"};
	struct options *options = NULL;
	struct err err = {0};
	bool model;
	int status = args_read(&args, &argc, argv);

	if (status != ARGS_GO_ON)
		return status;
	if (argc > 2)
		return complain(EXIT_USAGE, "%s: one CONFIG, DIR or MODEL is enough", argv[2]);
	request.what = argv[1];
	model = request.what && path_ends(request.what, ".safetensors");
	if (request.what && path_is_folder(request.what) && !request.out)
		request.out = request.what;
	if (!model && !request.out)
		return complain(
			EXIT_USAGE, "serve: needs a folder (--out DIR), in which samples are kept");
	if (model && request.out)
		return complain(EXIT_USAGE, "--out: a model that does not learn needs no folder");
	if (resolve(&request, model, &options, &err))
		return complain(EXIT_USAGE, "%s", err.message);
	watch_interrupts();
	allow_descriptors();
	status = (model ? serve_model : serve_learner)(&request, options);
	options_free(options);
	return status;
}
