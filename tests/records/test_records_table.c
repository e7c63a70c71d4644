/*
 * Tables: numbers as they are, categories in the order of their first appearance, texts,
 * columns by name and number, given schemas; errors by file, row and column.
 */
#include "records_check.h"

#include <math.h>

enum { SLOTS = 32, WORDS = 256 };

static struct records *opened_with(const char *name, const char *const *settings)
{
	struct records *records;
	struct err err = {0};
	char words[400];

	snprintf(words, sizeof(words), "table:%s", in_folder(name));
	assert_ok(try_open(&records, words, settings, &err), err);
	return records;
}

static float input(struct records *records, int64_t i, int k)
{
	const struct record_bytes *bytes = read_one(records, i);
	float number;

	assert_true(bytes->size > (size_t)k * 4);
	memcpy(&number, bytes->data + 4 * k, 4);
	return number;
}

static void expect(struct records *records, int64_t i, int k, double number)
{
	const float found = input(records, i, k);

	if (found != (float)number && !(isnan(found) && isnan(number)))
		fail_msg("row %d, input %d: %g, not %g", (int)i, k, found, number);
}

static void expect_notes(struct records *records, const char *says)
{
	const char *notes = records_notes(records);

	if (!says ? notes != NULL : !notes || !strstr(notes, says))
		fail_msg("%s: not %s", notes ? notes : "nothing", says ? says : "nothing");
}

static void columns_become_inputs(void **state)
{
	struct records *records;
	const struct records_info *info;
	char where[300];

	write_words("t.csv", "size,colour,label,when\n"
			     "1,red,yes,2024-01-01\n"
			     "3,blue,no,2024-01-02\n"
			     "5,red,no,2024-01-02\n"
			     ",\"green, dark\",yes,2024-01-03\n"
			     "1000,,yes,2024-01-03\n\n");
	records = opened_with("t.csv", SETTINGS("table.time=when"));
	info = records_info(records);
	assert_int_equal(info->form, RECORDS_FLOATS);
	assert_int_equal(info->count, 5);
	assert_int_equal(info->classes, 2);
	assert_int_equal(info->channels, 1 + SLOTS); /* size; red, blue, green */
	assert_int_equal(info->height * info->width, 1);
	assert_true(info->timed);
	assert_string_equal(records_class_name(records, 0), "no");
	assert_string_equal(records_class_name(records, 1), "yes");
	assert_null(records_class_name(records, 2));
	assert_int_equal(records_look(records, 0).label, 1);
	assert_int_equal(records_look(records, 1).label, 0);
	assert_int_equal(records_look(records, 0).time, 1704067200000000);
	expect(records, 0, 0, 1);
	expect(records, 1, 0, 3);
	expect(records, 3, 0, NAN);
	expect(records, 4, 0, 1000);
	expect(records, 0, 1, 1);
	expect(records, 1, 1, 0);
	expect(records, 1, 2, 1);
	expect(records, 2, 1, 1);
	expect(records, 3, 3, 1);
	for (int k = 1; k <= SLOTS; k++)
		expect(records, 4, k, 0);
	records_where(records, 3, where, sizeof(where));
	assert_non_null(strstr(where, "t.csv, row 5"));
	records_close(records);
	records = opened_with("t.csv", SETTINGS("table.ignore=when, 1", "schema.slots=2"));
	assert_int_equal(records_info(records)->channels, 2);
	for (int i = 0; i < 5; i++)
		assert_true(input(records, i, 0) + input(records, i, 1) ==
			    (float)(i == 3 ? 2 : i < 3)); /* the third colour is both */
	records_close(records);
	read_one(NULL, 0);
}

static void without_a_header(void **state)
{
	struct records *records;

	write_words("t.tsv", "1\t2\t7\n3\t4\t0\n");
	records = opened("", "t.tsv");
	assert_string_equal(records->type->name, "table");
	assert_int_equal(records_info(records)->count, 2);
	assert_int_equal(records_info(records)->classes, 8);
	assert_int_equal(records_info(records)->channels, 2);
	assert_int_equal(records_look(records, 0).label, 7);
	records_close(records);
	records = opened_with("t.tsv",
		SETTINGS("table.label=1", "table.categorical=2", "table.time=3", "table.time=-"));
	assert_int_equal(records_look(records, 1).label, 3);
	assert_int_equal(records_info(records)->channels, 1 + SLOTS);
	records_close(records);
}

/* How many records, classes and inputs a table has. */
static void expect_table(
	const char *words, const char *setting, int64_t count, int classes, int inputs)
{
	struct records *records;
	const struct records_info *info;

	write_words("t.csv", words);
	records = opened_with("t.csv", SETTINGS(setting));
	info = records_info(records);
	if (info->count != count || info->classes != classes || info->channels != inputs)
		fail_msg("%s: %d records, %d classes, %d inputs", words, (int)info->count,
			info->classes, info->channels);
	records_close(records);
}

static void headers_are_told_from_rows(void **state)
{
	static const struct {
		const char *words;
		int count, classes, inputs;
	} rows[] = {
		/* Words above numbers, whatever the label's column is called. */
		{"x1,x2,spam\n1,2,spam\n3,4,ham\n", 2, 2, 2},
		{"\"x, 1\",\"the \"\"label\"\"\"\n1,2\n1,0\n", 2, 3, 1},
		{",x,label\n0,1.5,a\n1,2.5,b\n", 2, 2, 2},
		/* Columns that are numbered. */
		{"1,2,label\n0.5,0.7,cat\n0.1,0.3,dog\n", 2, 2, 2},
		{"0,1,2,species\n5,3,1,a\n5,4,2,b\n5,4,2,b\n", 3, 2, 3},
		{"\"1\",\"2\",\"label\"\n0.5,0.7,cat\n0.1,0.3,dog\n", 2, 2, 2},
		{",0,1,label\n0,5,3,a\n1,5,4,b\n", 2, 2, 3},
		/* Nothing but words. */
		{"colour,size,label\nred,small,yes\nblue,large,no\n", 2, 2, 2 * SLOTS},
		{"red,small,yes\nblue,large,no\nred,large,yes\n", 3, 2, 2 * SLOTS},
		/* Rows: words that come again, numbers that are no columns'. */
		{"5.1,3.5,setosa\n4.9,3.0,setosa\n6.0,2.2,virginica\n", 3, 2, 2},
		{"5.1,3.5,setosa\n6.0,2.2,virginica\n", 2, 2, 2},
		{"1,2,cat\n3,4,dog\n5,6,cat\n", 3, 2, 2},
		{"5.1,3.5,setosa\n", 1, 1, 2},
		{"NA,2,cat\n1,3,dog\n2,4,cat\n", 3, 2, SLOTS + 1},
		{"odd,2,cat\n1,3,dog\n2,4,cat\n", 3, 2, SLOTS + 1},
		/* All numbers: cannot be told, so a row. */
		{"1,2,3\n4,5,1\n", 2, 4, 2},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		expect_table(rows[i].words, NULL, rows[i].count, rows[i].classes, rows[i].inputs);
	expect_table("1,2,3\n4,5,1\n", "table.header=yes", 1, 2, 2);
	expect_table("1,2,a\n3,4,b\n", "table.header=no", 2, 2, 2);
	expect_table("a,b,c\n", "table.header=no", 1, 1, 2 * SLOTS);
	write_words("t.csv", "1,2,label\n");
	assert_refused("table", "t.csv", "t.csv: has no rows below its header (table.header = no");
}

/* Other ways to write numbers make words, save for those that say that there is none. */
/* -1 and 1, and numbers as large as ids. */
static void numbers_that_are_no_classes_are_names(void **state)
{
	struct records *records;

	write_words("t.csv", "x,label\n1,1\n2,-1\n3,16777216\n");
	records = opened_with("t.csv", NULL);
	assert_int_equal(records_info(records)->classes, 3);
	assert_string_equal(records_class_name(records, 0), "-1");
	assert_string_equal(records_class_name(records, 2), "16777216");
	assert_int_equal(records_look(records, 0).label, 1);
	assert_int_equal(records_look(records, 1).label, 0);
	records_close(records);
}

static void only_decimals_are_numbers(void **state)
{
	static const char *const missing[] = {"", "NA", "?", "null", "nan", "-NaN", "inf", "-Inf",
		"Infinity", "1e999", "-", "n.a.", "N.A.", "#N/A", "#n/a"};
	static const char *const words[] = {"0x1p3", "0x10", "1_000", "1e", "-x", "one"};
	static const char *const numbers[] = {"8", "-8.5", "-5", "+8", "8e1", ".8", "8."};
	struct records *records;
	char table[100];

	for (size_t i = 0; i < COUNT(missing) + COUNT(words) + COUNT(numbers); i++) {
		const size_t w = i - COUNT(missing), n = w - COUNT(words);
		const bool word = w < COUNT(words);

		snprintf(table, sizeof(table), "x,label\n1.5,0\n%s,1\n",
			i < COUNT(missing) ? missing[i]
			: word             ? words[w]
					   : numbers[n]);
		expect_table(table, NULL, 2, 2, word ? SLOTS : 1);
	}
	write_words("t.csv", "x,label\n1,0\n-inf,1\n3,1\n");
	records = opened_with("t.csv", NULL);
	expect(records, 1, 0, NAN);
	records_close(records);
	read_one(NULL, 0);
}

/* A column that begins empty has a category's room; a long text becomes words. */
static void kinds_show_in_the_first_row(void **state)
{
	struct records *records;
	int words = 0;

	write_words("t.csv", "open,late,review,label\n"
			     ",,a great phone but too small,x\n"
			     "5,red,\"the \"\"best\"\" phone\",y\n");
	records = opened_with("t.csv", NULL);
	assert_int_equal(records_info(records)->channels, 2 * SLOTS + WORDS);
	expect(records, 0, 0, NAN);
	expect(records, 0, SLOTS, NAN);
	expect(records, 1, 0, 5);
	expect(records, 1, SLOTS, 1);
	expect(records, 1, SLOTS + 1, 0);
	for (int k = 0; k < WORDS; k++)
		words += input(records, 1, 2 * SLOTS + k) == 1;
	assert_int_equal(words, 3);
	records_close(records);
	records = opened_with("t.csv", SETTINGS("table.text=late", "schema.words=8"));
	assert_int_equal(records_info(records)->channels, SLOTS + 2 * 8);
	records_close(records);
	read_one(NULL, 0);
}

/* A schema that is given decides on kinds and places, whatever the order of columns. */
static void a_schema_is_followed(void **state)
{
	struct records *records;
	char setting[300];
	struct err err;

	write_words("s.json", "{\"slots\": 3, \"label\": \"kind\", \"columns\": ["
			      "{\"name\": \"c\", \"kind\": \"category\", \"values\": [\"b\"]},"
			      "{\"name\": \"n\", \"kind\": \"number\"}]}");
	snprintf(setting, sizeof(setting), "schema.from=%s", in_folder("s.json"));
	write_words("t.csv", "kind,n,more,c\nx,1.5,9,a\ny,2,9,b\nx,,9,7\n");
	records = opened_with("t.csv", SETTINGS(setting));
	assert_int_equal(records_info(records)->channels, 4);
	assert_int_equal(records_info(records)->classes, 2);
	expect(records, 0, 1, 1); /* a comes after b */
	expect(records, 0, 3, 1.5);
	expect(records, 1, 0, 1);
	expect(records, 2, 2, 1);
	expect(records, 2, 3, NAN);
	records_close(records);
	/* Without the label there is none. */
	write_words("t.csv", "n,more,c\n1.5,9,a\n2,9,b\n");
	records = opened_with("t.csv", SETTINGS(setting));
	assert_int_equal(records_look(records, 0).label, -1);
	expect(records, 1, 0, 1);
	records_close(records);
	read_one(NULL, 0);
	write_words("t.csv", "kind,m,label\n1,9,a\n2,9,b\n");
	err = refused_with("table", "t.csv", SETTINGS(setting));
	assert_says(err, "t.csv: has no columns c, n, which");
	write_words("t.csv", "kind,n,c\nx,9,a\nx,nine,b\n");
	err = refused_with("table", "t.csv", SETTINGS(setting));
	assert_says(err, "t.csv, row 3, column n: nine is not a number");
	err = refused_with("table", "t.csv", SETTINGS("schema.from=nowhere.json"));
	assert_says(err, "nowhere.json");
}

/* Questions of a survey are found by all of their words; of a schema of earlier versions by number. */
static void long_names_are_names(void **state)
{
	struct records *records;
	char question[80], header[400], setting[400], longest[301], schema[400];

	memset(question, 'q', sizeof(question) - 1);
	question[sizeof(question) - 1] = '\0';
	snprintf(header, sizeof(header), "%s one?,%s two?,%s three?\n1,2,a\n3,4,b\n", question,
		question, question);
	write_words("t.csv", header);
	snprintf(setting, sizeof(setting), "table.label=%s one?", question);
	records = opened_with("t.csv", SETTINGS(setting));
	expect_notes(records, NULL);
	expect(records, 1, 0, 4);
	records_close(records);
	read_one(NULL, 0);
	snprintf(schema, sizeof(schema),
		"{\"columns\": [{\"name\": \"%s two?\", \"kind\": \"number\"},"
		"{\"name\": \"1\", \"kind\": \"number\"}]}",
		question);
	write_words("s.json", schema);
	snprintf(setting, sizeof(setting), "schema.from=%s", in_folder("s.json"));
	records = opened_with("t.csv", SETTINGS(setting));
	expect(records, 0, 0, 2);
	expect(records, 0, 1, 1);
	records_close(records);
	read_one(NULL, 0);
	memset(longest, 'q', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	snprintf(header, sizeof(header), "a,%s,label\n1,2,a\n3,4,b\n", longest);
	write_words("t.csv", header);
	records = opened_with("t.csv", NULL);
	expect_notes(
		records, "column 2: its name has 300 bytes, more than 255, so it is called 2\n");
	records_close(records);
	read_one(NULL, 0);
}

static void wrong_tables_are_named(void **state)
{
	static const struct {
		const char *words, *setting, *says;
	} rows[] = {
		{"", NULL, "t.csv: is empty"},
		{"a\n1\n", NULL, "row 1: has 1 column; a table has 2 to 65536"},
		{"a,b\n", NULL, "t.csv: has no rows"},
		{"a,b\n\n", NULL, "t.csv: has no rows"},
		{"a,b\n1,2\n3\n", NULL, "t.csv, row 3: has 1 column, and row 1 has 2"},
		{"a,b\n1,2\n\"3,4\n", NULL, "t.csv, row 3: a quote is never closed"},
		{"a,b\n1,\n", NULL,
			"t.csv, row 2, column b: the label is empty (stream.on_bad=skip leaves"},
		{"a,b\nx,1\n", "table.categorical=", "t.csv, row 2, column a: x is not a number"},
		{"a,b\n1,1\n", "table.label=c",
			"has no column c, which table.label (--label) names; did"},
		{"price,class\n1,1\n", "table.label=clas",
			"has no column clas, which table.label (--label) names; did you mean "
			"class?"},
		{"a,b\n1,1\n", "table.time=3", "has no column 3, which table.time (--time) names"},
		{"a,b\n1,1\n", "table.ignore=a,x",
			"has no column x, which table.ignore (--ignore) names"},
		{"a,b\n1,1\n", "table.categorical=q", "has no column q"},
		{"a,b\n1,1\n", "table.time=b", "column b is both label and time"},
		{"a,b\n1,1\n", "table.ignore=a", "its columns make 0 inputs"},
		{"a,time,b\n1,5,1\n1,soon,1\n", "table.time=time",
			"t.csv, row 3, column time: soon is not a number of seconds"},
		{"\xff\xfe"
		 "a",
			NULL,
			"t.csv: is UTF-16, and retain reads UTF-8; iconv -f UTF-16 -t UTF-8 "},
		{"a,b\r1,1\r2,0\r", NULL, "t.csv: its lines end with a carriage return alone"},
	};

	assert_refused("table", "t.csv", "t.csv: cannot open");
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err err;

		write_words("t.csv", rows[i].words);
		err = refused_with("table", "t.csv", SETTINGS(rows[i].setting));
		assert_says(err, rows[i].says);
	}
}

/* A table of `count` rows 0.5,1 whose cells in these rows (from 0 on) are others. */
static void write_odd(const char *head, const char *tail, int count, int every, const char *odd)
{
	char words[20000];
	size_t used = (size_t)snprintf(words, sizeof(words), "%s", head);

	for (int i = 0; i < count; i++)
		used += (size_t)snprintf(words + used, sizeof(words) - used, "%s%s",
			every && i % every == every - 1 ? odd : "0.5", tail);
	write_words("t.csv", words);
}

/* A few words among numbers are missing, which is said; more of them, or a key, make categories. */
static void nearly_all_numbers(void **state)
{
	struct records *records, *again;
	char setting[300];

	write_odd("a,label\n", ",1\n", 100, 20, "\"1,2345\"");
	records = opened_with("t.csv", NULL);
	assert_int_equal(records_info(records)->channels, 1);
	expect(records, 18, 0, 0.5);
	expect(records, 19, 0, NAN);
	expect_notes(records, "column a: 5 cells of 100 are not numbers, the first \"1,2345\" "
			      "in row 21; they count as missing (table.categorical=auto,a: the "
			      "column has categories)\n");
	records_close(records);
	records = opened_with("t.csv", SETTINGS("table.categorical=auto,a"));
	assert_int_equal(records_info(records)->channels, SLOTS);
	expect_notes(records, NULL);
	records_close(records);
	/* The first cell may be an odd one. */
	write_odd("a,label\nodd,1\n", ",1\n", 30, 0, "");
	records = opened_with("t.csv", NULL);
	assert_int_equal(records_info(records)->channels, 1);
	expect(records, 0, 0, NAN);
	expect(records, 1, 0, 0.5);
	expect_notes(records, "1 cell of 31 is not a number, \"odd\" in row 2; it counts as");
	records_close(records);
	write_odd("a,label\n", ",1\n", 100, 19, "odd");
	records = opened_with("t.csv", NULL);
	assert_int_equal(records_info(records)->channels, 1);
	records_close(records);
	write_odd("a,label\n", ",1\n", 100, 15, "odd"); /* 6 of 100 */
	records = opened_with("t.csv", NULL);
	assert_int_equal(records_info(records)->channels, SLOTS);
	records_close(records);
	write_odd("a,label\n", ",1\n", 19, 19, "odd");
	records = opened_with("t.csv", NULL);
	assert_int_equal(records_info(records)->channels, SLOTS);
	records_close(records);
	/* The schema of such a table says so. */
	write_words("s.json", "{\"columns\": [{\"name\": \"a\", \"kind\": \"number\", \"lax\": "
			      "true}], \"label\": \"label\"}");
	snprintf(setting, sizeof(setting), "schema.from=%s", in_folder("s.json"));
	again = opened_with("t.csv", SETTINGS(setting));
	expect(again, 18, 0, NAN);
	expect(again, 17, 0, 0.5);
	records_close(again);
	read_one(NULL, 0);
}

/* Rows with a number, a moment, an id and a note that never comes again. */
static void write_many(const char *heading)
{
	struct text words = {0};

	text_addf(&words, "%s\n", heading);
	for (int i = 0; i < 60; i++)
		text_addf(&words, "%d,2024-03-%02d %02d:00,c%x,it says w%d and w%d and w%d,%d,%s\n",
			i + 7, 1 + i % 28, i % 24, 4096 + i * 37, i, 2 * i, 3 * i, i % 5,
			i % 2 ? "yes" : "no");
	write_words("t.csv", words.data);
	text_release(&words);
}

static void ids_are_left_out_and_dates_are_numbers(void **state)
{
	struct records *records;

	(void)state;
	write_many("nr,seen,customer,note,x,label");
	records = opened_with("t.csv", NULL);
	assert_int_equal(records_info(records)->channels, 4 + 1);
	expect(records, 1, 0, 19784 + 1 / 24.0);
	expect(records, 1, 1, 5 / 7.0);
	expect(records, 1, 2, 61 / 366.0);
	expect(records, 1, 3, 1 / 24.0);
	expect(records, 1, 4, 1);
	expect_notes(
		records, "columns nr, customer, note: values never come again, as those of ids;");
	records_close(records);
	/* As earlier versions had it, and as keys say. */
	records = opened_with("t.csv", SETTINGS("schema.dates=no", "table.ids=keep"));
	assert_int_equal(records_info(records)->channels, 1 + 2 * SLOTS + WORDS + 1);
	records_close(records);
	records = opened_with(
		"t.csv", SETTINGS("table.text=note", "table.categorical=auto,customer"));
	assert_int_equal(records_info(records)->channels, 4 + SLOTS + WORDS + 1);
	records_close(records);
	/* Where there is nothing else, they stay. */
	records = opened_with("t.csv", SETTINGS("table.ignore=nr,seen,customer,x"));
	assert_int_equal(records_info(records)->channels, WORDS);
	records_close(records);
	write_many("nr,seen,x,note,x,label");
	assert_refused(
		"table", "t.csv", "t.csv: columns 3 and 5 are both called x; names must differ");
}

/* The few that are none are missing; seconds since 1970 need a name that speaks of time. */
static void dates_are_told_from_words_and_numbers(void **state)
{
	struct records *records;
	struct text words = {0};

	(void)state;
	text_addf(&words, "a,created_at,amount,b,label\n");
	for (int i = 0; i < 100; i++)
		text_addf(&words, "%s,%d,%d,%s,%d\n",
			i == 50 ? "never"
			: i % 2 ? "01.02.2012"
				: "",
			1500000000 + i * 999, 1500000000 + i * 999, i % 3 ? "2012-01-01" : "soon",
			i % 2);
	write_words("t.csv", words.data);
	text_release(&words);
	records = opened_with("t.csv", NULL);
	assert_int_equal(records_info(records)->channels, 3 + 4 + 1 + SLOTS);
	expect(records, 0, 0, NAN);
	expect(records, 1, 0, 15371);
	expect(records, 50, 0, NAN);
	expect(records, 0, 3, 1500000000 / 86400.0);
	expect(records, 0, 7, 1500000000);
	records_close(records);
}

static void decimal_commas(void **state)
{
	struct records *records;
	char setting[300];

	write_words("t.csv", "a;b;label\n1,5;7;x\n-2,25;8;y\n3;9;x\n");
	records = opened_with("t.csv", NULL);
	assert_int_equal(records_info(records)->channels, 2);
	expect(records, 0, 0, 1.5);
	expect(records, 1, 0, -2.25);
	expect(records, 2, 0, 3);
	expect_notes(records, "column a: numbers have decimal commas, like 1,5 in row 2 (");
	records_close(records);
	write_words("s.json", "{\"columns\": [{\"name\": \"a\", \"kind\": \"number\", \"commas\": "
			      "true}], \"label\": \"label\"}");
	snprintf(setting, sizeof(setting), "schema.from=%s", in_folder("s.json"));
	records = opened_with("t.csv", SETTINGS(setting));
	expect(records, 1, 0, -2.25);
	records_close(records);
	/* A header is told from rows of such numbers. */
	write_words("t.csv", "1,5;7,1;0\n-2,25;8,1;1\n3;9,1;1\n");
	records = opened_with("t.csv", NULL);
	assert_int_equal(records_info(records)->count, 3);
	records_close(records);
	/* Thousands? */
	write_words("t.csv", "a;label\n1,500;x\n2,250;y\n300;x\n");
	records = opened_with("t.csv", NULL);
	assert_int_equal(records_info(records)->channels, SLOTS);
	expect_notes(records,
		"column a: \"1,500\" in row 2 is not a number, for its comma may part "
		"thousands or decimals, so the column has categories; write it "
		"without a comma\n");
	records_close(records);
	/* With points beside them it cannot be told. */
	write_words("t.csv", "a,label\n\"1,5\",x\n2.5,y\n");
	records = opened_with("t.csv", NULL);
	expect_notes(records,
		"\"1,5\" in row 2 is not a number, so the column has categories; write "
		"decimal points, not commas\n");
	records_close(records);
	read_one(NULL, 0);
}

/* Of a table with one column of inputs: its floats, and the note. */
static void expect_written(const char *table, const float *wanted, int count, const char *note)
{
	struct records *records;

	write_words("t.csv", table);
	records = opened_with("t.csv", NULL);
	assert_int_equal(records_info(records)->channels, 1);
	for (int i = 0; i < count; i++)
		expect(records, (uint64_t)i, 0, wanted[i]);
	expect_notes(records, note);
	records_close(records);
}

static void units_and_groups(void **state)
{
	struct records *records;

	expect_written("a,label\n12.5%,x\n7 %,y\n3,x\n", (float[]){12.5F, 7, 3}, 3,
		"column a: numbers are written with units or in groups, like 12.5% in row 2 (");
	expect_written("a,label\n$5,x\n\"-$1,234.50\",y\n\"$1,000,000\",x\n",
		(float[]){5, -1234.5F, 1e6F}, 3, "like $5 in row 2 (");
	expect_written("a;label\n1.234,50 €;x\n-2,5 €;y\n1'000;x\n",
		(float[]){1234.5F, -2.5F, 1000}, 3,
		"column a: numbers have decimal commas, like 1.234,50 € in row 2 (");
	expect_written("a,label\n\"1,5\",x\n\"2,5\",y\n", (float[]){1.5F, 2.5F}, 2,
		"column a: numbers have decimal commas, like 1,5 in row 2 (");
	/* Between commas, 1,500 is 1500. */
	expect_written("a,label\n\"1,500\",x\n250,y\n", (float[]){1500, 250}, 2, "like 1,500 ");
	/* Words of which one is none stay words. */
	write_words("t.csv", "a,label\n$5,x\n$5 off,y\n");
	records = opened_with("t.csv", NULL);
	assert_int_equal(records_info(records)->channels, SLOTS);
	records_close(records);
	read_one(NULL, 0);
}

/* Blank lines anywhere, comments before the header, and the header again further down. */
static void lines_that_are_no_rows(void **state)
{
	struct records *records;
	char where[300];

	write_words("t.csv", "# from the shop\n\r\n# 2024, 2025\na,b,label\n1,2,x\n\n \n3,4,y\n"
			     "a,b,label\n\xef\xbb\xbf"
			     "a,b,label\r\n5,6,x\n\n");
	records = opened_with("t.csv", NULL);
	assert_int_equal(records_info(records)->count, 3);
	assert_int_equal(records_info(records)->channels, 2);
	expect(records, 2, 1, 6);
	records_where(records, 0, where, sizeof(where));
	assert_non_null(strstr(where, "t.csv, row 5"));
	records_where(records, 1, where, sizeof(where));
	assert_non_null(strstr(where, "t.csv, row 8"));
	records_where(records, 2, where, sizeof(where));
	assert_non_null(strstr(where, "t.csv, row 11"));
	expect_notes(records, "its header comes again in row 9 and below; such lines are "
			      "skipped\n");
	records_close(records);
	expect_table("#a,b,label\n1,2,x\n3,4,y\n", NULL, 2, 2, 2);
	expect_table("# made 2024, by me\na,label\n1,x\n3,y\n", NULL, 2, 2, 1);
	expect_table("a|b|label\n1|2|x\n3|4|y\n", NULL, 2, 2, 2);
	read_one(NULL, 0);
}

static void what_is_ignored_is_nothing_else(void **state)
{
	struct records *records;

	write_words("t.csv", "a,date,b,y\n1,soon,u,0\n2,later,v,1\n");
	records = opened_with("t.csv", SETTINGS("table.ignore=date, y"));
	assert_false(records_info(records)->timed);
	assert_int_equal(records_info(records)->channels, 1);
	assert_string_equal(records_class_name(records, 1), "v");
	records_close(records);
}

static void large_numbers_among_words_are_words(void **state)
{
	struct records *records;

	write_words("t.csv", "a,label\n3fa9,x\n12e999,y\n77,x\n");
	records = opened_with("t.csv", NULL);
	expect(records, 1, 1, 1);
	expect(records, 2, 2, 1);
	records_close(records);
	read_one(NULL, 0);
}

/* As many columns as there are in the file, of which only so many were looked at. */
static void too_many_columns_are_refused(void **state)
{
	enum { WIDE = 600000 };
	char *row = malloc(WIDE);

	for (size_t columns = (1 << 16) + 1; columns < WIDE; columns *= 3) {
		struct err err;

		memset(row, ',', columns);
		row[columns - 1] = '\n';
		write_bytes("t.csv", row, columns);
		err = refused_with("table", "t.csv", NULL);
		assert_says(err, "columns; a table has 2 to 65536");
	}
	free(row);
}

static void any_beginning_is_survived(void **state)
{
	static const char words[] = "x,time,\"c\"\"q\",label\n1.5,1,\"a \"\"b\"\"\",x\n"
				    "-2e3,2.5,,1\r\nNA,3,z,y\n";
	struct records *records;
	struct err err;
	char path[300];

	snprintf(path, sizeof(path), "table:%s", in_folder("t.csv"));
	for (size_t size = 0; size < sizeof(words); size++) {
		write_bytes("t.csv", words, size);
		if (try_open(&records, path, NULL, &err))
			continue;
		read_one(records, 0);
		records_close(records);
	}
	read_one(NULL, 0);
}

static void a_small_table_does_not_change(void **state)
{
	struct records *records;

	write_words("t.csv", "a,b\n1,1\n2,2\n");
	records = opened("table", "t.csv");
	write_words("t.csv", "a,b\n");
	expect(records, 1, 0, 2);
	records_close(records);
	read_one(NULL, 0);
}

/* Blank lines make it too large for the memory. */
static void a_changed_table_is_an_error(void **state)
{
	enum { LARGE = 17 << 20 };
	static const char words[] = "a,b\n1,1\n2,2\n";
	char *bytes = malloc(LARGE);
	struct records *records;

	assert_non_null(bytes);
	memset(bytes, '\n', LARGE);
	memcpy(bytes, words, sizeof(words) - 1);
	write_bytes("t.csv", bytes, LARGE);
	free(bytes);
	records = opened("table", "t.csv");
	write_words("t.csv", "a,b\n1 1\n2,2\n");
	assert_says(unreadable(records, 0), "t.csv, row 2: has changed since it was opened");
	write_words("t.csv", "a,b\n");
	assert_says(unreadable(records, 1), "t.csv: has become shorter");
	records_close(records);
}

static void memory_may_run_out(void **state)
{
	char words[300];

	write_words("t.csv", "x,c,time,label\n1,a,1,x\n2,b,2,y\n");
	snprintf(words, sizeof(words), "table:%s/t.csv", folder);
	assert_true(each_allocation_fails(open_and_close, words) > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		tree_test(columns_become_inputs),
		tree_test(without_a_header),
		tree_test(headers_are_told_from_rows),
		tree_test(numbers_that_are_no_classes_are_names),
		tree_test(only_decimals_are_numbers),
		tree_test(kinds_show_in_the_first_row),
		tree_test(a_schema_is_followed),
		tree_test(long_names_are_names),
		tree_test(wrong_tables_are_named),
		tree_test(nearly_all_numbers),
		tree_test(large_numbers_among_words_are_words),
		tree_test(ids_are_left_out_and_dates_are_numbers),
		tree_test(dates_are_told_from_words_and_numbers),
		tree_test(decimal_commas),
		tree_test(units_and_groups),
		tree_test(lines_that_are_no_rows),
		tree_test(what_is_ignored_is_nothing_else),
		tree_test(too_many_columns_are_refused),
		tree_test(any_beginning_is_survived),
		tree_test(a_small_table_does_not_change),
		tree_test(a_changed_table_is_an_error),
		tree_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
