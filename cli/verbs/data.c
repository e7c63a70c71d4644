/* `retain data`: what a source contains, how it looks, and manifests of its cuts. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/json_write.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "cli/settings.h"
#include "data_table.h"
#include "inspect/data_info.h"
#include "inspect/data_sheet.h"
#include "inspect/data_split.h"
#include "log/run_log.h"

#define SET_ROW(settings)                                                                          \
	{                                                                                          \
		"set", "KEY=VALUE", "set one key, as stream.order=tasks:10; may be repeated",      \
			.list = &(settings)                                                        \
	}

/* The options for the one operand. */
static int resolve(struct options **options, const struct arg_list *settings, int argc, char **argv,
	struct err *err)
{
	*options = NULL;
	if (argc != 2)
		return err_set(err, ERR_INPUT,
			"one SOURCE is needed, as folder:PATH, or PATH (retain list shows all "
			"kinds)");
	return settings_resolve(options, NULL,
		(const struct setting[]){{"stream.source", argv[1]}, {0}}, settings, err);
}

/* Seconds since 1970, or thousandths or millionths of them, as a day, where they can be that. */
static void print_time(int64_t time)
{
	const time_t seconds = (time_t)(time > 100000000000000 ? time / 1000000
					: time > 100000000000  ? time / 1000
							       : time);
	struct tm day;
	char words[32];

	printf("%" PRId64, time);
	if (seconds > 100000000 && seconds < 4102444800 && gmtime_r(&seconds, &day) &&
		strftime(words, sizeof(words), "%Y-%m-%d %H:%M", &day))
		print(" (%s)", words);
}

static void print_pictures(const struct data_info *info)
{
	printf("  %-12s %d x %d x %d numbers for the net", "samples", info->source.channels,
		info->source.height, info->source.width);
	if (info->looked)
		printf("; images from %d x %d to %d x %d, %.0f kB on average", info->least_width,
			info->least_height, info->most_width, info->most_height,
			info->mean_bytes / 1000);
	putchar('\n');
}

static void print_numbers(const struct data_info *info)
{
	char words[3][RUN_LOG_GROUPED];

	printf("\n  %-9s        from        to      mean\n",
		source_width(&info->source) > 1 ? "the first" : "over time");
	for (int i = 0; i < DATA_PARTS; i++) {
		const struct data_part *part = &info->parts[i];

		if (part->numbers)
			print("  %3d-%3d %%  %10s%10s%10s\n", 100 * i / DATA_PARTS,
				100 * (i + 1) / DATA_PARTS, run_log_quantity(words[0], part->low),
				run_log_quantity(words[1], part->high),
				run_log_quantity(words[2], part->mean));
	}
}

static void print_balance(const struct data_info *info)
{
	if (info->source.target == TARGET_NUMBER) {
		print_numbers(info);
		return;
	}
	printf("\n  over time    classes  new  most frequent\n");
	for (int i = 0; i < DATA_PARTS; i++) {
		printf("  %3d-%3d %%    ", 100 * i / DATA_PARTS, 100 * (i + 1) / DATA_PARTS);
		if (info->parts[i].classes)
			print("%7d  %3d  %s with %.1f %%\n", info->parts[i].classes,
				info->parts[i].fresh, info->parts[i].name,
				100 * info->parts[i].most_share);
		else
			printf("      –    –  –\n");
	}
}

static void print_reading(const struct data_info *info)
{
	char read[RUN_LOG_GROUPED];

	if (!info->records)
		return;
	print("\n  %s records were looked at; %s\n", run_log_grouped(read, info->read),
		info->bad ? "these cannot be read:" : "all of them can be read");
	for (int i = 0; i < DATA_FAULTS && i < info->bad; i++)
		print("    %s\n", info->faults[i]);
	if (info->bad > DATA_FAULTS)
		printf("    and %" PRId64 " more\n", info->bad - DATA_FAULTS);
	if (info->left_out.count)
		printf("  %zu files are left out, being no image in a class's folder:\n",
			info->left_out.count);
	for (size_t i = 0; i < DATA_FAULTS && i < info->left_out.count; i++)
		print("    %s\n", name_list_at(&info->left_out, i));
	if (info->left_out.count > DATA_FAULTS)
		printf("    and %zu more\n", info->left_out.count - DATA_FAULTS);
	if (*info->digest)
		print("  digest       %s\n", info->digest);
}

/* What to do about a stream that has no time step. */
static void print_advice(const struct data_info *info)
{
	if (info->source.steps < 10 && info->source.samples < 1000 && info->records)
		printf("\n  %" PRId64
		       " samples are few. With stream.per_step=1 each is a time step; a small net "
		       "(model.arch=linear) needs the fewest.\n",
			info->source.samples);
}

/* Classes and how many samples they have, or the range of numbers. */
static void print_labels(const struct data_info *info)
{
	char grouped[2][RUN_LOG_GROUPED];

	if (info->source.target == TARGET_NUMBER) {
		if (source_width(&info->source) > 1)
			printf("  %-12s %d numbers; the first is from %g to %g\n", "labels",
				source_width(&info->source), info->least, info->most);
		else
			printf("  %-12s a number, from %g to %g\n", "label", info->least,
				info->most);
		return;
	}
	printf("  %-12s %d, with %s to %s samples of the stream", "classes", info->classes,
		run_log_grouped(grouped[0], info->smallest),
		run_log_grouped(grouped[1], info->largest));
	if (info->classes < info->source.classes)
		print("; %d of the numbers 0 to %d never come%s",
			info->source.classes - info->classes, info->source.classes - 1,
			info->source.classes - info->classes == 1 ? "s" : "");
	putchar('\n');
}

static void print_info(const struct data_info *info, const struct table_info *table)
{
	char grouped[RUN_LOG_GROUPED];

	print("%s", info->kind);
	if (info->records)
		print(", %s records", run_log_grouped(grouped, info->records));
	print("\n  %-12s %s samples in ", "stream", run_log_grouped(grouped, info->source.samples));
	if (info->source.per_step && !info->source.steps)
		printf("less than a time step of %d\n", info->source.per_step);
	else if (info->source.per_step)
		print("%s time steps of %d\n", run_log_grouped(grouped, info->source.steps),
			info->source.per_step);
	else
		printf("%d tasks, a time step each\n", info->source.tasks);
	print("  %-12s %s samples\n", "evaluation", run_log_grouped(grouped, info->source.evals));
	print_pictures(info);
	print_labels(info);
	if (info->timed) {
		printf("  %-12s ", "time");
		print_time(info->first_time);
		printf(" to ");
		print_time(info->last_time);
		putchar('\n');
	}
	if (table->count)
		data_table_print(table);
	print_balance(info);
	print_reading(info);
	print_advice(info);
}

static int print_json(const struct data_info *info, const struct table_info *table, struct err *err)
{
	struct text words = {0};
	struct jwriter json = {.out = &words};

	jwriter_table(&json, NULL);
	jwriter_text(&json, "kind", info->kind);
	jwriter_whole(&json, "records", info->records);
	jwriter_whole(&json, "samples", info->source.samples);
	jwriter_whole(&json, "evals", info->source.evals);
	jwriter_whole(&json, "steps", info->source.steps);
	jwriter_whole(&json, "per_step", info->source.per_step);
	jwriter_text(&json, "target", target_types[info->source.target]->name);
	if (info->source.target == TARGET_NUMBER) {
		jwriter_number(&json, "least", info->least);
		jwriter_number(&json, "most", info->most);
	} else {
		jwriter_whole(&json, "classes", info->source.classes);
		jwriter_whole(&json, "smallest_class", info->smallest);
		jwriter_whole(&json, "largest_class", info->largest);
	}
	jwriter_whole(&json, "channels", info->source.channels);
	jwriter_whole(&json, "height", info->source.height);
	jwriter_whole(&json, "width", info->source.width);
	jwriter_whole(&json, "read", info->read);
	jwriter_whole(&json, "bad", info->bad);
	jwriter_list(&json, "left_out");
	for (size_t i = 0; i < info->left_out.count; i++)
		jwriter_text(&json, NULL, name_list_at(&info->left_out, i));
	jwriter_end(&json);
	jwriter_text(&json, "digest", info->digest);
	if (table->count)
		data_table_write(table, &json);
	return print_json_line(stdout, &json, err);
}

static void on_progress(void *context, int64_t done, int64_t total)
{
	struct progress *progress = context;

	progress->state.total = (uint64_t)total;
	progress_update(progress, (uint64_t)done);
}

static int info_verb(int argc, char **argv)
{
	struct arg_list settings = {0};
	struct options *options;
	bool check = false, json = false;
	int threads = 0;
	const struct arg rows[] = {
		{"check", NULL, "read and decode everything, and print a digest of it",
			.flag = &check},
		{"threads", "N", "threads that read; 0: one per processor", .integer = &threads,
			.most = 1024},
		SET_ROW(settings),
		SETTINGS_COLUMNS(settings),
		{"json", NULL, "one line of JSON", .flag = &json},
		{0},
	};
	const struct args args = {"retain data info", "SOURCE",
		"Counts the samples and classes of a source, and names what is broken.", rows,
		.example = "retain data info clicks.csv"};
	struct progress progress;
	struct data_info info = {0};
	struct table_info table = {0};
	struct err err = {0};
	const int status = args_read(&args, &argc, argv);
	int code;

	if (status != ARGS_GO_ON)
		return status;
	code = resolve(&options, &settings, argc, argv, &err);
	if (!code) {
		progress_begin(&progress, check && !json ? stderr : NULL, "reading", 1);
		code = data_info(&info, options, check, threads, on_progress, &progress, &err);
		if (check && !code)
			progress_end(&progress);
	}
	if (!code && info.table)
		code = table_info(&table, options, false, &err);
	if (!code && json)
		code = print_json(&info, &table, &err);
	else if (!code)
		print_info(&info, &table);
	table_info_release(&table);
	data_info_release(&info);
	if (!code && info.bad && check) {
		settings_leave(options, 0, NULL);
		return EXIT_FAILED;
	}
	return settings_leave(options, code, &err);
}

static int show_verb(int argc, char **argv)
{
	struct arg_list settings = {0};
	struct options *options;
	struct sheet_config sheet = {.columns = 12, .rows = 8, .size = 96, .path = "sheet.png"};
	const struct arg rows[] = {
		{"out", "FILE", "the PNG to write", .text = &sheet.path},
		{"columns", "N", "samples in a row", .integer = &sheet.columns, .least = 1,
			.most = 100},
		{"rows", "N", "rows", .integer = &sheet.rows, .least = 1, .most = 100},
		{"size", "N", "pixels a side of a sample", .integer = &sheet.size, .least = 16,
			.most = 512},
		SET_ROW(settings),
		{0},
	};
	const struct args args = {"retain data show", "SOURCE",
		"Paints samples of a source, in the order of time, with their labels.", rows,
		.example = "retain data show idx:mnist"};
	struct text left_out = {0};
	struct err err = {0};
	const int status = args_read(&args, &argc, argv);
	int code, shown;

	if (status != ARGS_GO_ON)
		return status;
	if (argc != 2)
		return complain(EXIT_USAGE, "one SOURCE is needed, as folder:PATH, or PATH");
	/* Colours as they are, and as many pictures as can be had. */
	const struct setting keys[] = {{"stream.source", argv[1]}, {"image.mean", "0"},
		{"image.std", "1"}, {"stream.on_bad", "skip"}, {"stream.max_bad", "1"}, {0}};
	code = settings_resolve(&options, NULL, keys, &settings, &err);
	if (!code)
		code = data_sheet(&sheet, options, &shown, &left_out, &err);
	if (!code)
		print("%d sample%s, in the order of time: %s\n", shown, shown == 1 ? "" : "s",
			sheet.path);
	if (left_out.size && !left_out.failed)
		print("%s\n", left_out.data);
	text_release(&left_out);
	return settings_leave(options, code, &err);
}

static int index_verb(int argc, char **argv)
{
	struct arg_list settings = {0};
	struct options *options;
	const struct arg rows[] = {SET_ROW(settings), {0}};
	const struct args args = {"retain data index", "SOURCE",
		"Makes the index of a data set, so that it opens faster from then on.", rows,
		.example = "retain data index folder:photos"};
	struct data_info info = {0};
	struct err err = {0};
	const int status = args_read(&args, &argc, argv);
	char grouped[RUN_LOG_GROUPED];
	int code;

	if (status != ARGS_GO_ON)
		return status;
	code = resolve(&options, &settings, argc, argv, &err);
	if (!code)
		code = data_info(&info, options, false, 0, NULL, NULL, &err);
	if (!code)
		print("%s: %s records\n", info.kind, run_log_grouped(grouped, info.records));
	data_info_release(&info);
	return settings_leave(options, code, &err);
}

static int split_verb(int argc, char **argv)
{
	struct arg_list settings = {0};
	struct options *options;
	const char *out = NULL;
	const struct arg rows[] = {
		{"out", "DIR", "where the manifests go", .text = &out},
		SET_ROW(settings),
		{0},
	};
	const struct args args = {"retain data split", "SOURCE",
		"Writes stream.csv, eval.csv and prepare.csv, cut as stream.* keys say.", rows,
		.example = "retain data split table:clicks.csv --out parts"};
	struct data_split split;
	struct err err = {0};
	const int status = args_read(&args, &argc, argv);
	int code;

	if (status != ARGS_GO_ON)
		return status;
	if (!out)
		return complain(EXIT_USAGE, "--out DIR is needed: where the manifests go");
	code = resolve(&options, &settings, argc, argv, &err);
	if (!code)
		code = data_split(&split, options, out, &err);
	if (!code)
		print("%s: stream.csv %" PRId64 ", eval.csv %" PRId64 ", prepare.csv %" PRId64
		      " records\n",
			out, split.stream, split.eval, split.prepare);
	return settings_leave(options, code, &err);
}

int cmd_data(int argc, char **argv)
{
	static const struct verb verbs[] = {
		{"info", info_verb, "counts, classes, times, sizes, what is broken, a digest"},
		{"show", show_verb, "a contact sheet of samples over time"},
		{"index", index_verb, "make the index that opening needs"},
		{"split", split_verb, "write manifests: evaluation, preparation, rare classes"},
		{0},
	};

	return verb_run("retain data", "Looks into data sets.", verbs, argc, argv);
}
