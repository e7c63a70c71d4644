/*
 * PNG by way of a program that can draw SVG: rsvg-convert where it is installed,
 * else Chromium. They are looked for along PATH; each works on files in a folder
 * that is made for it and removed after it.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "report/figure.h"

extern char **environ;

enum { WORDS = 16, WORD = 512 };

struct command {
	char words[WORDS][WORD];
	int count;
};

static void add(struct command *command, const char *before, const char *value, const char *after)
{
	snprintf(command->words[command->count++], WORD, "%s%s%s", before, value, after);
}

/* Two pixels for each unit. */
static void rsvg(struct command *command, const char *folder, const char *size)
{
	(void)size;
	add(command, "--zoom=2", "", "");
	add(command, "--output=", folder, "/figure.png");
	add(command, "", folder, "/figure.svg");
}

static void chromium(struct command *command, const char *folder, const char *size)
{
	add(command, "--headless", "", "");
	add(command, "--disable-gpu", "", "");
	add(command, "--hide-scrollbars", "", "");
	add(command, "--force-device-scale-factor=2", "", "");
	/* Its sandbox refuses root. What it is to draw is our own figure. */
	if (!geteuid())
		add(command, "--no-sandbox", "", "");
	add(command, "--user-data-dir=", folder, "/profile");
	add(command, "--window-size=", size, "");
	add(command, "--screenshot=", folder, "/figure.png");
	add(command, "file://", folder, "/figure.svg");
}

static const struct {
	const char *program;
	void (*arguments)(struct command *command, const char *folder, const char *size);
} converters[] = {
	{"rsvg-convert", rsvg},
	{"chromium", chromium},
	{"chromium-browser", chromium},
	{"google-chrome", chromium},
};

/* 0 when it ran and ended well; its own words go nowhere. */
static int run_command(struct command *command, int *status)
{
	posix_spawn_file_actions_t actions;
	char *argv[WORDS + 1] = {0};
	pid_t child;
	int code;

	for (int i = 0; i < command->count; i++)
		argv[i] = command->words[i];
	if (posix_spawn_file_actions_init(&actions))
		return ENOMEM;
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	code = posix_spawnp(&child, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (code)
		return code;
	while (waitpid(child, status, 0) < 0)
		if (errno != EINTR)
			return errno;
	return 0;
}

static int convert(const char *folder, const char *size, struct err *err)
{
	for (size_t i = 0; i < sizeof(converters) / sizeof(*converters); i++) {
		struct command command = {0};
		int status = 0;

		add(&command, converters[i].program, "", "");
		converters[i].arguments(&command, folder, size);
		if (run_command(&command, &status))
			continue;
		if (!WIFEXITED(status) || WEXITSTATUS(status))
			return err_set(err, ERR_STATE,
				"%s could not turn the figure into a PNG; "
				"--svg needs no other program",
				converters[i].program);
		return 0;
	}
	return err_set(err, ERR_STATE,
		"a PNG is made by rsvg-convert (Debian: librsvg2-bin) or chromium, and neither is "
		"installed; --svg needs neither");
}

/* Removes the folder and what Chromium left in it. */
static void remove_folder(const char *folder)
{
	struct command command = {0};
	int status;

	add(&command, "rm", "", "");
	add(&command, "-rf", "", "");
	add(&command, folder, "", "");
	run_command(&command, &status);
}

static int make_png(const char *path, const char *folder, const struct text *svg, struct err *err)
{
	char file[WORD], size[64] = "640,400";
	double width, height;
	const char *view = strstr(svg->data, "viewBox=\"0 0 ");
	char *bytes;
	size_t count;
	int code;

	if (view && sscanf(view, "viewBox=\"0 0 %lf %lf", &width, &height) == 2)
		snprintf(size, sizeof(size), "%.0f,%.0f", width, height);
	snprintf(file, sizeof(file), "%s/figure.svg", folder);
	code = file_write(file, svg->data, svg->size, err);
	if (!code)
		code = convert(folder, size, err);
	snprintf(file, sizeof(file), "%s/figure.png", folder);
	if (!code)
		code = file_read(file, (size_t)1 << 28, &bytes, &count, err);
	if (code)
		return code;
	code = file_write(path, bytes, count, err);
	mem_free(bytes);
	return code;
}

int figure_png(const char *path, const struct run_set *set, const char *name, struct err *err)
{
	const char *place = getenv("TMPDIR");
	char folder[256];
	struct text svg = {0};
	int code = figure_svg(&svg, set, name, err);

	snprintf(folder, sizeof(folder), "%.200s/retain-XXXXXX", place && *place ? place : "/tmp");
	if (!code && !mkdtemp(folder))
		code = err_set(err, ERR_FILE, "%s: %s", folder, strerror(errno));
	else if (!code) {
		code = make_png(path, folder, &svg, err);
		remove_folder(folder);
	}
	text_release(&svg);
	return code;
}
