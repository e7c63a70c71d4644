/* `retain report`: a page, a single figure, or a page that follows its runs. */
#include <stdio.h>
#include <string.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/open.h"
#include "cli/page.h"
#include "cli/settings.h"
#include "cli/watch.h"
#include "report/curves_csv.h"
#include "report/figure.h"
#include "report/report.h"
#include "serve/serve.h"

struct request {
	const char *out, *svg, *csv;
	bool watch, open, safe_csv;
	int port;
};

static int serve_page(
	const struct request *request, const struct serve_config *config, struct err *err)
{
	struct serve *serve;
	int code = serve_open(&serve, config, err);

	if (code)
		return code;
	printf("Open %s/: it follows the runs. Ctrl-C ends it.\n", serve_url(serve));
	fflush(stdout);
	if (request->open)
		open_in_browser(serve_url(serve));
	code = serve_go(serve, watch_stop(), err);
	serve_close(serve);
	return code;
}

static int watch(const struct request *request, char **paths, int count)
{
	const struct page page = {(const char *const *)paths, count};
	char port[16];
	const struct setting settings[] = {{"serve.listen", port}, {0}};
	struct serve_item item = {.name = "report", .page = page_serve(&page)};
	struct serve_config config = {.items = &item, .count = 1};
	struct options *options = NULL;
	struct err err = {0};
	int code;

	snprintf(port, sizeof(port), "%d", request->port);
	watch_interrupts();
	code = page_check(&page, &err);
	if (!code)
		code = settings_resolve(&options, NULL, settings, NULL, &err);
	config.options = item.options = options;
	if (!code)
		code = serve_page(request, &config, &err);
	options_free(options);
	return code ? complain(EXIT_FAILED, "%s", err.message) : EXIT_OK;
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
		say("warning: left out: %s", set->left_out[i]);
}

static int write_csv(const char *folder, const struct run_set *set, bool safe)
{
	struct err err = {0};

	if (curves_csv(folder, set, safe, &err))
		return complain(EXIT_FAILED, "%s", err.message);
	printf("Wrote the charts of %d run%s as tables to %s.\n", set->count,
		set->count == 1 ? "" : "s", folder);
	return EXIT_OK;
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
	int code = run_set_open(&set, (const char *const *)paths, count, &err), status;

	if (!code && run_set_alike(set, &err)) {
		run_set_close(set);
		code = ERR_INPUT;
	}
	if (code)
		return complain(code == ERR_INPUT ? EXIT_USAGE : EXIT_FAILED, "%s", err.message);
	warn_left_out(set);
	status = request->csv ? write_csv(request->csv, set, request->safe_csv)
			      : target(request, paths, count, &out);
	if (status == EXIT_OK && !request->csv)
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
		{"csv", "DIR", "write the numbers of every chart there, a table each",
			.text = &request.csv},
		{"safe-csv", NULL, "no cell of a table is a formula to a spreadsheet",
			.flag = &request.safe_csv},
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
		rows, .example = "retain report runs/a runs/b --open"};
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
	if (request.csv && (request.svg || request.watch || request.out || request.open))
		return complain(
			EXIT_USAGE, "--csv writes tables only: leave out the other options");
	if (request.watch && request.out)
		return complain(EXIT_USAGE, "--watch writes no file: leave out --out");
	return request.watch ? watch(&request, argv + 1, argc - 1)
			     : write_report(&request, argv + 1, argc - 1);
}
