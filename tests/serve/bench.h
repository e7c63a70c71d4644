/*
 * A service without sockets: its routes, a learner or a model behind them, and requests that
 * are made by hand.
 */
#ifndef RETAIN_TESTS_SERVE_BENCH_H
#define RETAIN_TESTS_SERVE_BENCH_H

#define _GNU_SOURCE 1
#include <ftw.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../base/check.h"
#include "base/json.h"
#include "config/app_config.h"
#include "nn/weights/weights_file.h"
#include "serve/exchange.h"

enum { BENCH_PATIENCE = 60 }; /* seconds that an answer may take, under a sanitizer, too */

struct bench {
	struct serve serve;
	struct options *options;
	struct run_config run;
	char folder[64];
};

static inline int bench_remove_one(
	const char *path, const struct stat *about, int kind, struct FTW *where)
{
	(void)about;
	(void)kind;
	(void)where;
	return remove(path);
}

/* With settings of the caller's, which end with a row without a key. */
static inline void bench_init(struct bench *bench, const struct setting *settings)
{
	struct serve *serve = &bench->serve;
	struct err err = {0};

	memset(bench, 0, sizeof(*bench));
	snprintf(bench->folder, sizeof(bench->folder), "/tmp/retain-bench-XXXXXX");
	assert_non_null(mkdtemp(bench->folder));
	if (app_config_make(&bench->options, NULL, settings, NULL, 0, &err))
		fail_msg("%s", err.message);
	bench->run = (struct run_config){
		.options = bench->options, .folder = bench->folder, .start = RUN_RESUME};
	serve->config.options = bench->options;
	serve->config.count = 1;
	serve->body_most = options_int64(bench->options, "serve.body");
	serve->budget.most = options_int64(bench->options, "serve.memory");
	serve->access.file = -1;
	parcel_init(&serve->served[0].parcel);
	serve->served[0].item = (struct serve_item){
		.name = "retain", .options = bench->options, .run = &bench->run};
	assert_int_equal(guard_init(&serve->guard, bench->options, NULL), 0);
	serve->guard.address.port = -1; /* any Host */
	assert_int_equal(gather_open(&serve->gather, 2, NULL), 0);
	assert_int_equal(workers_open(&serve->workers, 2, NULL), 0);
}

static inline struct desk *bench_desk(const struct bench *bench)
{
	return bench->serve.served[0].desk;
}

static inline void bench_open(struct bench *bench)
{
	struct err err = {0};

	if (desk_open(&bench->serve.served[0].desk, &bench->run,
		    options_int(bench->options, "serve.queue"), &err))
		fail_msg("%s", err.message);
}

/* A model of two inputs and three classes. */
static inline void bench_open_model(struct bench *bench)
{
	static const struct net_spec spec = {
		.arch = "mlp:4", .classes = 3, .channels = 2, .height = 1, .width = 1};
	char path[128];
	struct net *net;
	float *params;

	snprintf(path, sizeof(path), "%s/fixed.safetensors", bench->folder);
	assert_int_equal(net_new(&net, &spec, NULL), 0);
	params = mem_new(net_params(net)->floats, sizeof(*params));
	assert_int_equal(
		weights_save(path, &(struct weights){.net = net, .params = params}, NULL), 0);
	mem_free(params);
	net_free(net);
	bench->serve.served[0].item.run = NULL;
	assert_int_equal(desk_open_model(&bench->serve.served[0].desk, path, NULL), 0);
}

static inline void bench_release(struct bench *bench)
{
	workers_close(bench->serve.workers);
	gather_end(bench->serve.gather);
	desk_close(bench_desk(bench));
	parcel_release(&bench->serve.served[0].parcel);
	gather_close(bench->serve.gather);
	options_free(bench->options);
	nftw(bench->folder, bench_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* A request, and whether somebody has resumed it. */
struct bench_request {
	struct http_request request; /* must be first */
	struct bench *bench;
	enum http_next next;
	pthread_mutex_t lock;
	pthread_cond_t some;
	int waits, resumed;
};

static inline void bench_wait(struct http_request *request)
{
	((struct bench_request *)request)->waits++;
}

static inline void bench_resume(struct http_request *request)
{
	struct bench_request *asked = (struct bench_request *)request;

	pthread_mutex_lock(&asked->lock);
	asked->resumed++;
	pthread_cond_signal(&asked->some);
	pthread_mutex_unlock(&asked->lock);
}

/* Sends it; `path` may have one parameter behind a question mark. Finished by bench_answer. */
static inline void bench_send(struct bench_request *asked, struct bench *bench, const char *method,
	char *path, const char *type, const char *body)
{
	struct http_request *request = &asked->request;
	char *param = strchr(path, '?'), *value = param ? strchr(param, '=') : NULL;

	*asked = (struct bench_request){.bench = bench};
	pthread_mutex_init(&asked->lock, NULL);
	pthread_cond_init(&asked->some, NULL);
	*request = (struct http_request){.method = method,
		.path = path,
		.length = (int64_t)strlen(body),
		.headers = {{"Host", "localhost"}, {"Content-Type", type}},
		.header_count = type ? 2 : 1,
		.wait = bench_wait,
		.resume = bench_resume};
	if (value) {
		*param = *value = '\0';
		request->params[0] = (struct http_field){param + 1, value + 1};
		request->param_count = 1;
	}
	asked->next = exchange_owner.begin(&bench->serve, request);
	if (asked->next == HTTP_GO && *body)
		asked->next = exchange_owner.body(&bench->serve, request, body, strlen(body));
	if (asked->next == HTTP_GO)
		asked->next = exchange_owner.end(&bench->serve, request);
}

/* Waits for it. Returns the status. */
static inline int bench_answer(struct bench_request *asked)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += BENCH_PATIENCE;
	while (asked->next != HTTP_DONE) {
		pthread_mutex_lock(&asked->lock);
		while (asked->resumed < asked->waits)
			if (pthread_cond_timedwait(&asked->some, &asked->lock, &until))
				fail_msg("%s %s: no answer", asked->request.method,
					asked->request.path);
		pthread_mutex_unlock(&asked->lock);
		asked->next = exchange_owner.end(&asked->bench->serve, &asked->request);
	}
	return asked->request.answer.status;
}

static inline void bench_end(struct bench_request *asked)
{
	struct http_answer *answer = &asked->request.answer;

	exchange_owner.gone(&asked->bench->serve, &asked->request);
	if (answer->stream.close)
		answer->stream.close(answer->stream.stream);
	text_release(&answer->body);
	if (answer->has_file)
		close(answer->file);
	pthread_cond_destroy(&asked->some);
	pthread_mutex_destroy(&asked->lock);
}

/* All of that; returns the status. */
static inline int bench_ask(
	struct bench *bench, const char *method, const char *path, const char *body)
{
	struct bench_request asked;
	char own[256];
	int status;

	snprintf(own, sizeof(own), "%s", path);
	bench_send(&asked, bench, method, own, NULL, body);
	status = bench_answer(&asked);
	bench_end(&asked);
	return status;
}

#endif
