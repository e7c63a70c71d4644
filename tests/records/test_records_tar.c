/*
 * Tar archives: WebDataset's shards and packed folders of classes; names of every
 * length; whatever is wrong named by archive and member; index files.
 */
#include "records_check.h"

enum { ROOM = 1 << 20, BLOCK = 512 };

static unsigned char archive[ROOM];
static size_t archive_size;

static void begin(void)
{
	memset(archive, 0, sizeof(archive));
	archive_size = 0;
}

static void set_sum(unsigned char *header)
{
	unsigned sum = 0;

	memset(header + 148, ' ', 8);
	for (int i = 0; i < BLOCK; i++)
		sum += header[i];
	snprintf((char *)header + 148, 8, "%06o", sum);
}

static void add_typed(char type, const char *name, const void *bytes, size_t size)
{
	unsigned char *header = archive + archive_size;

	assert_true(archive_size + size + 3 * BLOCK < ROOM);
	strncpy((char *)header, name, 100);
	snprintf((char *)header + 124, 12, "%011o", (unsigned)size);
	header[156] = (unsigned char)type;
	memcpy(header + 257, "ustar\00000", 8);
	set_sum(header);
	if (size)
		memcpy(header + BLOCK, bytes, size);
	archive_size += BLOCK + (size + BLOCK - 1) / BLOCK * BLOCK;
}

static void add(const char *name, const char *words)
{
	add_typed('0', name, words, strlen(words));
}

/* A link: hard is type '1', symbolic '2'. Its header may have a size, but no bytes follow. */
static void add_link(char type, const char *name, const char *target)
{
	unsigned char *header = archive + archive_size;

	add_typed(type, name, NULL, 0);
	strncpy((char *)header + 157, target, 100);
	memcpy(header + 124, "00000001000", 11);
	set_sum(header);
}

/* With the two blocks of zeros that end it. */
static void finish(const char *name)
{
	write_bytes(name, archive, archive_size + 2 * BLOCK);
}

static void a_webdataset(void **state)
{
	struct records *records;
	const struct records_info *info;
	char where[300];

	begin();
	add("000.cls", "3\n");
	add("000.jpg", "first");
	add("a/001.PNG", "second");
	add("a/001.json", "{\"label\": 1, \"time\": 77, \"caption\": \"x\"}");
	add("a/001.txt", "not looked at");
	add("b.cls", "2");
	finish("train-000.tar");
	begin();
	add("./002.seg.jpeg", "third");
	add("./002.json", "{\"cls\": 0, \"time\": \"1970-01-01T00:00:01\"}");
	finish("train-001.tar");
	begin();
	add("003.jpg", "fourth");
	add("003.json", "{\"class\": 5}");
	finish("set-val-000.tar");
	records = opened("", "train-{000..001}.tar");
	info = records_info(records);
	assert_string_equal(records->type->name, "tar");
	assert_int_equal(info->form, RECORDS_IMAGE);
	assert_int_equal(info->count, 3);
	assert_int_equal(info->classes, 4);
	assert_true(info->timed);
	assert_false(info->parted);
	assert_int_equal(records_look(records, 0).label, 3);
	assert_int_equal(records_look(records, 0).time, 0);
	assert_int_equal(records_look(records, 1).label, 1);
	assert_int_equal(records_look(records, 1).time, 77);
	assert_int_equal(records_look(records, 2).label, 0);
	assert_int_equal(records_look(records, 2).time, 1000000);
	assert_int_equal(read_one(records, 0)->size, 5);
	assert_memory_equal(read_one(records, 1)->data, "second", 6);
	assert_memory_equal(read_one(records, 2)->data, "third", 5);
	assert_null(records_class_name(records, 0));
	records_where(records, 2, where, sizeof(where));
	assert_non_null(strstr(where, "train-001.tar, the image at byte 512"));
	assert_int_equal(truncate(in_folder("train-001.tar"), 100), 0);
	assert_says(unreadable(records, 2), "train-001.tar: has become shorter");
	records_close(records);
	finish("train-001.tar");
	records = opened("tar", "");
	assert_int_equal(records_info(records)->count, 4);
	assert_true(records_info(records)->parted);
	assert_int_equal(records_look(records, 0).part, RECORDS_EVAL);
	assert_int_equal(records_look(records, 0).label, 5);
	assert_int_equal(records_look(records, 1).part, RECORDS_STREAM);
	records_close(records);
	read_one(NULL, 0);
}

static void folders_of_classes(void **state)
{
	struct records *records;

	begin();
	add_typed('5', "train/", NULL, 0);
	add("train/zebra/1.jpg", "z");
	add("train/ant/a.1.jpg", "a1");
	add("train/ant/a.2.jpg", "a2");
	add("test/ant/3.jpg", "t");
	add("readme.txt", "x");
	finish("all.tar");
	records = opened("", "all.tar");
	assert_int_equal(records_info(records)->count, 4);
	assert_int_equal(records_info(records)->classes, 2);
	assert_true(records_info(records)->parted);
	assert_string_equal(records_class_name(records, 0), "ant");
	assert_string_equal(records_class_name(records, 1), "zebra");
	assert_int_equal(records_look(records, 0).label, 1);
	assert_int_equal(records_look(records, 2).label, 0);
	assert_int_equal(records_look(records, 2).part, RECORDS_STREAM);
	assert_int_equal(records_look(records, 3).part, RECORDS_EVAL);
	assert_memory_equal(read_one(records, 2)->data, "a2", 2);
	records_close(records);
	read_one(NULL, 0);
}

static void long_names(void **state)
{
	static const char pax[] = "30 mtime=1700000000.123456789\n30 path=pax/class_pax/img.jpg\n";
	char name[300];
	struct records *records;

	memset(name, 'n', sizeof(name));
	memcpy(name, "gnu/class_gnu/", 14);
	memcpy(name + 250, ".jpg", 5);
	begin();
	add_typed('L', "././@LongLink", name, strlen(name) + 1);
	add("gnu/class_gnu/nnnn", "long");
	add_typed('x', "PaxHeaders/x", pax, strlen(pax));
	add("short", "pax");
	/* ustar's prefix. */
	add("img.jpg", "pre");
	memcpy(archive + archive_size - 2 * BLOCK + 345, "up/class_pre", 12);
	set_sum(archive + archive_size - 2 * BLOCK);
	/* A pax size in place of the header's. */
	add_typed('x', "PaxHeaders/x", "9 size=3\n", 9);
	add("x/class_size/i.png", "123456789");
	finish("t.tar");
	records = opened("tar", "t.tar");
	assert_int_equal(records_info(records)->count, 4);
	assert_string_equal(
		records_class_name(records, records_look(records, 0).label), "class_gnu");
	assert_string_equal(
		records_class_name(records, records_look(records, 1).label), "class_pax");
	assert_string_equal(
		records_class_name(records, records_look(records, 2).label), "class_pre");
	assert_string_equal(
		records_class_name(records, records_look(records, 3).label), "class_size");
	assert_memory_equal(read_one(records, 1)->data, "pax", 3);
	assert_int_equal(read_one(records, 3)->size, 3);
	records_close(records);
	read_one(NULL, 0);
}

/* What a class's first record holds. */
static void expect_class(struct records *records, const char *class, const char *words)
{
	for (int64_t i = 0; i < records_info(records)->count; i++) {
		const char *name = records_class_name(records, records_look(records, i).label);

		if (!name || strcmp(name, class) != 0)
			continue;
		assert_int_equal(read_one(records, i)->size, strlen(words));
		assert_memory_equal(read_one(records, i)->data, words, strlen(words));
		return;
	}
	fail_msg("no record of class %s", class);
}

static void links_are_followed(void **state)
{
	static const char pax[] = "32 linkpath=../store/deep/b.jpg\n";
	static const struct {
		char type;
		const char *name, *target, *words;
	} rows[] = {
		{'1', "hard/1.jpg", "store/a.jpg", "first"},
		{'1', "hard_to_hard/1.jpg", "./hard/1.jpg", "first"},
		{'1', "hard_before/1.jpg", "two/same.jpg", "old"},
		{'1', "hard_to_symbolic/1.jpg", "relative/1.jpg", "first"},
		{'2', "relative/1.jpg", "../store/a.jpg", "first"},
		{'2', "absolute/1.jpg", "/store/./deep//b.jpg", "second"},
		{'2', "forward/1.jpg", "../store/later.jpg", "third"},
		{'2', "chain/1.jpg", "../forward/1.jpg", "third"},
		{'2', "latest/1.jpg", "../two/same.jpg", "new"},
		{'2', "by_folders/1.jpg", "../alias/b.jpg", "second"},
		{'2', "up_and_down/1.jpg", "../x/../store/a.jpg", "first"},
		{'2', "alias", "elsewhere", "second"},
		{'2', "elsewhere", "store/deep", "second"},
	};
	char target[200];
	struct records *records;

	begin();
	add("store/a.jpg", "first");
	add("store/deep/b.jpg", "second");
	add("two/same.jpg", "old");
	add_link('2', "relative/1.jpg", "../store/a.jpg");
	for (size_t i = 0; i < COUNT(rows); i++)
		add_link(rows[i].type, rows[i].name, rows[i].target);
	add_typed('x', "PaxHeaders/x", pax, strlen(pax));
	add_link('2', "pax/1.jpg", "../store");
	memset(target, 'k', sizeof(target));
	memcpy(target, "../long/", 8);
	strcpy(target + 150, ".jpg");
	add_typed('K', "././@LongLink", target, strlen(target) + 1);
	add_link('2', "gnu/1.jpg", "../long/kk");
	add_typed('L', "././@LongLink", target + 3, strlen(target + 3) + 1);
	add("long/kk", "long");
	add("store/later.jpg", "third");
	add("two/same.jpg", "new");
	add_link('2', "notes.txt", "/etc/passwd");
	add_link('2', "nothing", "nowhere");
	finish("t.tar");
	records = opened("tar", "t.tar");
	for (size_t i = 0; i < COUNT(rows); i++) {
		char class[40];

		snprintf(class, sizeof(class), "%.*s", (int)strcspn(rows[i].name, "/"),
			rows[i].name);
		expect_class(records, class, rows[i].words);
	}
	expect_class(records, "pax", "second");
	expect_class(records, "gnu", "long");
	assert_int_equal(records_info(records)->count, 22);
	records_close(records);
	read_one(NULL, 0);
}

static void labels_may_be_linked(void **state)
{
	struct records *records;

	begin();
	add("labels/three.cls", "3");
	add("pictures/a.jpg", "a");
	add_link('1', "pictures/a.cls", "labels/three.cls");
	add_link('2', "val", "pictures");
	finish("t.tar");
	records = opened("tar", "t.tar");
	assert_int_equal(records_info(records)->count, 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(records_look(records, i).label, 3);
		assert_int_equal(records_look(records, i).part, i ? RECORDS_EVAL : RECORDS_STREAM);
		assert_memory_equal(read_one(records, i)->data, "a", 1);
	}
	records_close(records);
	read_one(NULL, 0);
}

/* What is no file and called one: an error, or a bad record. */
static void what_is_no_file_is_named(void **state)
{
	static const struct {
		char type;
		const char *name, *target, *says;
	} rows[] = {
		{'2', "c/b.jpg", "../../x.jpg",
			"t.tar: c/b.jpg: is a link to ../../x.jpg, which is outside of the "
			"archive"},
		{'2', "c/b.jpg", "/etc/passwd", "is a link to /etc/passwd, which is not in the"},
		{'2', "c/b.jpg", "none.jpg", "is a link to none.jpg, which is not in the archive"},
		{'2', "c/b.jpg", "", "is a link to , which is not in the archive"},
		{'1', "c/b.jpg", "c/later.jpg", "is a link to c/later.jpg, which is not in the"},
		{'1', "c/b.jpg", "c/b.jpg", "is a link to c/b.jpg, which is not in the archive"},
		{'2', "c/b.jpg", "b.jpg", "is a link to b.jpg, which leads in a circle"},
		{'2', "c/b.jpg", "../round/b.jpg", "which leads in a circle, or over more than 40"},
		{'2', "c/b.jpg", "a.jpg/b.jpg", "is a link to a.jpg/b.jpg, which is not in the"},
		{'2', "c/b.jpg", "../pipe.jpg",
			"is a link to ../pipe.jpg, which is not a regular file"},
		{'2', "c/b.jpg", "../c", "is a link to ../c, a folder"},
		{'2', "c/a.cls", "../no.cls", "c/a.cls: is a link to ../no.cls, which is not in"},
		{'2', "c/self", ".", "c/self/self: is a link to /c/self, a folder (by a link to"},
		{'3', "c/b.jpg", "", "t.tar: c/b.jpg: is not a regular file"},
		{'S', "c/b.jpg", "", "t.tar: c/b.jpg: is not a regular file"},
	};
	char where[300];

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct records *records;
		struct err err = {0};
		int64_t lost = 0, good = 0;

		begin();
		add("c/a.jpg", "a");
		add_link('2', "round", "rounder");
		add_link('2', "rounder", "./round");
		add_link(rows[i].type, rows[i].name, rows[i].target);
		if (rows[i].type == 'S') { /* has bytes, of which there are none */
			memset(archive + archive_size - BLOCK + 124, '0', 11);
			set_sum(archive + archive_size - BLOCK);
		}
		add("c/later.jpg", "x");
		add_typed('6', strstr(rows[i].target, "pipe") ? "pipe.jpg" : "pipe", NULL, 0);
		finish("t.tar");
		assert_refused("tar", "t.tar", rows[i].says);
		snprintf(where, sizeof(where), "tar:%s", in_folder("t.tar"));
		assert_ok(try_open(&records, where, SETTINGS("stream.on_bad=skip"), &err), err);
		for (int64_t k = 0; k < records_info(records)->count; k++) {
			good += records_look(records, k).label >= 0;
			records_where(records, k, where, sizeof(where));
			lost += strstr(where, "the member that is not a file at byte") != NULL;
		}
		records_close(records);
		assert_true(strstr(rows[i].name, ".cls") ? !good : good >= 1 && lost >= 1);
	}
}

static void links_have_bounds(void **state)
{
	char name[40], target[40];

	for (int links = 40; links <= 41; links++) {
		begin();
		add("c/0.jpg", "end");
		for (int i = 1; i <= links; i++) {
			snprintf(name, sizeof(name), "c/%d.jpg", i);
			snprintf(target, sizeof(target), "%d.jpg", i - 1);
			add_link('2', name, target);
		}
		finish("t.tar");
		if (links == 40)
			records_close(opened("tar", "t.tar"));
	}
	assert_refused("tar", "t.tar", "c/41.jpg: is a link to 40.jpg, which leads in a circle");
	/* Many links to a large folder. */
	for (int links = 10; links <= 40; links += 30) {
		struct records *records;

		begin();
		for (int i = 0; i < 100 + links; i++) {
			snprintf(name, sizeof(name), i < 100 ? "c/%d.jpg" : "%d", i);
			if (i < 100)
				add(name, "x");
			else
				add_link('2', name, "c");
		}
		finish("t.tar");
		if (links == 40)
			break;
		records = opened("tar", "t.tar");
		assert_int_equal(records_info(records)->count, 1100);
		assert_int_equal(records_info(records)->classes, 11);
		records_close(records);
	}
	assert_refused(
		"tar", "t.tar", "more than 16 times as many names as members are reached by");
}

/* What the tar command of this machine writes, in each of its formats, gzipped and not. */
static void the_commands_archives(void **state)
{
	static const char *const formats[] = {"gnu", "pax", "ustar", "gnu -z"};
	char command[900], name[200];

	memset(name, 'k', sizeof(name));
	memcpy(name, "d/train/cat/", 12);
	memcpy(name + 80, ".jpg", 5);
	write_words(name, "cat");
	write_words("d/val/dog/1.jpg", "dog");
	assert_int_equal(mkdir(in_folder("d/train/eel"), 0777), 0);
	assert_int_equal(link(in_folder("d/val/dog/1.jpg"), in_folder("d/train/eel/2.jpg")), 0);
	assert_int_equal(symlink("../val/dog", in_folder("d/train/fox")), 0);
	for (size_t i = 0; i < COUNT(formats); i++) {
		struct records *records;

		snprintf(command, sizeof(command),
			"tar -C %s/d --sort=name --format=%s -cf %s/t.tar%s . 2>/dev/null", folder,
			formats[i], folder, strstr(formats[i], "-z") ? ".gz" : "");
		if (system(command)) {
			print_message(
				"skipped: there is no tar command that knows %s\n", formats[i]);
			skip();
		}
		records = opened("tar", strstr(formats[i], "-z") ? "t.tar.gz" : "t.tar");
		assert_int_equal(records_info(records)->count, 4);
		expect_class(records, "cat", "cat");
		expect_class(records, "dog", "dog");
		expect_class(records, "eel", "dog");
		expect_class(records, "fox", "dog");
		assert_int_equal(records_look(records, 3).part, RECORDS_EVAL);
		records_close(records);
	}
	read_one(NULL, 0);
}

static void expect_bad(const char *says)
{
	finish("t.tar");
	assert_refused("tar", "t.tar", says);
	begin();
}

static void wrong_archives_are_named(void **state)
{
	assert_refused("tar", "none.tar", "none.tar: cannot open");
	assert_refused("tar", "", "has no .tar files");
	assert_refused("tar", "x-{a..b}.tar", "braces hold a range of numbers");
	assert_refused("tar", "x-{5..2}.tar", "braces hold a range of numbers");
	assert_refused("tar", "x-{00..02}.tar", "x-00.tar: cannot open");
	begin();
	expect_bad("t.tar: holds no images");
	add("a.txt", "x");
	expect_bad("t.tar: holds no images");
	add("a.jpg", "x");
	expect_bad("t.tar: a.jpg: has no .cls or .json and is in no folder");
	add("a.jpg", "x");
	add("a.cls", "cat");
	expect_bad("t.tar: a.cls: has no label from 0 to 16777215");
	add("a.jpg", "x");
	add("a.cls", "-1");
	expect_bad("t.tar: a.cls: has no label from 0 to");
	add("a.jpg", "x");
	add("a.json", "{\"label\": \"cat\"}");
	expect_bad("t.tar: a.json: has no label from 0 to");
	add("a.jpg", "x");
	add("a.json", "{\"label\": 1, \"time\": \"soon\"}");
	expect_bad("t.tar: a.json: has a time that is none");
	add("a.jpg", "x");
	add("a.json", "{\"label\": ");
	expect_bad("t.tar: a.json is not valid JSON");
	add("a.jpg", "x");
	add("a.cls", "1");
	add("c/b.jpg", "x");
	expect_bad("t.tar: c/b.jpg: has no .cls or .json, and others have");
	add("c/a.jpg", "x");
	archive[3] ^= 1;
	expect_bad("t.tar: the member at byte 0: its header's checksum is wrong");
	add("c/a.jpg", "x");
	memcpy(archive + 124, "9", 1);
	set_sum(archive);
	expect_bad("t.tar: the member at byte 0: its size is not a number");
	add("c/a.jpg", "x");
	memcpy(archive + 124, "77777777777", 11);
	set_sum(archive);
	expect_bad("t.tar: the member at byte 0: the archive ends before it does");
	add("c/a.jpg", "x");
	memset(archive + 124, 0xff, 12);
	set_sum(archive);
	expect_bad("its size is not a number");
	add_typed('x', "p", "999 path=x\n", 11);
	expect_bad("its extended header makes no sense");
	add("", "x");
	expect_bad("it has no name");
	add("c/a.jpg", "x");
	write_bytes("t.tar", archive, 700);
	assert_int_equal(truncate(in_folder("t.tar"), 1100), 0);
	assert_refused("tar", "t.tar", "the archive ends within a header");
}

/* Every beginning of an archive, and every byte of its headers changed. */
static void any_damage_is_survived(void **state)
{
	struct records *records;
	struct err err;
	char words[300];

	snprintf(words, sizeof(words), "tar:%s/t.tar", folder);
	begin();
	add_typed('x', "p", "22 path=a/class/i.jpg\n", 22);
	add("x", "image");
	add("k.cls", "1");
	finish("t.tar");
	for (size_t size = 0; size < archive_size; size += 100) {
		write_bytes("t.tar", archive, size);
		if (!try_open(&records, words, NULL, &err))
			records_close(records);
	}
	for (size_t at = 0; at < 2 * BLOCK; at += 7) {
		archive[at] ^= 0x81;
		if (at < BLOCK)
			set_sum(archive);
		finish("t.tar");
		if (!try_open(&records, words, NULL, &err))
			records_close(records);
		archive[at] ^= 0x81;
		set_sum(archive);
	}
}

/* A large member that holds nothing but a hole. */
static void write_large(void)
{
	static const off_t hole = (off_t)65 << 20;
	FILE *file;

	begin();
	add("a.bin", "");
	snprintf((char *)archive + 124, 12, "%011o", (unsigned)hole);
	set_sum(archive);
	write_bytes("d/big.tar", archive, BLOCK);
	begin();
	add("a.jpg", "image");
	add("a.cls", "4");
	file = fopen(in_folder("d/big.tar"), "r+b");
	assert_non_null(file);
	fseek(file, BLOCK + hole, SEEK_SET);
	fwrite(archive, 1, archive_size + 2 * BLOCK, file);
	fclose(file);
}

static void check_large(void)
{
	struct records *records = opened("tar", "d/big.tar");

	assert_int_equal(records_info(records)->count, 1);
	assert_int_equal(records_info(records)->classes, 5);
	assert_int_equal(records_look(records, 0).label, 4);
	assert_memory_equal(read_one(records, 0)->data, "image", 5);
	records_close(records);
	read_one(NULL, 0);
}

static void an_index_is_kept(void **state)
{
	struct stat first, second;
	FILE *file;

	write_large();
	check_large();
	assert_int_equal(stat(in_folder("d/big.tar.retain-index"), &first), 0);
	check_large();
	assert_int_equal(stat(in_folder("d/big.tar.retain-index"), &second), 0);
	assert_int_equal(first.st_ino, second.st_ino);
	for (long at = 0; at < first.st_size; at++) {
		file = fopen(in_folder("d/big.tar.retain-index"), "r+b");
		assert_non_null(file);
		fseek(file, at, SEEK_SET);
		fputc(0x5a, file);
		fclose(file);
		check_large();
	}
}

static void memory_may_run_out(void **state)
{
	char words[300];

	begin();
	add("d/a.jpg", "x");
	add("d/a.txt", "1");
	add_link('2', "d/b.jpg", "a.jpg");
	add_link('2', "e", "d");
	finish("t.tar");
	snprintf(words, sizeof(words), "tar:%s/t.tar", folder);
	assert_true(failures_of_open(words) > 15);
}

static void cifar_as_images(void **state)
{
	const char *path = shared_data("cifar10/cifar10-jpeg.tar.gz");
	int64_t train[10] = {0}, test[10] = {0};
	struct records *records;
	struct err err = {0};

	if (!path)
		skip();
	assert_ok(try_open(&records, path, NULL, &err), err);
	assert_int_equal(records_info(records)->count, 60000);
	assert_int_equal(records_info(records)->classes, 10);
	assert_true(records_info(records)->parted);
	assert_string_equal(records_class_name(records, 9), "truck");
	for (int i = 0; i < 60000; i++) {
		const struct record record = records_look(records, i);

		(record.part == RECORDS_EVAL ? test : train)[record.label]++;
	}
	for (int label = 0; label < 10; label++) {
		assert_int_equal(train[label], 5000);
		assert_int_equal(test[label], 1000);
	}
	for (int i = 0; i < 60000; i += 1000)
		assert_memory_equal(read_one(records, i)->data, "\xff\xd8\xff", 3);
	records_close(records);
	read_one(NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		tree_test(a_webdataset),
		tree_test(folders_of_classes),
		tree_test(long_names),
		tree_test(links_are_followed),
		tree_test(labels_may_be_linked),
		tree_test(what_is_no_file_is_named),
		tree_test(links_have_bounds),
		tree_test(the_commands_archives),
		tree_test(wrong_archives_are_named),
		tree_test(any_damage_is_survived),
		tree_test(an_index_is_kept),
		tree_test(memory_may_run_out),
		cmocka_unit_test(cifar_as_images),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
