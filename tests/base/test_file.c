#define _GNU_SOURCE 1
#include "check.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/file.h"
#include "folder.h"

#define assert_holds(path, words) assert_content(path, words, strlen(words))

static void assert_content(const char *path, const char *words, size_t count)
{
	struct err err = {0};
	char *data;
	size_t size;

	if (file_read(path, 10 << 20, &data, &size, &err))
		fail_msg("%s", err.message);
	assert_int_equal(size, count);
	assert_memory_equal(data, words, count);
	assert_int_equal(data[size], '\0');
	mem_free(data);
}

static void reads_back_what_was_written(void **state)
{
	static const size_t sizes[] = {0, 1, 4095, 4096, 65536, 65537, 1000000};
	static char words[1000000];
	struct err err = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(words); i++)
		words[i] = (char)(i * 31 + i / 256);
	for (size_t i = 0; i < COUNT(sizes); i++) {
		assert_int_equal(file_write(in_folder("x"), words, sizes[i], &err), 0);
		assert_content(in_folder("x"), words, sizes[i]);
	}
	assert_int_equal(folder_names(false), 1);
}

static void reads_what_has_no_size(void **state)
{
	struct err err;
	char *data;
	size_t size;

	(void)state;
	assert_int_equal(file_read("/proc/self/status", 1 << 20, &data, &size, &err), 0);
	assert_true(size > 100);
	assert_memory_equal(data, "Name:", 5);
	mem_free(data);
	assert_int_equal(file_read("/dev/zero", 100000, &data, &size, &err), ERR_FORMAT);
	assert_says(err, "/dev/zero: larger than the 100000 bytes");
	assert_null(data);
}

static void reading_has_a_limit(void **state)
{
	struct err err = {0};
	char *data;
	size_t size;

	(void)state;
	assert_int_equal(file_write(in_folder("x"), "12345678", 8, &err), 0);
	assert_int_equal(file_read(in_folder("x"), 7, &data, &size, &err), ERR_FORMAT);
	assert_says(err, in_folder("x"));
	assert_says(err, "7 bytes");
	assert_int_equal(file_read(in_folder("x"), 8, &data, &size, &err), 0);
	mem_free(data);
	assert_int_equal(file_read(in_folder("x"), SIZE_MAX, &data, &size, &err), 0);
	mem_free(data);
}

static void reading_failures_are_named(void **state)
{
	struct err err = {0};
	char *data;
	size_t size;

	(void)state;
	assert_int_equal(file_read(in_folder("none"), 100, &data, &size, &err), ERR_FILE);
	assert_says(err, in_folder("none"));
	assert_says(err, strerror(ENOENT));
	assert_null(data);
	assert_int_equal(file_read(folder, 100, &data, &size, &err), ERR_FILE);
	assert_says(err, strerror(EISDIR));
	assert_null(data);
}

static void pieces_make_a_file(void **state)
{
	static char expected[300000];
	struct file_writer *writer;
	struct err err = {0};
	size_t at = 0;

	(void)state;
	assert_int_equal(file_write(in_folder("x"), "old", 3, &err), 0);
	assert_int_equal(file_writer_open(&writer, in_folder("x"), &err), 0);
	for (size_t i = 0; at < sizeof(expected); i++) {
		size_t size = i % 7 == 6 ? 70000 : i * 37 % 1000;

		if (size > sizeof(expected) - at)
			size = sizeof(expected) - at;
		memset(expected + at, (int)i, size);
		assert_int_equal(file_writer_write(writer, expected + at, size, &err), 0);
		at += size;
	}
	assert_holds(in_folder("x"), "old");
	assert_int_equal(file_writer_commit(writer, &err), 0);
	assert_content(in_folder("x"), expected, sizeof(expected));
	assert_int_equal(folder_names(false), 1);
}

static void abort_leaves_no_trace(void **state)
{
	struct file_writer *writer, *second;
	struct err err = {0};

	(void)state;
	file_writer_abort(NULL);
	assert_int_equal(file_writer_open(&writer, in_folder("x"), &err), 0);
	assert_int_equal(file_writer_write(writer, "abc", 3, &err), 0);
	file_writer_abort(writer);
	assert_int_equal(folder_names(false), 0);

	/* Two writers of one file: the one that commits last wins. */
	assert_int_equal(file_writer_open(&writer, in_folder("x"), &err), 0);
	assert_int_equal(file_writer_open(&second, in_folder("x"), &err), 0);
	file_writer_write(writer, "first", 5, &err);
	file_writer_write(second, "second", 6, &err);
	assert_int_equal(file_writer_commit(second, &err), 0);
	assert_int_equal(file_writer_commit(writer, &err), 0);
	assert_holds(in_folder("x"), "first");
	assert_int_equal(folder_names(false), 1);
}

static void relative_paths(void **state)
{
	char before[1000];
	struct file_writer *writer;
	struct err err = {0};

	(void)state;
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(file_writer_open(&writer, "x", &err), 0);
	/* The target is what the path meant when the file was opened. */
	assert_int_equal(chdir("/"), 0);
	file_writer_write(writer, "here", 4, NULL);
	assert_int_equal(file_writer_commit(writer, &err), 0);
	assert_int_equal(chdir(before), 0);
	assert_holds(in_folder("x"), "here");
}

static void permissions_are_kept(void **state)
{
	struct err err = {0};
	struct stat facts;
	mode_t mask = umask(027);

	(void)state;
	assert_int_equal(file_write(in_folder("x"), "a", 1, &err), 0);
	assert_int_equal(stat(in_folder("x"), &facts), 0);
	assert_int_equal(facts.st_mode & 0777, 0640);
	assert_int_equal(chmod(in_folder("x"), 0604), 0);
	assert_int_equal(file_write(in_folder("x"), "b", 1, &err), 0);
	assert_int_equal(stat(in_folder("x"), &facts), 0);
	assert_int_equal(facts.st_mode & 0777, 0604);
	umask(mask);
}

static void bad_targets_are_refused(void **state)
{
	struct err err = {0};

	(void)state;
	assert_int_equal(file_write(in_folder("none/x"), "a", 1, &err), ERR_FILE);
	assert_says(err, in_folder("none/x"));
	assert_says(err, strerror(ENOENT));
	assert_int_equal(mkdir(in_folder("sub"), 0700), 0);
	assert_int_equal(file_write(in_folder("sub"), "a", 1, &err), ERR_FILE);
	assert_says(err, strerror(EISDIR));
	assert_int_equal(file_write(in_folder("sub/"), "a", 1, &err), ERR_FILE);
	assert_int_equal(file_write("", "a", 1, &err), ERR_FILE);
	assert_int_equal(file_write("/dev/null", "a", 1, &err), ERR_FILE);
	assert_says(err, "/dev/null");
	assert_int_equal(folder_names(false), 1);
}

/* Runs `attempt` in a child with these limits and expects what it returns; a child, because neither
 * being somebody else nor a limit can be undone. */
static void in_child(int (*attempt)(void), int expected)
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0)
		_exit(attempt());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), expected);
}

enum { AS_EXPECTED, WROTE_ANYWAY, SAID_OTHERWISE, COULD_NOT_TRY };

static int write_as_nobody(void)
{
	struct err err = {0};

	if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)
		return COULD_NOT_TRY;
	if (file_write(in_folder("x"), "new", 3, &err) != ERR_FILE)
		return WROTE_ANYWAY;
	return strstr(err.message, strerror(EACCES)) && strstr(err.message, in_folder("x"))
		       ? AS_EXPECTED
		       : SAID_OTHERWISE;
}

static void read_only_is_respected(void **state)
{
	struct err err = {0};

	(void)state;
	assert_int_equal(file_write(in_folder("x"), "old", 3, &err), 0);
	assert_int_equal(chmod(in_folder("x"), 0444), 0);
	assert_int_equal(chmod(folder, 0777), 0);
	in_child(write_as_nobody, AS_EXPECTED);
	assert_int_equal(chmod(in_folder("x"), 0666), 0);
	assert_int_equal(chmod(folder, 0555), 0);
	in_child(write_as_nobody, AS_EXPECTED);
	assert_int_equal(remove(in_folder("x")) == 0 || geteuid() != 0, 1);
	if (geteuid() == 0)
		in_child(write_as_nobody, AS_EXPECTED);
}

#define LIMIT 100000

static int write_beyond_limit(void)
{
	static char words[3 * LIMIT];
	const struct rlimit limit = {LIMIT, LIMIT};
	struct file_writer *writer;
	struct err err = {0}, again = {0};

	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
		return COULD_NOT_TRY;
	if (file_write(in_folder("x"), words, sizeof(words), &err) != ERR_FILE)
		return WROTE_ANYWAY;
	if (!strstr(err.message, strerror(EFBIG)) || !strstr(err.message, in_folder("x")))
		return SAID_OTHERWISE;
	/* The same in small pieces: some are buffered before the failure shows, and later pieces
	 * and the commit repeat the first error. */
	if (file_writer_open(&writer, in_folder("x"), &err) != 0)
		return COULD_NOT_TRY;
	for (int i = 0; i < 300; i++)
		file_writer_write(writer, words, 1000, &err);
	if (file_writer_write(writer, words, 0, &again) != ERR_FILE ||
		strcmp(err.message, again.message) != 0)
		return SAID_OTHERWISE;
	return file_writer_commit(writer, &again) == ERR_FILE ? AS_EXPECTED : WROTE_ANYWAY;
}

static void a_full_disk_spares_the_old_file(void **state)
{
	struct err err = {0};

	(void)state;
	assert_int_equal(file_write(in_folder("x"), "old", 3, &err), 0);
	in_child(write_beyond_limit, AS_EXPECTED);
	assert_holds(in_folder("x"), "old");
	assert_int_equal(folder_names(false), 1);
}

static int read_attempt(void *context, struct err *err)
{
	char *data;
	size_t size;
	int code = file_read(context, 1 << 20, &data, &size, err);

	mem_free(data);
	return code;
}

static int write_attempt(void *context, struct err *err)
{
	return file_write(context, "new", 3, err);
}

static void memory_runs_out(void **state)
{
	char path[400];
	struct err err = {0};

	(void)state;
	assert_int_equal(file_write(in_folder("x"), "old", 3, &err), 0);
	strcpy(path, in_folder("x"));
	assert_int_equal(each_allocation_fails(read_attempt, path), 1);
	assert_true(each_allocation_fails(read_attempt, (char[]){"/proc/cpuinfo"}) >= 1);
	assert_true(each_allocation_fails(write_attempt, path) >= 3);
	assert_int_equal(folder_names(false), 1);
	assert_holds(path, "new");
}

/* The beginning is written last, before and after the buffer has gone out. */
static void a_beginning_comes_last(void **state)
{
	static const size_t sizes[] = {2, 200000};
	static char more[200000];

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		struct file_writer *writer;
		struct err err = {0};
		char *data;
		size_t size;

		assert_int_equal(file_writer_open(&writer, in_folder("x"), &err), 0);
		assert_int_equal(file_writer_write(writer, "....", 4, &err), 0);
		assert_int_equal(file_writer_write(writer, more, sizes[i], &err), 0);
		assert_int_equal(file_writer_begin(writer, "head", 4, &err), 0);
		assert_int_equal(file_writer_write(writer, "tail", 4, &err), 0);
		assert_int_equal(file_writer_commit(writer, &err), 0);
		assert_int_equal(file_read(in_folder("x"), 1 << 20, &data, &size, &err), 0);
		assert_int_equal(size, 8 + sizes[i]);
		assert_memory_equal(data, "head", 4);
		assert_memory_equal(data + 4 + sizes[i], "tail", 4);
		mem_free(data);
	}
}

static void a_tree_is_removed(void **state)
{
	struct err err = {0};

	(void)state;
	assert_ok(file_write(in_folder("kept"), "x", 1, &err), err);
	assert_ok(file_make_folder(in_folder("tree/a/b"), &err), err);
	assert_ok(file_write(in_folder("tree/a/b/file"), "x", 1, &err), err);
	assert_int_equal(symlink("../kept", in_folder("tree/link")), 0);
	file_remove_tree(in_folder("tree"));
	assert_int_equal(access(in_folder("tree"), F_OK), -1);
	assert_holds(in_folder("kept"), "x");
	file_remove_tree(in_folder("tree"));
}

/* What is synced is told to this test; folders are named by their inodes. */
static ino_t synced[64];
static int synced_count;

int fsync(int file)
{
	struct stat about;

	if (!fstat(file, &about) && synced_count < 64)
		synced[synced_count++] = about.st_ino;
	return (int)syscall(SYS_fsync, file);
}

static bool was_synced(const char *path)
{
	struct stat about;

	assert_int_equal(stat(path, &about), 0);
	for (int i = 0; i < synced_count; i++)
		if (synced[i] == about.st_ino)
			return true;
	return false;
}

static void new_folders_are_synced(void **state)
{
	struct err err;

	(void)state;
	synced_count = 0;
	assert_ok(file_make_folder(in_folder("a/b/c"), &err), err);
	assert_true(
		was_synced(folder) && was_synced(in_folder("a")) && was_synced(in_folder("a/b")));
	synced_count = 0;
	assert_ok(file_make_folder(in_folder("a/b/c"), &err), err);
	assert_int_equal(synced_count, 0);
	file_remove_tree(in_folder("a"));
}

static void what_a_kill_left_is_swept(void **state)
{
	static const char *const stay[] = {
		"x.tmp-1-0", "x.tmp-", "x.tmp-99999999", "x.tmp-0-0", "x.tmp-99999999-0.csv", "x"};
	char stray[40];
	struct err err;

	(void)state;
	assert_ok(file_write(in_folder("x.tmp-99999999-0"), "", 0, &err), err);
	assert_ok(file_write(in_folder("y.tmp-1-7.tmp-99999999-12"), "", 0, &err), err);
	snprintf(stray, sizeof(stray), "x.tmp-%ld-3", (long)getpid());
	assert_ok(file_write(in_folder(stray), "", 0, &err), err);
	for (size_t i = 0; i < COUNT(stay); i++)
		assert_ok(file_write(in_folder(stay[i]), "", 0, &err), err);
	file_sweep(folder);
	assert_int_equal(folder_names(false), COUNT(stay));
	file_sweep(in_folder("none"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		folder_test(reads_back_what_was_written),
		folder_test(reads_what_has_no_size),
		folder_test(reading_has_a_limit),
		folder_test(reading_failures_are_named),
		folder_test(pieces_make_a_file),
		folder_test(a_beginning_comes_last),
		folder_test(abort_leaves_no_trace),
		folder_test(relative_paths),
		folder_test(permissions_are_kept),
		folder_test(bad_targets_are_refused),
		folder_test(read_only_is_respected),
		folder_test(a_full_disk_spares_the_old_file),
		folder_test(memory_runs_out),
		folder_test(a_tree_is_removed),
		folder_test(new_folders_are_synced),
		folder_test(what_a_kill_left_is_swept),
	};

	return cmocka_run_group_tests_name("file", tests, NULL, NULL);
}
