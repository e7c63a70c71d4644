/* What clients can make a service hold: one sum for all of it, and all of it comes back. */
#include "bench.h"

static const struct setting SETTINGS[] = {{"serve.listen", "127.0.0.1:80"}, {"model.arch", "mlp:4"},
	{"model.input", "2"}, {"model.classes", "200"}, {"stdin.per_step", "1"},
	{"serve.memory", "4194304"}, {0}};

static struct bench bench;

static int make(void **state)
{
	(void)state;
	bench_init(&bench, SETTINGS);
	bench_open(&bench);
	return desk_start(bench_desk(&bench), NULL);
}

/* Whoever was answered holds nothing any more. */
static int end(void **state)
{
	(void)state;
	assert_int_equal(bench.serve.budget.used, 0);
	desk_end(bench_desk(&bench), &(struct run_result){0}, NULL);
	bench_release(&bench);
	return 0;
}

/* A request whose body never ends. */
static void begin(struct bench_request *asked, size_t size)
{
	char path[] = "/v1/predict", *body = mem_new(size + 1, 1);

	*asked = (struct bench_request){.bench = &bench};
	asked->request = (struct http_request){.method = "POST",
		.path = path,
		.length = (int64_t)size * 2,
		.headers = {{"Host", "localhost"}},
		.header_count = 1,
		.wait = bench_wait,
		.resume = bench_resume};
	pthread_mutex_init(&asked->lock, NULL);
	pthread_cond_init(&asked->some, NULL);
	memset(body, ' ', size);
	asked->next = exchange_owner.begin(&bench.serve, &asked->request);
	for (size_t at = 0; at < size && asked->next == HTTP_GO; at += 4096)
		asked->next = exchange_owner.body(&bench.serve, &asked->request, body + at, 4096);
	mem_free(body);
}

static void unfinished_bodies_share_it(void **state)
{
	enum { MANY = 20 };
	static struct bench_request asked[MANY];
	int refused = 0;

	(void)state;
	for (int i = 0; i < MANY; i++) {
		begin(&asked[i], 512 << 10);
		if (asked[i].next != HTTP_DONE)
			continue;
		refused++;
		assert_int_equal(asked[i].request.answer.status, 503);
		assert_string_equal(asked[i].request.answer.fields[0].name, "Retry-After");
	}
	assert_in_range(refused, MANY - 8, MANY - 2);
	assert_true(bench.serve.budget.used <= bench.serve.budget.most);
	for (int i = 0; i < MANY; i++)
		bench_end(&asked[i]);
	assert_int_equal(bench_ask(&bench, "POST", "/v1/predict", "{\"input\": [1, 2]}"), 200);
}

/* A list of so many objects, each with its number between these words, for text_release. */
static struct text list_of(const char *before, const char *after, int count)
{
	struct text list = {0};

	text_add(&list, "[");
	for (int i = 0; i < count; i++)
		text_addf(&list, "%s%s%d%s", i ? ", " : "", before, i, after);
	text_add(&list, "]");
	return list;
}

static void answers_count_before_they_are_made(void **state)
{
	static const struct {
		const char *path, *before, *after;
		int count, status;
	} rows[] = {
		{"/v1/predict", "{\"input\": [", ", 2]}", 1000, 200},
		{"/v1/predict?top=100", "{\"input\": [", ", 2]}", 1000, 413},
		{"/v1/predict", "{\"input\": [", ", 2], \"top\": 100}", 1000, 413},
		{"/v1/predict", "{\"id\": \"a", "\", \"input\": [1, 2]}", 1000, 200},
		{"/v1/predict?top=100", "{\"id\": \"b", "\", \"input\": [1, 2]}", 1000, 413},
		{"/v1/predict", "{\"id\": \"c", "\", \"input\": [1, 2], \"top\": 100}", 1000, 413},
		{"/v1/samples?top=100", "{\"id\": \"d", "\", \"input\": [1, 2]}", 1000, 413},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct text list = list_of(rows[i].before, rows[i].after, rows[i].count);
		const int status = bench_ask(&bench, "POST", rows[i].path, list.data);

		if (status != rows[i].status)
			fail_msg("%s of %s: %d", rows[i].path, rows[i].before, status);
		text_release(&list);
	}
}

static void tensors_count(void **state)
{
	struct text words = {0};

	(void)state;
	text_add(&words, "{\"inputs\": [{\"name\": \"x\", \"shape\": [100000, 2], \"datatype\": "
			 "\"FP32\", \"data\": [0");
	for (int i = 1; i < 200000; i++)
		text_add(&words, ",0");
	text_add(&words, "]}]}");
	assert_int_equal(bench_ask(&bench, "POST", "/v2/models/retain/infer", words.data), 413);
	text_release(&words);
}

/* An answer that its client has not read is held; the model it came from is not. */
static void slow_readers_hold_their_answers_alone(void **state)
{
	struct text list = list_of("{\"input\": [", ", 2]}", 10000);
	static struct bench_request asked[8];
	char paths[8][16];
	int refused = 0;

	(void)state;
	for (int i = 0; i < 8; i++) {
		snprintf(paths[i], sizeof(paths[i]), "/v1/predict");
		bench_send(&asked[i], &bench, "POST", paths[i], NULL, list.data);
		refused += bench_answer(&asked[i]) >= 400;
		assert_true(bench.serve.budget.used <= bench.serve.budget.most);
	}
	assert_in_range(refused, 1, 8);
	for (int i = 0; i < 8; i++)
		bench_end(&asked[i]);
	text_release(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(unfinished_bodies_share_it, make, end),
		cmocka_unit_test_setup_teardown(answers_count_before_they_are_made, make, end),
		cmocka_unit_test_setup_teardown(tensors_count, make, end),
		cmocka_unit_test_setup_teardown(slow_readers_hold_their_answers_alone, make, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
