/*
 * Prints what there is to say about a model, for people and for programs. Text
 * out of a file is never passed on raw: a terminal might obey it.
 */
#include "model_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json_write.h"
#include "cli.h"

#define KEY_MOST   24  /* a longer key stands out of its column */
#define VALUE_MOST 200 /* bytes of metadata that are shown */

static bool is_control(const unsigned char *c)
{
	return *c < 0x20 || *c == 0x7f || (*c == 0xc2 && c[1] < 0xa0);
}

static void print_plain(const char *text)
{
	const unsigned char *begin = (const unsigned char *)text, *c;

	for (c = begin; *c && c - begin < VALUE_MOST; c++)
		if (is_control(c))
			printf("\\x%02x", *c);
		else
			putchar(*c);
	if (*c)
		printf("... (%zu bytes)", strlen(text));
}

/* "(64, 3, 7, 7)", cut where it does not fit. */
static const char *shape_text(char *text, size_t size, const struct model_tensor *tensor)
{
	size_t used = (size_t)snprintf(text, size, "(");

	for (int i = 0; i < tensor->dims && used < size; i++)
		used += (size_t)snprintf(
			text + used, size - used, "%s%" PRId64, i ? ", " : "", tensor->shape[i]);
	if (used < size)
		snprintf(text + used, size - used, ")");
	return text;
}

static void print_size(uint64_t bytes)
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
	double size = (double)bytes / 1024;
	int unit = 0;

	for (; size >= 1024 && unit < 3; unit++)
		size /= 1024;
	printf("%.1f %s (%" PRIu64 " bytes)\n", size, units[unit], bytes);
}

static void print_tensors(const struct model_info *info)
{
	int name_width = (int)strlen("tensor"), shape_width = (int)strlen("shape");
	char shape[96];

	for (int i = 0; i < info->tensors_count; i++) {
		const struct model_tensor *tensor = &info->tensors[i];
		int name = (int)strlen(tensor->name);
		int sizes = (int)strlen(shape_text(shape, sizeof(shape), tensor));
		name_width = name > name_width ? name : name_width;
		shape_width = sizes > shape_width ? sizes : shape_width;
	}
	printf("\n%-*s  %-*s  %-5s  %12s\n", name_width, "tensor", shape_width, "shape", "dtype",
		"numbers");
	for (int i = 0; i < info->tensors_count; i++) {
		const struct model_tensor *tensor = &info->tensors[i];
		printf("%-*s  %-*s  %-5s  %12" PRIu64 "\n", name_width, tensor->name, shape_width,
			shape_text(shape, sizeof(shape), tensor), tensor->dtype, tensor->count);
	}
}

static void print_key(const char *key, int width)
{
	print_plain(key);
	printf("%*s", width - (int)strlen(key) + 2, "");
}

static void print_facts(const struct model_info *info)
{
	int width = (int)strlen("parameters");

	for (int i = 0; i < info->notes_count; i++) {
		int key = (int)strlen(info->notes[i].key);
		width = key > width && key <= KEY_MOST ? key : width;
	}
	if (info->size) {
		print_key("size", width);
		print_size(info->size);
	}
	for (int i = 0; i < info->notes_count; i++) {
		print_key(info->notes[i].key, width);
		print_plain(info->notes[i].value);
		putchar('\n');
	}
	print_key("parameters", width);
	printf("%" PRIu64 "\n", info->parameters);
	if (info->statistics) {
		print_key("statistics", width);
		printf("%" PRIu64 "\n", info->statistics);
	}
	if (info->macs > 0) {
		print_key("macs", width);
		printf("%.4g million per sample\n", info->macs / 1e6);
	}
}

void model_print(const struct model_info *info)
{
	print_facts(info);
	print_tensors(info);
}

static void add_tensor(struct jwriter *json, const struct model_tensor *tensor)
{
	jwriter_table(json, NULL);
	jwriter_text(json, "name", tensor->name);
	jwriter_text(json, "dtype", tensor->dtype);
	jwriter_list(json, "shape");
	for (int i = 0; i < tensor->dims; i++)
		jwriter_whole(json, NULL, tensor->shape[i]);
	jwriter_end(json);
	jwriter_whole(json, "count", (int64_t)tensor->count);
	jwriter_end(json);
}

int model_print_json(const struct model_info *info, struct err *err)
{
	struct text words = {0};
	struct jwriter json = {.out = &words, .dense = true};

	jwriter_table(&json, NULL);
	if (info->size)
		jwriter_whole(&json, "bytes", (int64_t)info->size);
	if (info->macs > 0)
		jwriter_whole(&json, "macs", (int64_t)info->macs);
	jwriter_whole(&json, "parameters", (int64_t)info->parameters);
	jwriter_whole(&json, "statistics", (int64_t)info->statistics);
	jwriter_table(&json, "metadata");
	for (int i = 0; i < info->notes_count; i++)
		jwriter_text(&json, info->notes[i].key, info->notes[i].value);
	jwriter_end(&json);
	jwriter_list(&json, "tensors");
	jwriter_lines(&json);
	for (int i = 0; i < info->tensors_count; i++)
		add_tensor(&json, &info->tensors[i]);
	jwriter_end(&json);
	return print_json_line(stdout, &json, err);
}
