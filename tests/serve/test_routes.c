/*
 * Every route in every state that a service can be in, with bodies that fit and bodies that do
 * not: each request is answered, by a status that makes sense, and none harms the learner.
 */
#include "bench.h"

#include <signal.h>
#include <sys/resource.h>

static const struct setting NOTHING[] = {{"serve.listen", "127.0.0.1:80"}, {0}};
static const struct setting SMALL[] = {{"serve.listen", "127.0.0.1:80"}, {"model.arch", "mlp:4"},
	{"model.input", "2"}, {"model.classes", "3"}, {"stdin.per_step", "1"}, {0}};

static void open_only(struct bench *bench)
{
	bench_open(bench);
}

static void open_started(struct bench *bench)
{
	bench_open(bench);
	assert_int_equal(desk_start(bench_desk(bench), NULL), 0);
}

static void teach(struct bench *bench)
{
	open_started(bench);
	assert_int_equal(bench_ask(bench, "POST", "/v1/samples",
				 "{\"id\": 1, \"input\": [1, 2], \"label\": 2}\n{\"id\": 2, "
				 "\"input\": [2, 1]}\n"),
		200);
}

static void open_taught(struct bench *bench)
{
	teach(bench);
	assert_int_equal(bench_ask(bench, "POST", "/v1/versions", "{\"name\": \"made\"}"), 200);
}

static void open_paused(struct bench *bench)
{
	open_taught(bench);
	desk_pause(bench_desk(bench), true);
}

static void open_ended(struct bench *bench)
{
	struct run_result result;

	open_taught(bench);
	assert_int_equal(desk_end(bench_desk(bench), &result, NULL), 0);
}

/* No file may grow any more, so the next sample cannot be kept. */
static void open_failed(struct bench *bench)
{
	struct rlimit limit, former;
	struct desk_status status = {0};

	open_taught(bench);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &former), 0);
	limit = (struct rlimit){1, former.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	bench_ask(bench, "POST", "/v1/samples", "{\"id\": 3, \"input\": [1, 2], \"label\": 2}\n");
	for (int i = 0; i < 1000 && status.state != DESK_FAILED; i++) {
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
		desk_status(bench_desk(bench), &status);
	}
	setrlimit(RLIMIT_FSIZE, &former);
	assert_int_equal(status.state, DESK_FAILED);
}

static void open_page(struct bench *bench)
{
	bench->serve.served[0].item.run = NULL;
}

static const struct situation {
	const char *name;
	const struct setting *settings;
	void (*open)(struct bench *bench);
} situations[] = {
	{"nothing yet", NOTHING, open_started},
	{"opens", SMALL, open_only},
	{"one class", SMALL, open_taught},
	{"paused", SMALL, open_paused},
	{"ended", SMALL, open_ended},
	{"failed", SMALL, open_failed},
	{"fixed model", SMALL, bench_open_model},
	{"page", SMALL, open_page},
};

static const char *const bodies[] = {"", "{}", "[]", "nonsense", "{\"input\": [1, 2]}",
	"[{\"input\": [1, 2]}, {\"input\": [2, 2]}]", "{\"id\": 9, \"input\": [1, 2]}",
	"{\"name\": \"another\"}", "{\"id\": 2, \"label\": 1}",
	"{\"id\": 8, \"input\": [1, 2], \"label\": 1}\n\n{",
	("{\"inputs\": [{\"name\": \"input\", \"shape\": [1, 2], \"datatype\": \"FP32\", "
	 "\"data\": [1, 2]}]}")};

/* What must come of it, where it is not clear from the route alone. */
static const struct expected {
	const char *situation, *method, *path, *body;
	int status;
} expected[] = {
	{"nothing yet", "POST", "/v1/save", "", 404},
	{"one class", "POST", "/v1/save", "", 200},
	{"paused", "POST", "/v1/save", "", 200},
	{"ended", "POST", "/v1/save", "", 503},
	{"failed", "POST", "/v1/save", "", 503},
	{"fixed model", "POST", "/v1/save", "", 404},
	{"page", "POST", "/v1/save", "", 404},
	{"paused", "POST", "/v1/label", "{\"id\": 2, \"label\": 1}", 503},
	{"paused", "POST", "/v1/samples", "{\"id\": 2, \"label\": 1}", 503},
	{"paused", "POST", "/v1/predict", "{\"input\": [1, 2]}", 200},
	{"paused", "POST", "/v1/predict", "{\"id\": 9, \"input\": [1, 2]}", 200},
	{"one class", "POST", "/v1/predict", "{\"input\": [1, 2]}", 200},
	{"nothing yet", "POST", "/v1/predict", "{\"input\": [1, 2]}", 200},
	{"fixed model", "POST", "/v1/predict", "{\"input\": [1, 2]}", 200},
	{"ended", "POST", "/v1/predict", "{\"id\": 9, \"input\": [1, 2]}", 503},
	{"failed", "POST", "/v1/label", "{\"id\": 2, \"label\": 1}", 503},
	{"nothing yet", "POST", "/v1/versions", "{\"name\": \"another\"}", 409},
	{"one class", "POST", "/v1/versions", "{\"name\": \"another\"}", 200},
	{"paused", "POST", "/v1/versions", "{\"name\": \"another\"}", 200},
	{"ended", "POST", "/v1/versions", "{\"name\": \"another\"}", 503},
	{"fixed model", "POST", "/v1/versions", "{\"name\": \"another\"}", 404},
	{"one class", "GET", "/v1/versions/made", "{}", 200},
};

static void check_answer(
	const struct situation *situation, const struct bench_request *asked, const char *body)
{
	const struct http_answer *answer = &asked->request.answer;
	struct jvalue *value = NULL;

	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++)
		if (!strcmp(expected[i].situation, situation->name) &&
			!strcmp(expected[i].method, asked->request.method) &&
			!strcmp(expected[i].path, asked->request.path) &&
			!strcmp(expected[i].body, body) && expected[i].status != answer->status)
			fail_msg("%s: %s %s: %d, not %d", situation->name, asked->request.path,
				body, answer->status, expected[i].status);
	if (answer->status != 200 &&
		(answer->status < 400 || answer->status > 503 || answer->status == 500))
		fail_msg("%s: %s %s: %d", situation->name, asked->request.path, body,
			answer->status);
	if (answer->status == 200)
		return;
	assert_int_equal(
		jvalue_read(&value, answer->body.data, answer->body.size, "the answer", NULL), 0);
	assert_non_null(jvalue_text(jvalue_find(value, "error")));
	if (answer->status == 503)
		assert_string_equal(answer->fields[0].name, "Retry-After");
	jvalue_free(value);
}

static void fill(char path[256], const char *hole, const char *words)
{
	char *at = strstr(path, hole), rest[256];

	if (!at)
		return;
	snprintf(rest, sizeof(rest), "%s", at + strlen(hole));
	snprintf(at, 256 - (size_t)(at - path), "%s%s", words, rest);
}

/* A route's path, with the name of what is served in its hole, and one version or another. */
static void route_path(const struct route *route, int turn, char out[256])
{
	static const char *const versions[] = {"live", "made", "none", "..", "lock", "{version}"};

	snprintf(out, 256, "%s", route->path);
	fill(out, "{name}", "retain");
	fill(out, "{version}", versions[turn % (int)(sizeof(versions) / sizeof(*versions))]);
}

static bool pauses(const struct route *route)
{
	return !strcmp(route->path, "/v1/pause") || !strcmp(route->path, "/v1/resume");
}

/* An input that is kept would end the state in which there is nothing yet. */
static bool ends_it(const struct situation *situation, const char *body)
{
	return situation->settings == NOTHING && strstr(body, "\"id\"") &&
	       strstr(body, "\"input\"");
}

/* While it opens what is on the desk waits; then all of it is done. */
static void every_route(struct bench *bench, const struct situation *situation)
{
	enum { COUNT_BODIES = sizeof(bodies) / sizeof(*bodies), MOST = 1024 };
	static struct bench_request asked[MOST];
	static char paths[MOST][256];
	const bool opens = situation->open == open_only;
	int count = 0;

	for (const struct route *route = routes; route->method; route++)
		for (int b = 0; b < COUNT_BODIES && !pauses(route); b++) {
			assert_true(count < MOST);
			if (ends_it(situation, bodies[b]))
				continue;
			route_path(route, b, paths[count]);
			bench_send(
				&asked[count], bench, route->method, paths[count], NULL, bodies[b]);
			if (!opens) {
				bench_answer(&asked[count]);
				check_answer(situation, &asked[count], bodies[b]);
				bench_end(&asked[count]);
			}
			count++;
		}
	if (!opens)
		return;
	assert_int_equal(desk_start(bench_desk(bench), NULL), 0);
	for (int i = 0; i < count; i++) {
		bench_answer(&asked[i]);
		check_answer(situation, &asked[i], bodies[i % COUNT_BODIES]);
		bench_end(&asked[i]);
	}
}

static void each_route_in_each_state(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(situations) / sizeof(*situations); i++) {
		static struct bench bench;
		struct desk_status before = {0}, after = {0};

		bench_init(&bench, situations[i].settings);
		situations[i].open(&bench);
		if (bench_desk(&bench))
			desk_status(bench_desk(&bench), &before);
		every_route(&bench, &situations[i]);
		if (bench_desk(&bench))
			desk_status(bench_desk(&bench), &after);
		assert_int_equal(after.state == DESK_FAILED, before.state == DESK_FAILED);
		if (bench_desk(&bench) && situations[i].open != open_ended)
			desk_end(bench_desk(&bench), &(struct run_result){0}, NULL);
		bench_release(&bench);
	}
}

static int checkpoints(const struct bench *bench)
{
	char path[128];
	int count = 0;

	for (int i = 0; i < 100; i++) {
		snprintf(path, sizeof(path), "%s/checkpoint/%06d.state", bench->folder, i);
		count += !access(path, F_OK);
	}
	return count;
}

/* The answer to /v1/save comes when the checkpoint is there, not before. */
static void a_save_is_answered_when_it_is_saved(void **state)
{
	static struct bench bench;

	(void)state;
	bench_init(&bench, SMALL);
	teach(&bench);
	assert_int_equal(checkpoints(&bench), 0);
	assert_int_equal(bench_ask(&bench, "POST", "/v1/save", ""), 200);
	assert_int_equal(checkpoints(&bench), 1);
	desk_end(bench_desk(&bench), &(struct run_result){0}, NULL);
	bench_release(&bench);
}

/* A label that lies on the desk when it is paused is answered, too; lines of a socket wait. */
static void a_pause_answers_who_waits(void **state)
{
	static struct bench bench;
	struct bench_request asked;
	char path[] = "/v1/label";

	(void)state;
	bench_init(&bench, SMALL);
	bench_open(&bench);
	bench_send(&asked, &bench, "POST", path, NULL, "{\"id\": 2, \"label\": 1}");
	assert_int_equal(asked.next, HTTP_WAIT);
	desk_pause(bench_desk(&bench), true);
	assert_int_equal(bench_answer(&asked), 503);
	bench_end(&asked);
	assert_int_equal(desk_start(bench_desk(&bench), NULL), 0);
	desk_end(bench_desk(&bench), &(struct run_result){0}, NULL);
	bench_release(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_route_in_each_state),
		cmocka_unit_test(a_save_is_answered_when_it_is_saved),
		cmocka_unit_test(a_pause_answers_who_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
