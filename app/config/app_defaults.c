/*
 * Data are opened here only to inspect them: an index and a few pictures are read, and nothing is
 * kept.
 */
#include "config/app_defaults.h"

#include <stdio.h>
#include <string.h>

#include "base/paths.h"
#include "records/records.h"
#include "session/config/defaults.h"
#include "streams/sight.h"
#include "streams/source.h"

enum { TINY = 256 }; /* numbers of an array's picture that are learned as a row */

/*
 * Small pictures keep their size. Details of larger ones are learned from many of them only: a few
 * are seen as small as a small net learns them best. Of many, large nets want 224 pixels, which is
 * the view's default.
 */
static int seen_side(const struct records_info *info, struct sight sight)
{
	enum { FEW = 2000, MANY = 20000, FEW_SIDE = 32, SIDE = 64 };

	if (sight.side <= DEFAULTS_SMALL || info->form != RECORDS_IMAGE || info->count >= MANY)
		return sight.side;
	return info->count < FEW ? FEW_SIDE : SIDE;
}

/* As the net will see them. */
static int side_of(
	const struct options *options, const struct records_info *info, struct sight sight)
{
	return options_has(options, "image.size") && options_said(options, "image.size")
		       ? options_int(options, "image.size")
		       : seen_side(info, sight);
}

static int fill_size(struct options *options, const struct records_info *info, struct sight sight,
	struct err *err)
{
	const int seen = seen_side(info, sight);
	char side[16];
	int code = 0;

	snprintf(side, sizeof(side), "%d", seen);
	if (!seen || seen > DEFAULTS_SMALL)
		return 0;
	if (info->form == RECORDS_IMAGE)
		code = defaults_set(options, "image.size", side, err);
	if (!code && info->form == RECORDS_IMAGE && sight.same &&
		side_of(options, info, sight) == sight.side)
		code = defaults_set(options, "image.transform", "pad", err);
	snprintf(side, sizeof(side), "%d", (seen + 4) / 8);
	return code ? code : defaults_set(options, "image.pad", side, err);
}

/* What is grey is more often a sign, which has a right side and a left one, than a photo. */
static int fill_grey(struct options *options, struct err *err)
{
	const int code = defaults_set(options, "image.channels", "1", err);

	return code ? code : defaults_set(options, "image.flip", "false", err);
}

/* Whether there is nothing else to measure retention on. */
static bool evaluates_held(const struct options *options, const struct records_info *info)
{
	return !info->parted && !options_bool(options, "stream.drift") &&
	       (!options_said(options, "stream.eval") ||
		       !strcmp(options_text(options, "stream.eval"), "held"));
}

/* A few of many files are broken in most collections; of a small one that is a larger share. */
static int fill_bad(struct options *options, const struct records_info *info, struct err *err)
{
	enum { FEW = 10 };
	const double share = info->count > 10 * FEW ? (double)FEW / (double)info->count : 0.1;
	char most[TEXT_NUMBER];
	int code = defaults_set(options, "stream.on_bad", "skip", err);

	if (code || options_origin(options, "stream.on_bad") != ORIGIN_DATA ||
		share <= options_float(options, "stream.max_bad"))
		return code;
	text_from_double(most, share);
	return defaults_set(options, "stream.max_bad", most, err);
}

static int fill_pictures(struct options *options, struct records *records, struct err *err)
{
	const struct records_info *info = records_info(records);
	struct sight sight;
	int code = sight_pictures(&sight, records, err);

	if (!code)
		code = fill_size(options, info, sight, err);
	if (!code && sight.grey)
		code = fill_grey(options, err);
	if (!code && info->form == RECORDS_IMAGE)
		code = fill_bad(options, info, err);
	/* Class after class is the order of folders, not of time. */
	if (!code && info->form == RECORDS_IMAGE && !info->timed && sight_sorted(records))
		code = defaults_set(options, "stream.order", "random", err);
	return code ? code
		    : defaults_fill(options, defaults_of_pictures(side_of(options, info, sight)),
			      evaluates_held(options, info), err);
}

/* Retention is measured on what is held out, so that no row is missing from the stream. */
static int fill_evaluation(
	struct options *options, const struct records_info *info, struct err *err)
{
	if (info->parted || options_bool(options, "stream.drift") ||
		options_float(options, "replay.holdout") <= 0)
		return 0;
	return defaults_set(options, "stream.eval", "held", err);
}

static bool is_tiny(const struct records_info *info)
{
	return info->channels * info->height * info->width <= TINY;
}

/* Pixels are not scaled otherwise. */
static int fill_rows(struct options *options, const struct records_info *info, struct err *err)
{
	const int code = info->height * info->width > 1
				 ? defaults_set(options, "model.scale", "running", err)
				 : 0;

	return code ? code
		    : defaults_fill(options, DEFAULTS_ROWS, evaluates_held(options, info), err);
}

static int set_numbers(struct options *options, const char *names, struct err *err)
{
	const int code = names ? defaults_set(options, "model.numbers", names, err) : 0;

	return code ? code : defaults_set(options, "model.target", "number", err);
}

/* What labels are is known once all are read. What cannot be read is said later. */
static int fill_target(struct options *options, struct err *err)
{
	struct records *records;
	int code = 0;

	if ((strcmp(options_text(options, "model.target"), "auto") != 0 &&
		    !strchr(options_text(options, "table.label"), ',')) ||
		records_open(&records, options_text(options, "stream.source"), options, NULL))
		return 0;
	if (records_info(records)->numbers)
		code = set_numbers(options, records_number_names(records), err);
	records_close(records);
	return code;
}

/* Several columns of lines are known by what was said. */
static int fill_live(struct options *options, struct err *err)
{
	const char *label = options_text(options, "table.label");
	const bool several = strchr(label, ',') && numbers_count(label);
	const int code = several && strcmp(options_text(options, "model.target"), "class") != 0
				 ? set_numbers(options, label, err)
				 : 0;

	return code ? code
		    : defaults_fill(options,
			      defaults_of_input(options_text(options, "model.input")), true, err);
}

static int fill_stored(struct options *options, struct err *err)
{
	const struct records_info table = {0};
	const struct records_info *info;
	struct records *records;
	int code;

	if (records_tabular(options_text(options, "stream.source"))) {
		code = fill_target(options, err);
		if (code)
			return code;
		code = defaults_fill(options, DEFAULTS_ROWS, evaluates_held(options, &table), err);
		return code ? code : fill_evaluation(options, &table, err);
	}
	if (records_open(&records, options_text(options, "stream.source"), options, NULL))
		return 0;
	info = records_info(records);
	if (info->form == RECORDS_FLOATS && (info->height * info->width == 1 || is_tiny(info)))
		code = fill_rows(options, info, err);
	else
		code = fill_pictures(options, records, err);
	if (!code)
		code = fill_evaluation(options, info, err);
	records_close(records);
	return code;
}

bool app_is_data(const char *path)
{
	char config[4096];

	if (!strcmp(path, "-"))
		return true;
	snprintf(config, sizeof(config), "%s/config.ini", path);
	return !path_ends(path, ".ini") && !path_exists(config) &&
	       (records_likely(path) || path_is_folder(path));
}

int app_defaults(struct options *options, struct err *err)
{
	const char *source = options_text(options, "stream.source");

	if (!defaults_wanted(options))
		return 0;
	if (source_is_live(options))
		return fill_live(options, err);
	for (int i = 0; source_types[i]; i++)
		if (!strcmp(source_types[i]->name, source))
			return 0;
	return fill_stored(options, err);
}
