/* The file is opened for each read: a run may replace it. */
#include "serve/desk/tail.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int64_t tail_end(const char *path)
{
	struct stat found;

	return stat(path, &found) ? 0 : (int64_t)found.st_size;
}

size_t tail_read(const char *path, int64_t *at, char *out, size_t room)
{
	const int64_t end = tail_end(path);
	size_t size = 0;
	ssize_t got;
	int fd;

	out[0] = '\0';
	if (*at > end || *at < 0)
		*at = end;
	if (*at == end)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	got = pread(fd, out, room - 1, (off_t)*at);
	close(fd);
	for (ssize_t i = got; i > 0 && !size; i--)
		if (out[i - 1] == '\n')
			size = (size_t)i;
	if (!size && got == (ssize_t)room - 1)
		*at += got;
	out[size] = '\0';
	*at += (int64_t)size;
	return size;
}

struct tail_place tail_behind(const char *path, int64_t lines)
{
	struct tail_place place = {0, 0};
	char piece[16 << 10];
	int64_t end = 0;
	size_t size;

	while (place.lines < lines && (size = tail_read(path, &end, piece, sizeof(piece)))) {
		const char *from = piece, *newline;

		while (place.lines < lines && (newline = strchr(from, '\n'))) {
			from = newline + 1;
			place.at = end - (int64_t)size + (from - piece);
			place.lines++;
		}
	}
	return place;
}
