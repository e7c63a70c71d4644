/*
 * usage: learner FOLDER COUNT
 * A C program that learns: has the learner in the folder learn samples up to COUNT, one by one,
 * each a function of its number. Says how many there are after it has opened it, and after each
 * of them. The weights are in FOLDER.safetensors in the end.
 */
#include <inttypes.h>
#include <retain.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { DIM = 4, CLASSES = 5, SAVED = 60 };

static int say(int64_t count)
{
	char line[32];
	const int size = snprintf(line, sizeof(line), "%" PRId64 "\n", count);

	return write(1, line, (size_t)size) != size;
}

static int learn(struct retain_learner *learner, int64_t n, struct retain_err *err)
{
	const int32_t label = (int32_t)((7 * n + n / 9) % CLASSES);
	struct retain_prediction guess;
	struct retain_ticket ticket;
	float input[DIM];
	int code;

	for (int d = 0; d < DIM; d++)
		input[d] = (float)(label * (d + 2) % 5) + (float)(n * n % 101) / 100;
	code = retain_learner_observe(learner, input, DIM, &guess, 1, &ticket, err);
	if (!code)
		code = retain_learner_reveal(learner, ticket, &label, 1, err);
	if (!code)
		code = retain_learner_train(learner, RETAIN_BUDGET, err);
	if (!code && n % SAVED == SAVED - 1)
		code = retain_learner_save(learner, err);
	return code;
}

int main(int argc, char **argv)
{
	struct retain_learner *learner = NULL;
	struct retain_metrics m = {0};
	struct retain_err err = {0};
	char path[1000];
	int code = argc == 3 ? retain_learner_open(&learner, NULL, argv[1], &err) : 2;

	if (!code)
		code = retain_learner_metrics(learner, &m, &err);
	if (!code)
		code = say(m.samples);
	for (int64_t n = m.samples; !code && n < atoll(argv[2]); n++) {
		code = learn(learner, n, &err);
		if (!code)
			code = say(n + 1);
	}
	if (!code) {
		snprintf(path, sizeof(path), "%s.safetensors", argv[1]);
		code = retain_learner_save_weights(learner, RETAIN_WEIGHTS_SERVING, path, &err);
	}
	retain_learner_close(learner);
	if (code)
		fprintf(stderr, "learner: %s\n", err.message);
	return code != 0;
}
