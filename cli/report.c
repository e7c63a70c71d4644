/* `retain report`: a page, a single figure, or a page that follows its runs. */
#include <stdio.h>
#include <string.h>

#include "report/figure.h"
#include "report/report.h"
#include "report/report_watch.h"
#include "args.h"
#include "cli.h"
#include "open.h"
#include "watch.h"

struct request {
	const char *out, *svg;
	bool watch, open;
	int port;
};

static void print_ready(void *context, int port)
{
	const struct request *request = context;
	char address[64];

	snprintf(address, sizeof(address), "http://127.0.0.1:%d/", port);
	printf("Open %s: it follows the runs. Ctrl-C ends it.\n", address);
	fflush(stdout);
	if (request->open)
		open_in_browser(address);
}

static int watch(const struct request *request, char **paths, int count)
{
	const struct report_watch watch = {.paths = (const char *const *)paths,
		.count = count,
		.port = request->port,
		.ready = print_ready,
		.context = (void *)request,
		.stop = watch_stop()};
	struct err err = {0};

	watch_interrupts();
	if (report_watch(&watch, &err))
		return complain(EXIT_FAILED, "%s", err.message);
	return EXIT_OK;
}

/* Beside the run where there is one folder, else here. */
static int target(const struct request *request, char **paths, int count, struct text *out)
{
	if (request->out)
		text_add(out, request->out);
	else if (request->svg)
		text_addf(out, "%s.svg", request->svg);
	else if (count == 1)
		text_addf(out, "%s%sreport.html", paths[0],
			paths[0][strlen(paths[0]) - 1] == '/' ? "" : "/");
	else
		text_add(out, "report.html");
	return out->failed ? complain(EXIT_FAILED, "out of memory") : EXIT_OK;
}

static int write_svg(const char *path, const struct run_set *set, const char *name, struct err *err)
{
	struct text svg = {0};
	int code = figure_svg(&svg, set, name, err);

	if (!code)
		code = report_save(path, &svg, err);
	text_release(&svg);
	return code;
}

static void warn_left_out(const struct run_set *set)
{
	for (int i = 0; i < set->left_out_count; i++)
		fprintf(stderr, "retain: warning: left out: %s\n", set->left_out[i]);
}

static int write_to(const char *path, const struct request *request, const struct run_set *set)
{
	struct err err = {0};
	int code;

	if (request->svg)
		code = write_svg(path, set, request->svg, &err);
	else
		code = report_write(path, set, &err);
	if (code)
		return complain(code == ERR_INPUT ? EXIT_USAGE : EXIT_FAILED, "%s", err.message);
	printf("Wrote %s: %d run%s.\n", path, set->count, set->count == 1 ? "" : "s");
	if (request->open)
		open_in_browser(path);
	return EXIT_OK;
}

static int write_report(const struct request *request, char **paths, int count)
{
	struct run_set *set;
	struct err err = {0};
	struct text out = {0};
	const int code = run_set_open(&set, (const char *const *)paths, count, &err);
	int status;

	if (code)
		return complain(code == ERR_INPUT ? EXIT_USAGE : EXIT_FAILED, "%s", err.message);
	warn_left_out(set);
	status = target(request, paths, count, &out);
	if (status == EXIT_OK)
		status = write_to(out.data, request, set);
	text_release(&out);
	run_set_close(set);
	return status;
}

static void print_figures(void)
{
	printf("\nFigures:\n");
	for (const struct figure *figure = figures; figure->name; figure++)
		printf("  %-8s  %s\n", figure->name, figure->help);
}

int cmd_report(int argc, char **argv)
{
	struct request request = {0};
	const struct arg rows[] = {
		{"out", "FILE", "what to write; else report.html in the one folder, or here",
			.text = &request.out},
		{"svg", "FIGURE", "write a single figure as SVG", .text = &request.svg},
		{"open", NULL, "show it in the browser", .flag = &request.open},
		{"watch", NULL, "serve a page on this machine that follows the runs",
			.flag = &request.watch},
		{"port", "N", "--watch: the port; 0: any", .integer = &request.port, .least = 0,
			.most = 65535},
		{0},
	};
	const struct args args = {"retain report", "RUN...",
		"Makes one HTML file that shows runs and needs no network. RUN is a run's folder, "
		"or\n"
		"one with such folders below it; runs that differ in their seeds only become a "
		"band.",
		rows};
	int status = args_read(&args, &argc, argv);

	if (status == EXIT_OK)
		print_figures();
	if (status != ARGS_GO_ON)
		return status;
	if (argc < 2)
		return complain(
			EXIT_USAGE, "report: which RUN? Give the folder of a run, or one above");
	if (request.svg && request.watch)
		return complain(EXIT_USAGE, "--svg and --watch: one at a time");
	if (request.watch && request.out)
		return complain(EXIT_USAGE, "--watch writes no file: leave out --out");
	return request.watch ? watch(&request, argv + 1, argc - 1)
			     : write_report(&request, argv + 1, argc - 1);
}
