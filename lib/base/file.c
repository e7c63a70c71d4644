/*
 * Reading into memory and atomic replacement. The writer holds the target's
 * folder open and names everything relative to it, so that a change of the
 * working directory, or of the folder's name, between open and commit does no
 * harm.
 *
 * Invariant of a writer: while `file` is open the temporary file exists and
 * belongs to us; the two disappear together.
 */
#define _GNU_SOURCE 1
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/paths.h"

#define BUFFER_SIZE ((size_t)64 << 10)
#define READ_FIRST  ((size_t)4 << 10)
#define TEMP_TRIES  100
#define TEMP_MARK   ".tmp-" /* between a file's name and the process that writes it */

struct file_writer {
	char *path;
	const char *name; /* the last part of path */
	char *temp;
	int folder, file;
	mode_t mode; /* of the file to be replaced; 0 if there is none */
	struct err failure;
	size_t buffered;
	char buffer[BUFFER_SIZE];
};

static int file_error(struct err *err, const char *path, const char *doing)
{
	return err_set(err, ERR_FILE, "%s: %s: %s", path, doing, strerror(errno));
}

static int too_large(struct err *err, const char *path, size_t most)
{
	return err_set(err, ERR_FORMAT, "%s: larger than the %zu bytes allowed here", path, most);
}

/* To twice the size, or to one byte more than is allowed, with room for a NUL. */
static int data_grow(char **data, size_t *capacity, size_t most, const char *path, struct err *err)
{
	size_t wanted = *capacity > most / 2 ? most + 1 : *capacity * 2;
	char *larger = mem_resize(*data, wanted + 1, 1);

	if (!larger)
		return err_memory(err, path, wanted + 1);
	*data = larger;
	*capacity = wanted;
	return 0;
}

static int read_all(
	int file, const char *path, size_t most, char **data, size_t *size, struct err *err)
{
	size_t capacity = READ_FIRST;
	struct stat facts;
	ssize_t got;

	if (fstat(file, &facts) != 0)
		return file_error(err, path, "cannot read");
	if (S_ISREG(facts.st_mode) && facts.st_size > 0) {
		if ((uintmax_t)facts.st_size > most)
			return too_large(err, path, most);
		capacity = (size_t)facts.st_size + 1; /* one more, to see the end at once */
	}
	*data = mem_new(capacity + 1, 1);
	if (!*data)
		return err_memory(err, path, capacity + 1);
	for (;;) {
		if (*size == capacity && data_grow(data, &capacity, most, path, err))
			return ERR_MEMORY;
		got = read(file, *data + *size, capacity - *size);
		if (got == 0)
			break;
		if (got < 0 && errno != EINTR)
			return file_error(err, path, "cannot read");
		if (got > 0)
			*size += (size_t)got;
		if (*size > most)
			return too_large(err, path, most);
	}
	(*data)[*size] = '\0';
	return 0;
}

int file_read(const char *path, size_t most, char **data, size_t *size, struct err *err)
{
	int file = open(path, O_RDONLY | O_CLOEXEC), code;

	*data = NULL;
	*size = 0;
	if (file < 0)
		return file_error(err, path, "cannot open");
	if (most > PTRDIFF_MAX - 2)
		most = PTRDIFF_MAX - 2;
	code = read_all(file, path, most, data, size, err);
	close(file);
	if (code) {
		mem_free(*data);
		*data = NULL;
		*size = 0;
	}
	return code;
}

int file_write(const char *path, const void *data, size_t size, struct err *err)
{
	struct file_writer *writer;
	int code = file_writer_open(&writer, path, err);

	if (code)
		return code;
	file_writer_write(writer, data, size, NULL);
	return file_writer_commit(writer, err);
}

/* Frees what is there; every field is either valid or marked absent. */
static void writer_free(struct file_writer *writer)
{
	if (writer->file >= 0) {
		close(writer->file);
		unlinkat(writer->folder, writer->temp, 0);
	}
	if (writer->folder >= 0)
		close(writer->folder);
	mem_free(writer->temp);
	mem_free(writer->path);
	mem_free(writer);
}

static int folder_open(struct file_writer *writer, struct err *err)
{
	char *slash = strrchr(writer->path, '/');

	writer->name = slash ? slash + 1 : writer->path;
	if (!*writer->name)
		return err_set(err, ERR_FILE, "%s: not the name of a file", writer->path);
	if (!slash) {
		writer->folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	} else if (slash == writer->path) {
		writer->folder = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	} else {
		*slash = '\0';
		writer->folder = open(writer->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		*slash = '/';
	}
	return writer->folder < 0 ? file_error(err, writer->path, "cannot open its folder") : 0;
}

static int target_check(struct file_writer *writer, struct err *err)
{
	struct stat facts;

	if (fstatat(writer->folder, writer->name, &facts, 0) != 0)
		return errno == ENOENT ? 0 : file_error(err, writer->path, "cannot look at it");
	if (S_ISDIR(facts.st_mode))
		errno = EISDIR;
	else if (!S_ISREG(facts.st_mode))
		return err_set(
			err, ERR_FILE, "%s: cannot replace what is not a plain file", writer->path);
	else if (faccessat(writer->folder, writer->name, W_OK, AT_EACCESS) == 0) {
		writer->mode = facts.st_mode & 07777;
		return 0;
	}
	return file_error(err, writer->path, "cannot replace");
}

static int temp_open(struct file_writer *writer, struct err *err)
{
	size_t size = strlen(writer->name) + 40;

	writer->temp = mem_new(size, 1);
	if (!writer->temp)
		return err_memory(err, writer->path, size);
	/* Not mkstemp: its files are closed to everyone else, and stay so after the rename. */
	for (int i = 0; i < TEMP_TRIES; i++) {
		snprintf(writer->temp, size, "%s" TEMP_MARK "%ld-%d", writer->name, (long)getpid(),
			i);
		writer->file = openat(writer->folder, writer->temp,
			O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (writer->file >= 0 || errno != EEXIST)
			break;
	}
	if (writer->file < 0 || (writer->mode && fchmod(writer->file, writer->mode) != 0))
		return file_error(err, writer->path, "cannot create a file beside it");
	return 0;
}

int file_writer_open(struct file_writer **writer, const char *path, struct err *err)
{
	struct file_writer *made = mem_new(1, sizeof(*made));
	int code;

	*writer = NULL;
	if (!made)
		return err_memory(err, path, sizeof(*made));
	made->folder = made->file = -1;
	made->path = mem_text(path);
	code = made->path ? folder_open(made, err) : err_memory(err, path, strlen(path) + 1);
	if (!code)
		code = target_check(made, err);
	if (!code)
		code = temp_open(made, err);
	if (code)
		writer_free(made);
	else
		*writer = made;
	return code;
}

static void write_out(struct file_writer *writer, const char *data, size_t size)
{
	while (size > 0 && !writer->failure.code) {
		ssize_t put = write(writer->file, data, size);

		if (put >= 0) {
			data += put;
			size -= (size_t)put;
		} else if (errno != EINTR) {
			file_error(&writer->failure, writer->path, "cannot write");
		}
	}
}

static int failure_pass(const struct file_writer *writer, struct err *err)
{
	if (err && writer->failure.code)
		*err = writer->failure;
	return writer->failure.code;
}

int file_writer_write(struct file_writer *writer, const void *data, size_t size, struct err *err)
{
	if (size > BUFFER_SIZE - writer->buffered) {
		write_out(writer, writer->buffer, writer->buffered);
		writer->buffered = 0;
	}
	if (size > BUFFER_SIZE) {
		write_out(writer, data, size);
	} else if (size > 0) {
		memcpy(writer->buffer + writer->buffered, data, size);
		writer->buffered += size;
	}
	return failure_pass(writer, err);
}

int file_writer_begin(struct file_writer *writer, const void *data, size_t size, struct err *err)
{
	write_out(writer, writer->buffer, writer->buffered);
	writer->buffered = 0;
	if (!writer->failure.code && lseek(writer->file, 0, SEEK_SET) != 0)
		file_error(&writer->failure, writer->path, "cannot write");
	write_out(writer, data, size);
	if (!writer->failure.code && lseek(writer->file, 0, SEEK_END) < 0)
		file_error(&writer->failure, writer->path, "cannot write");
	return failure_pass(writer, err);
}

/* Some file systems cannot sync folders and say EINVAL; they have done what they can. */
static void folder_sync(struct file_writer *writer)
{
	if (fsync(writer->folder) != 0 && errno != EINVAL)
		file_error(&writer->failure, writer->path, "written, but cannot sync its folder");
}

int file_writer_commit(struct file_writer *writer, struct err *err)
{
	int code;

	write_out(writer, writer->buffer, writer->buffered);
	if (!writer->failure.code && fsync(writer->file) != 0)
		file_error(&writer->failure, writer->path, "cannot sync");
	if (!writer->failure.code) {
		if (renameat(writer->folder, writer->temp, writer->folder, writer->name) != 0) {
			file_error(&writer->failure, writer->path, "cannot replace");
		} else {
			close(writer->file); /* synced: nothing is left that could fail */
			writer->file = -1;
			folder_sync(writer);
		}
	}
	code = failure_pass(writer, err);
	writer_free(writer);
	return code;
}

void file_writer_abort(struct file_writer *writer)
{
	if (writer)
		writer_free(writer);
}

/* A name outlives a power cut once the folder that has it is synced; where it may be read. */
static int sync_parent(const char *path, struct err *err)
{
	char *parent = path_folder(path);
	const int folder = parent ? open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	int code = parent ? 0 : err_memory(err, "a path", strlen(path));

	if (folder >= 0 && fsync(folder) != 0 && errno != EINVAL)
		code = file_error(err, parent, "cannot sync");
	if (folder >= 0)
		close(folder);
	mem_free(parent);
	return code;
}

static int make_one_folder(const char *path, struct err *err)
{
	struct stat found;

	if (!mkdir(path, 0777))
		return sync_parent(path, err);
	if (errno == EEXIST && !stat(path, &found) && S_ISDIR(found.st_mode))
		return 0;
	return err_set(err, ERR_FILE, "%s: %s", path, strerror(errno));
}

int file_make_folder(const char *path, struct err *err)
{
	char *part = mem_text(path);
	int code = 0;

	if (!part)
		return err_memory(err, "a path", strlen(path));
	for (char *slash = strchr(part + (*part == '/'), '/'); slash && !code;
		slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		code = make_one_folder(part, err);
		*slash = '/';
	}
	if (!code)
		code = make_one_folder(part, err);
	mem_free(part);
	return code;
}

/* A writer's temporary file, and its process is gone or had the number that we have now. */
static bool is_stray(const char *name)
{
	const char *mark = NULL;
	char *end = NULL;
	long process;

	for (const char *at = name; (at = strstr(at, TEMP_MARK)); mark = at)
		at += strlen(TEMP_MARK);
	process = mark ? strtol(mark, &end, 10) : 0;
	if (process <= 0 || *end != '-' || !end[1] || end[1 + strspn(end + 1, "0123456789")])
		return false;
	return process == (long)getpid() || (kill((pid_t)process, 0) && errno == ESRCH);
}

void file_sweep(const char *folder)
{
	DIR *listing = opendir(folder);
	struct dirent *entry;

	while (listing && (entry = readdir(listing)))
		if (is_stray(entry->d_name))
			unlinkat(dirfd(listing), entry->d_name, 0);
	if (listing)
		closedir(listing);
}

static int remove_entry(const char *path, const struct stat *about, int kind, struct FTW *place)
{
	(void)about;
	(void)kind;
	(void)place;
	remove(path);
	return 0;
}

void file_remove_tree(const char *path)
{
	nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}
