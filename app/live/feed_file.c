/* What is not in a file as it should be read lies in memory, behind a descriptor. */
#include "live/feed_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/json_rows.h"
#include "base/os.h"

int feed_bytes(const char *name, const void *bytes, size_t size, struct err *err)
{
	const int file = os_unnamed_file();
	ssize_t put = 0;

	for (size_t at = 0; file >= 0 && at < size; at += (size_t)put) {
		put = write(file, (const char *)bytes + at, size - at);
		if (put <= 0)
			break;
	}
	if (file >= 0 && put >= 0 && !lseek(file, 0, SEEK_SET))
		return file;
	err_set(err, ERR_MEMORY, "%s: %s", name, strerror(errno));
	if (file >= 0)
		close(file);
	return ERR_MEMORY;
}

int feed_file(const char *path, struct err *err)
{
	const int file = open(path, O_RDONLY | O_CLOEXEC);
	struct mapped mapped;
	struct stat facts;
	bool json;
	int code;

	if (file < 0)
		return err_set(err, ERR_FILE, "%s: cannot open: %s", path, strerror(errno));
	if (fstat(file, &facts) || !S_ISREG(facts.st_mode))
		return file; /* a pipe has lines */
	code = json_rows_open(&mapped, &json, path, err);
	if (!code && mapped.file >= 0) {
		mapped_close(&mapped);
		return file;
	}
	close(file);
	if (!code)
		code = feed_bytes(path, mapped.data, mapped.size, err);
	mapped_close(&mapped);
	return code;
}
