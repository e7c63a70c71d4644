#include "session/log/times.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

static void put(const struct times *times, const char *words)
{
	(void)!write(times->file, words, strlen(words));
}

/* A line that a crash has cut off is ended. */
void times_open(struct times *times, const char *path)
{
	const char *slash = strrchr(path, '/');
	char beside[PATH_MAX], last = '\n';
	struct stat facts;

	times->file = -1;
	times->name = slash ? slash + 1 : path;
	if (stat(path, &facts) || !S_ISREG(facts.st_mode))
		return;
	if (snprintf(beside, sizeof(beside), "%.*stimes.csv", (int)(times->name - path), path) >=
		(int)sizeof(beside))
		beside[0] = '\0';
	times->file = open(beside, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (times->file < 0 || fstat(times->file, &facts))
		return;
	if (!facts.st_size)
		put(times, "file,bytes,time\n");
	else if (pread(times->file, &last, 1, facts.st_size - 1) == 1 && last != '\n')
		put(times, "\n");
}

void times_close(struct times *times)
{
	if (times->file >= 0)
		close(times->file);
	times->file = -1;
}

void times_add(const struct times *times, int64_t bytes)
{
	const int64_t now = clock_wall();
	const time_t seconds = (time_t)(now / 1000);
	char when[32], line[512];
	struct tm day;

	if (times->file < 0 || !gmtime_r(&seconds, &day))
		return;
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &day);
	snprintf(line, sizeof(line), "%.300s,%" PRId64 ",%s.%03dZ\n", times->name, bytes, when,
		(int)(now % 1000));
	put(times, line);
}
