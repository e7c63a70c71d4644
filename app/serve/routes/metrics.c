/* GET /metrics, in the text format of Prometheus; and GET /v1/state, the same as JSON. */
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/json_write.h"
#include "base/mem.h"
#include "serve/exchange.h"

static const char *const states[] = {"opens", "waits", "learns", "paused", "ended", "failed"};

/* What the learner is, a row per number. */
static const struct number {
	const char *name, *kind, *help;
	size_t offset;
	enum { WHOLE, REAL, SMALL, COUNT } type;
} numbers[] = {
#define AT(name, field, kind, type, help)                                                          \
	{                                                                                          \
		name, kind, help, offsetof(struct desk_status, field), type                        \
	}
#define ROW(field, kind, type, help) AT(#field, field, kind, type, help)
#define SCORE(field, help)           AT(#field, scores.field, "gauge", REAL, help)
#define UNEVEN(field, help)          AT(#field, scores.uneven.field, "gauge", REAL, help)
#define ERRORS(name, field, help)    AT(name, scores.errors.field, "gauge", REAL, help)
	ROW(samples, "counter", WHOLE, "labelled samples learned from"),
	ROW(iteration, "counter", WHOLE, "training iterations"),
	ROW(step, "counter", WHOLE, "time steps"),
	ROW(lines, "counter", WHOLE, "objects taken"),
	ROW(bad, "counter", WHOLE, "objects that could not be used"),
	ROW(waiting, "gauge", WHOLE, "inputs that wait for their labels"),
	ROW(pool, "gauge", WHOLE, "samples that are replayed"),
	ROW(behind, "gauge", WHOLE,
		"samples to learn again before it is where it was; answers lack them"),
	SCORE(le, "share of samples predicted right before their labels came; of numbers, of their "
		  "variance explained"),
	SCORE(recent, "that share of the last 1000"),
	SCORE(blind, "that share for guessing by the last labels"),
	SCORE(same, "that share for the last label"),
	SCORE(most, "that share for the most frequent label"),
	SCORE(chain, "that share for what the order of labels alone says"),
	SCORE(kappa, "kappa temporal: 0 is no better than the last label, 1 always right"),
	UNEVEN(balanced, "uneven classes: balanced accuracy before labels came"),
	UNEVEN(f1, "uneven classes: mean of their F1"),
	UNEVEN(f1_rare, "two uneven classes: F1 of the rarer one"),
	UNEVEN(auc, "two uneven classes: AUC of the last 10000"),
	UNEVEN(alert_recall, "two uneven classes: recall of the rarer one at retain_alert_share"),
	UNEVEN(alert_share, "two uneven classes: share of alerts allowed"),
	ERRORS("mae", mae, "numbers: mean absolute error before labels came"),
	ERRORS("rmse", rmse, "numbers: root of the mean squared error"),
	ERRORS("mae_last", last, "numbers: mean absolute error of the last label"),
	ERRORS("mae_mean", mean, "numbers: mean absolute error of the mean so far"),
	ERRORS("inside", inside, "numbers: share of labels within their intervals"),
	ERRORS("width", width, "numbers: mean width of intervals"),
	ROW(val, "gauge", REAL, "share right of samples that are held out: retention"),
	ROW(val_plain, "gauge", REAL, "that share for the plain model"),
	ROW(rate, "gauge", REAL, "learning rate"),
	ROW(sigma, "gauge", REAL, "gap: by how much the average is ahead of the plain model"),
	ROW(loss, "gauge", REAL, "loss of the last training batch"),
	ROW(cuts, "counter", WHOLE, "cuts of the learning rate"),
	ROW(alarms, "counter", WHOLE, "drift alarms"),
	ROW(warnings, "counter", WHOLE, "warnings in this process"),
	ROW(fields_ignored, "counter", WHOLE,
		"values of fields that the first row lacked and no input is left for"),
	ROW(train_seconds, "counter", REAL, "seconds spent on training"),
	ROW(journal_bytes, "gauge", WHOLE, "bytes of the journal on disk"),
	ROW(queue, "gauge", SMALL, "requests that wait for the learner"),
	ROW(jobs, "counter", COUNT, "requests that the learner has done"),
	ROW(syncs, "counter", COUNT, "groups of requests that were answered together"),
#undef ERRORS
#undef UNEVEN
#undef SCORE
#undef ROW
#undef AT
};
enum { NUMBERS = sizeof(numbers) / sizeof(*numbers) };

static double value_of(const struct desk_status *status, const struct number *number)
{
	const char *at = (const char *)status + number->offset;

	switch (number->type) {
	case WHOLE:
		return (double)*(const int64_t *)(const void *)at;
	case COUNT:
		return (double)*(const uint64_t *)(const void *)at;
	case SMALL:
		return *(const int *)(const void *)at;
	default:
		return *(const double *)(const void *)at;
	}
}

static void add_number(struct text *out, double number)
{
	char words[TEXT_NUMBER];

	if (isnan(number)) {
		text_add(out, "NaN\n");
		return;
	}
	text_from_double(words, number);
	text_addf(out, "%s\n", words);
}

static void add_head(struct text *out, const char *name, const char *kind, const char *help)
{
	text_addf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind);
}

/* Learners, and how they stand at one moment. */
struct learners {
	const char *names[SERVE_MOST];
	struct desk_status status[SERVE_MOST];
	int count;
};

static void look_at(struct learners *learners, const struct serve *serve)
{
	for (int i = 0; i < serve->config.count; i++) {
		const struct served *served = &serve->served[i];

		if (!served->desk || !desk_learns(served->desk))
			continue;
		learners->names[learners->count] = served->item.name;
		desk_status(served->desk, &learners->status[learners->count++]);
	}
}

/* Each number with a line per learner. */
static void add_learners(struct text *out, const struct learners *learners)
{
	for (int i = 0; i < NUMBERS && learners->count; i++) {
		const bool counts = !strcmp(numbers[i].kind, "counter");
		char name[64];

		snprintf(
			name, sizeof(name), "retain_%s%s", numbers[i].name, counts ? "_total" : "");
		add_head(out, name, numbers[i].kind, numbers[i].help);
		for (int k = 0; k < learners->count; k++) {
			text_addf(out, "%s{learner=\"%s\"} ", name, learners->names[k]);
			add_number(out, value_of(&learners->status[k], &numbers[i]));
		}
	}
	if (learners->count)
		add_head(out, "retain_state", "gauge", "1 for what the learner does");
	for (int k = 0; k < learners->count; k++)
		for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++)
			text_addf(out, "retain_state{learner=\"%s\",state=\"%s\"} %d\n",
				learners->names[k], states[i],
				learners->status[k].state == (enum desk_state)i);
}

/* What answers and what is tried beside it, side by side. */
static void add_contenders(struct text *out, const struct learners *learners)
{
	static const struct {
		const char *name, *help;
		size_t offset;
	} rows[] = {
		{"retain_contender_score",
			"accuracy before labels came, on the same labels; of numbers the mean "
			"absolute error",
			offsetof(struct standing, score)},
		{"retain_contender_recent", "accuracy of the last 1000",
			offsetof(struct standing, recent)},
		{"retain_contender_ahead", "points ahead of what answers, since it does",
			offsetof(struct standing, ahead)},
		{"retain_contender_p", "p that it is not ahead by what versions.promote asks for",
			offsetof(struct standing, p)},
	};
	int any = 0;

	for (int k = 0; k < learners->count; k++)
		any += learners->status[k].standings_count;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows) && any; i++) {
		add_head(out, rows[i].name, "gauge", rows[i].help);
		for (int k = 0; k < learners->count; k++)
			for (int c = 0; c < learners->status[k].standings_count; c++) {
				const struct standing *s = &learners->status[k].standings[c];
				double value;

				memcpy(&value, (const char *)s + rows[i].offset, sizeof(value));
				text_addf(out, "%s{learner=\"%s\",contender=\"%s\"} ", rows[i].name,
					learners->names[k], s->name);
				add_number(out, value);
			}
	}
	if (any)
		add_head(out, "retain_contender_serves", "gauge", "1 for what answers");
	for (int k = 0; k < learners->count; k++)
		for (int c = 0; c < learners->status[k].standings_count; c++)
			text_addf(out,
				"retain_contender_serves{learner=\"%s\",contender=\"%s\"} %d\n",
				learners->names[k], learners->status[k].standings[c].name,
				learners->status[k].standings[c].serves);
}

static const char *route_path(int route)
{
	return route == METERS_ROUTES ? "other" : routes[route].path;
}

static bool is_route(int route)
{
	int count = 0;

	while (routes[count].method)
		count++;
	return route < count || route == METERS_ROUTES;
}

static void add_requests(struct text *out, const struct meters *meters)
{
	add_head(out, "retain_requests_total", "counter", "requests by route and status");
	for (int i = 0; i <= METERS_ROUTES; i++)
		for (int s = 1; s < 6 && is_route(i); s++) {
			const uint64_t count = atomic_load(&meters->routes[i].statuses[s]);

			if (count)
				text_addf(out,
					"retain_requests_total{route=\"%s\",status=\"%dxx\"} "
					"%" PRIu64 "\n",
					route_path(i), s, count);
		}
}

static void add_histogram(struct text *out, const struct meter *meter, const char *path)
{
	uint64_t count = 0;

	for (int i = 0; i < METERS_BUCKETS; i++) {
		char end[TEXT_NUMBER] = "+Inf";

		if (i < METERS_BUCKETS - 1)
			text_from_double(end, meters_ends[i]);
		count += atomic_load(&meter->buckets[i]);
		text_addf(out,
			"retain_request_seconds_bucket{route=\"%s\",le=\"%s\"} %" PRIu64 "\n", path,
			end, count);
	}
	text_addf(out, "retain_request_seconds_count{route=\"%s\"} %" PRIu64 "\n", path, count);
	text_addf(out, "retain_request_seconds_sum{route=\"%s\"} ", path);
	add_number(out, (double)atomic_load(&meter->nanoseconds) * 1e-9);
}

static void add_times(struct text *out, const struct meters *meters)
{
	add_head(out, "retain_request_seconds", "histogram", "time from headers to answer");
	for (int i = 0; i <= METERS_ROUTES; i++)
		if (is_route(i) && !isnan(meters_quantile(&meters->routes[i], 1)))
			add_histogram(out, &meters->routes[i], route_path(i));
}

static void add_batches(struct text *out, struct gather *gather)
{
	struct gather_counts counts = {0};

	if (gather)
		gather_counts(gather, &counts);
	add_head(out, "retain_gathered_inputs_total", "counter",
		"inputs of requests that could be answered together");
	text_addf(out, "retain_gathered_inputs_total %" PRIu64 "\n", counts.inputs);
	add_head(out, "retain_gathered_batches_total", "counter", "batches that they made");
	text_addf(out, "retain_gathered_batches_total %" PRIu64 "\n", counts.batches);
}

static void add_alarms(struct text *out, const struct serve *serve)
{
	static const char *const results[] = {"sent", "failed"};

	add_head(out, "retain_alarms_delivered_total", "counter",
		"alarms sent by alarm.exec and alarm.webhook, or given up");
	for (int i = 0; i < serve->config.count; i++) {
		const struct bell_counts counts = bell_counts(serve->served[i].bell);
		const uint64_t values[] = {counts.sent, counts.failed};

		for (int k = 0; k < 2 && serve->served[i].bell; k++)
			text_addf(out,
				"retain_alarms_delivered_total{learner=\"%s\",result=\"%s\"} "
				"%" PRIu64 "\n",
				serve->served[i].item.name, results[k], values[k]);
	}
}

/* Where followers stand. */
static void add_followers(struct text *out, const struct serve *serve)
{
	static const char *const rows[][3] = {
		{"retain_follow_up", "gauge", "1: the service that is followed answers"},
		{"retain_follow_samples", "gauge", "labels of which the copy knows"},
		{"retain_follow_lag_samples", "gauge",
			"labels that the leader had learned more, when it last answered"},
		{"retain_follow_lag_seconds", "gauge",
			"seconds since the copy was known to be the newest there is"},
		{"retain_follow_copies_total", "counter", "copies taken up"},
		{"retain_follow_failures_total", "counter", "questions the leader did not answer"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		bool any = false;

		for (int k = 0; k < serve->config.count; k++) {
			struct follow_status s;

			if (!serve->served[k].follow)
				continue;
			follow_status(serve->served[k].follow, &s);
			if (!any)
				add_head(out, rows[i][0], rows[i][1], rows[i][2]);
			any = true;
			text_addf(
				out, "%s{learner=\"%s\"} ", rows[i][0], serve->served[k].item.name);
			add_number(
				out, (const double[]){s.up, s.samples, s.lag_samples, s.lag_seconds,
					     (double)s.copies, (double)s.failed}[i]);
		}
	}
}

enum http_next serve_metrics(struct exchange *exchange)
{
	struct serve *serve = exchange->serve;
	struct text *out = &exchange->request->answer.body;
	struct http_counts counts = {0};
	struct learners *learners = mem_new(1, sizeof(*learners));

	if (!learners)
		return http_refuse(exchange->request, 503, "out of memory");
	look_at(learners, serve);
	add_learners(out, learners);
	add_contenders(out, learners);
	add_followers(out, serve);
	mem_free(learners);
	if (serve->http)
		http_counts(serve->http, &counts);
	add_head(out, "retain_connections", "gauge", "open connections");
	text_addf(out, "retain_connections %d\n", counts.connections);
	add_head(out, "retain_connections_refused_total", "counter",
		"connections beyond serve.connections");
	text_addf(out, "retain_connections_refused_total %" PRIu64 "\n", counts.refused);
	add_head(out, "retain_memory_bytes", "gauge", "what requests take of serve.memory");
	text_addf(out, "retain_memory_bytes %" PRId64 "\n", atomic_load(&serve->budget.used));
	add_batches(out, serve->gather);
	add_alarms(out, serve);
	add_requests(out, &serve->meters);
	add_times(out, &serve->meters);
	return http_say(exchange->request, 200, exchange->route->gives);
}

/* All requests that ask for predictions. */
static void say_times(struct jwriter *json, const struct meters *meters)
{
	static struct meter sum; /* zero */
	const struct meter *busiest = &sum;
	uint64_t most = 0, all = 0;

	for (int i = 0; i < METERS_ROUTES && is_route(i); i++) {
		uint64_t count = 0;

		for (int b = 0; b < METERS_BUCKETS; b++)
			count += atomic_load(&meters->routes[i].buckets[b]);
		all += count;
		if (strcmp(routes[i].method, "POST") || count < most || !count)
			continue;
		most = count;
		busiest = &meters->routes[i];
	}
	jwriter_whole(json, "requests", (int64_t)all);
	jwriter_number(json, "median_s", meters_quantile(busiest, 0.5));
	jwriter_number(json, "p99_s", meters_quantile(busiest, 0.99));
}

enum http_next serve_state(struct exchange *exchange)
{
	struct serve *serve = exchange->serve;
	struct desk *desk = exchange->served->desk;
	struct jwriter json = {.out = &exchange->request->answer.body};
	struct http_counts counts = {0};
	struct desk_status status = {0};

	if (serve->http)
		http_counts(serve->http, &counts);
	jwriter_table(&json, NULL);
	jwriter_text(&json, "learner", exchange->served->item.name);
	jwriter_list(&json, "learners");
	for (int i = 0; i < serve->config.count; i++)
		jwriter_text(&json, NULL, serve->served[i].item.name);
	jwriter_end(&json);
	if (desk && desk_learns(desk)) {
		desk_status(desk, &status);
		jwriter_text(&json, "state", states[status.state]);
		jwriter_text(&json, "serving", status.serving);
		exchange_say_contenders(&json, &status);
		if (*status.failure)
			jwriter_text(&json, "failure", status.failure);
		for (int i = 0; i < NUMBERS; i++)
			jwriter_number(&json, numbers[i].name, value_of(&status, &numbers[i]));
		jwriter_whole(&json, "queue_most", status.queue_most);
	} else if (exchange->served->follow) {
		jwriter_text(&json, "state", "follows");
		follow_say(exchange->served->follow, &json);
	} else {
		jwriter_text(&json, "state", desk ? "fixed" : "page");
	}
	jwriter_whole(&json, "connections", counts.connections);
	jwriter_truth(&json, "reader", exchange->request->reader);
	say_times(&json, &serve->meters);
	jwriter_end(&json);
	text_add(json.out, "\n");
	return http_say(exchange->request, 200, exchange->route->gives);
}
