/*
 * Manifests: columns in any order, labels and times of every sort, errors by file,
 * row and column; an index that is found again, and made again when it must be.
 */
#include "records_check.h"

static void paths_labels_times(void **state)
{
	struct records *records;
	const struct records_info *info;
	char where[300];

	write_words("d/img/a.jpg", "A");
	write_words("d/img/b, \"c\".jpg", "BC");
	write_words("d/m.csv", "img/a.jpg,3,100\r\n\"img/b, \"\"c\"\".jpg\",0,-5,someone\r\n");
	assert_refused("manifest", "d/m.csv", "m.csv, row 2: has 4 columns, and row 1 has 3");
	write_words("d/m.csv", "img/a.jpg,3,100\r\n\"img/b, \"\"c\"\".jpg\",0,-5\r\n\r\n\n");
	records = opened("", "d/m.csv");
	info = records_info(records);
	assert_string_equal(records->type->name, "manifest");
	assert_int_equal(info->form, RECORDS_IMAGE);
	assert_int_equal(info->count, 2);
	assert_int_equal(info->classes, 4);
	assert_true(info->timed);
	assert_false(info->parted);
	assert_int_equal(records_look(records, 0).label, 3);
	assert_int_equal(records_look(records, 0).time, 100);
	assert_int_equal(records_look(records, 1).label, 0);
	assert_int_equal(records_look(records, 1).time, -5);
	assert_null(records_class_name(records, 3));
	assert_memory_equal(read_one(records, 1)->data, "BC", 2);
	assert_memory_equal(read_one(records, 0)->data, "A", 1);
	records_where(records, 1, where, sizeof(where));
	assert_non_null(strstr(where, "d/m.csv, row 2"));
	records_close(records);
	read_one(NULL, 0);
}

static void a_header_orders_columns(void **state)
{
	struct records *records;
	char where[300];

	write_words("a.jpg", "A");
	write_words("m.csv", "\xef\xbb\xbfID;Time;Class;Split;File\n"
			     "1;2024-02-29;zebra;train;a.jpg\n"
			     "2;1970-01-01T00:00:01;ant;test;b.jpg\n"
			     "3;1970-01-01;zebra;pretrain;c.jpg");
	records = opened("", "m.csv");
	assert_int_equal(records_info(records)->count, 3);
	assert_int_equal(records_info(records)->classes, 2);
	assert_true(records_info(records)->parted);
	assert_string_equal(records_class_name(records, 0), "ant");
	assert_string_equal(records_class_name(records, 1), "zebra");
	assert_null(records_class_name(records, 2));
	assert_int_equal(records_look(records, 0).label, 1);
	assert_int_equal(records_look(records, 1).label, 0);
	assert_int_equal(records_look(records, 0).part, RECORDS_STREAM);
	assert_int_equal(records_look(records, 1).part, RECORDS_EVAL);
	assert_int_equal(records_look(records, 2).part, RECORDS_PREPARE);
	assert_int_equal(records_look(records, 0).time, 1709164800000000);
	assert_int_equal(records_look(records, 1).time, 1000000);
	assert_memory_equal(read_one(records, 0)->data, "A", 1);
	records_where(records, 0, where, sizeof(where));
	assert_non_null(strstr(where, "m.csv, row 2"));
	assert_says(unreadable(records, 1), "m.csv, row 3: ");
	assert_says(unreadable(records, 1), "b.jpg: cannot open: No such file");
	records_close(records);
	read_one(NULL, 0);
}

/* The kinds of both columns show in the last row only. */
static void columns_change_their_minds(void **state)
{
	struct records *records;

	write_words("m.csv", "a.jpg,10,1\nb.jpg,9,2\nc.jpg,x,2.5\n");
	records = opened("manifest", "m.csv");
	assert_int_equal(records_info(records)->classes, 3);
	assert_int_equal(records_look(records, 0).label, 0); /* "10" < "9" < "x" */
	assert_int_equal(records_look(records, 1).label, 1);
	assert_int_equal(records_look(records, 2).label, 2);
	assert_int_equal(records_look(records, 0).time, 1000000);
	assert_int_equal(records_look(records, 2).time, 2500000);
	records_close(records);
	write_words("m.csv", "a.jpg,10\n");
	records = opened("manifest", "m.csv");
	assert_false(records_info(records)->timed);
	assert_int_equal(records_info(records)->classes, 11);
	records_close(records);
}

static void another_root(void **state)
{
	char setting[300], words[300];
	const char *settings[] = {setting, NULL};
	struct records *records;
	struct err err = {0};

	write_words("there/a.jpg", "T");
	write_words("here/m.csv", "a.jpg,0\n");
	snprintf(setting, sizeof(setting), "manifest.root=%s/there", folder);
	snprintf(words, sizeof(words), "manifest:%s/here/m.csv", folder);
	assert_ok(try_open(&records, words, settings, &err), err);
	assert_memory_equal(read_one(records, 0)->data, "T", 1);
	records_close(records);
	snprintf(words, sizeof(words), "%s/there/a.jpg,0\n", folder);
	write_words("here/m.csv", words);
	records = opened("manifest", "here/m.csv");
	assert_memory_equal(read_one(records, 0)->data, "T", 1);
	records_close(records);
	read_one(NULL, 0);
}

static void wrong_rows_are_named(void **state)
{
	static const struct {
		const char *words, *says;
	} rows[] = {
		{"", "m.csv: is empty"},
		{"\n", "row 1: has 1 column; a manifest has at least a path and a label"},
		{"path\na.jpg\n", "row 1: has 1 column"},
		{"path,label\n", "m.csv: has no rows"},
		{"path,time\na.jpg,1\n", "row 1: no column is called label"},
		{"label,time\n1,1\n", "row 1: no column is called path"},
		{"path,label,class\na.jpg,1,1\n",
			"row 1: columns 2 and 3 both stand for the label"},
		{"a.jpg,1,2,3,4\n", "row 1: has 5 columns and is not a header"},
		{"a.jpg,1\nb.jpg\n", "row 2: has 1 column, and row 1 has 2"},
		{"a.jpg,1\n\nb.jpg,1\n", "row 2: has 1 column, and row 1 has 2"},
		{"path,label\na.jpg,1\n,2\n", "row 3, column path: is empty"},
		{"path,label\na.jpg,1\nb.jpg,\n", "row 3, column label: the label is empty"},
		{"a.jpg,1,2024-01-01\nb.jpg,1,2024-02-30\n",
			"row 2, column time: 2024-02-30 is not a date like"},
		{"a.jpg,1,5\nb.jpg,1,never\n",
			"row 2, column time: never is not a number of seconds"},
		{"a.jpg,1,\n", "row 1, column time:  is not a date"},
		{"path,label,split\na.jpg,1,maybe\n",
			"row 2, column part: maybe is not one of train, val, test, pretrain"},
		{"a.jpg,1\n\"b.jpg,1\n", "row 2: a quote is never closed"},
		{"a.jpg,1\n\"b\".jpg,1\n", "row 2: something stands between a closing quote"},
	};

	assert_refused("manifest", "m.csv", "m.csv: cannot open");
	for (size_t i = 0; i < COUNT(rows); i++) {
		write_words("m.csv", rows[i].words);
		assert_refused("manifest", "m.csv", rows[i].says);
		assert_refused("manifest", "m.csv", "m.csv");
	}
}

/* Every beginning of a manifest is opened or refused. */
static void any_beginning_is_survived(void **state)
{
	static const char words[] = "path,label,time,split\n\"a \"\"b\"\".jpg\",x,1,val\n"
				    "c.jpg,1,2.5,train\r\n";
	struct records *records;
	struct err err;
	char path[300];

	snprintf(path, sizeof(path), "manifest:%s", in_folder("m.csv"));
	for (size_t size = 0; size < sizeof(words); size++) {
		write_bytes("m.csv", words, size);
		if (try_open(&records, path, NULL, &err))
			continue;
		unreadable(records, 0);
		records_close(records);
	}
}

static void a_changed_manifest_is_an_error(void **state)
{
	struct records *records;

	write_words("m.csv", "a.jpg,1\nb.jpg,1\n");
	records = opened("manifest", "m.csv");
	write_words("m.csv", "\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"");
	assert_says(unreadable(records, 0), "m.csv, row 1: ");
	write_words("m.csv", "a");
	assert_says(unreadable(records, 1), "m.csv: has become shorter");
	records_close(records);
}

enum { MANY = 1200000, MANY_BYTES = 33 << 20 };

static void write_many(void)
{
	char *words = malloc(MANY * 40), *at = words;

	assert_non_null(words);
	at += sprintf(at, "path,label,time\n");
	for (int i = 0; i < MANY; i++) {
		/* By hand: printf would take most of the test's time. */
		memcpy(at, "images/0000000.jpg,class0,1000000\n", 34);
		for (int k = 0, n = i; k < 7; k++, n /= 10) {
			at[13 - k] = (char)('0' + n % 10);
			at[32 - k] = (char)('0' + n % 10);
		}
		at[24] = (char)('0' + i % 7);
		at += 34;
	}
	write_bytes("d/m.csv", words, (size_t)(at - words));
	assert_true(at - words > MANY_BYTES);
	free(words);
}

static void check_many(void)
{
	struct records *records = opened("manifest", "d/m.csv");

	assert_int_equal(records_info(records)->count, MANY);
	assert_int_equal(records_info(records)->classes, 7);
	assert_int_equal(records_look(records, 1000001).label, 1000001 % 7);
	assert_int_equal(records_look(records, 1000001).time, 1000001);
	assert_string_equal(records_class_name(records, 6), "class6");
	assert_says(unreadable(records, MANY - 1), "images/1199999.jpg: cannot open");
	assert_says(unreadable(records, MANY - 1), "m.csv, row 1200001: ");
	records_close(records);
}

static void damage(const char *name, long at)
{
	FILE *file = fopen(in_folder(name), "r+b");

	assert_non_null(file);
	fseek(file, at, SEEK_SET);
	fputc(0x5a, file);
	fclose(file);
}

static void an_index_is_kept(void **state)
{
	const struct timespec times[2] = {{12345, 6}, {12345, 6}};
	struct stat first, second;

	write_many();
	check_many();
	assert_int_equal(stat(in_folder("d/m.csv.retain-index"), &first), 0);
	assert_true(first.st_size < MANY * 16 + 4096);
	check_many();
	assert_int_equal(stat(in_folder("d/m.csv.retain-index"), &second), 0);
	assert_int_equal(first.st_ino, second.st_ino); /* not written again */
	damage("d/m.csv.retain-index", 1000000);
	check_many();
	damage("d/m.csv.retain-index", 10);
	check_many();
	assert_int_equal(stat(in_folder("d/m.csv.retain-index"), &first), 0);
	assert_int_equal(utimensat(AT_FDCWD, in_folder("d/m.csv"), times, 0), 0);
	check_many();
	assert_int_equal(stat(in_folder("d/m.csv.retain-index"), &second), 0);
	assert_int_not_equal(first.st_mtim.tv_nsec, second.st_mtim.tv_nsec);
	/* Where the data's folder is closed, the cache folder has it. A folder of the index's name
	 * closes it to root, too. */
	remove(in_folder("d/m.csv.retain-index"));
	assert_int_equal(mkdir(in_folder("d/m.csv.retain-index"), 0700), 0);
	check_many();
	check_many();
	assert_int_equal(stat(in_folder("cache/retain"), &first), 0);
}

static void memory_may_run_out(void **state)
{
	char words[300];

	write_words("m.csv", "path,label,time\na.jpg,x,1\nb.jpg,y,1.5\n");
	snprintf(words, sizeof(words), "manifest:%s/m.csv", folder);
	assert_true(failures_of_open(words) > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		tree_test(paths_labels_times),
		tree_test(a_header_orders_columns),
		tree_test(columns_change_their_minds),
		tree_test(another_root),
		tree_test(wrong_rows_are_named),
		tree_test(any_beginning_is_survived),
		tree_test(a_changed_manifest_is_an_error),
		tree_test(an_index_is_kept),
		tree_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
