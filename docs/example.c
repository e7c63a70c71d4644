/* A program that learns while it works. Killed and started again, it goes on. */
#include <retain.h>
#include <stdio.h>

enum { STEPS = 200, COUNT = 32, DIM = 4 };

/* The world's part: points around five centres that wander. */
static int32_t label_of(int64_t i)
{
	return (int32_t)((7 * i + i / COUNT) % 5);
}

static float number_of(int64_t i, int d)
{
	const int64_t noise = (i + 53 * d) * (i + 7919) % 1009;

	return (float)(label_of(i) * (d + 2) % 5) + (float)(d * i) / 6400 + (float)noise / 500;
}

int main(int argc, char **argv)
{
	struct retain_config *config = retain_config_new();
	struct retain_learner *learner = NULL;
	struct retain_err err = {0};
	struct retain_metrics m;

	if (retain_config_set(config, "model.classes", "5", &err) ||
		retain_config_set(config, "model.input", "4", &err) ||
		retain_learner_open(&learner, config, argc > 1 ? argv[1] : "runs/example", &err))
		goto end; /* a new one, or as it was */
	for (retain_metrics(learner, &m); m.steps < STEPS; retain_metrics(learner, &m)) {
		struct retain_prediction predictions[COUNT];
		struct retain_ticket ticket;
		float inputs[COUNT][DIM];
		int32_t labels[COUNT];

		for (int i = 0; i < COUNT * DIM; i++)
			inputs[i / DIM][i % DIM] = number_of(m.samples + i / DIM, i % DIM);
		if (retain_observe(learner, inputs[0], COUNT, predictions, &ticket, &err))
			goto end; /* no label in sight */
		for (int i = 0; i < COUNT; i++)
			labels[i] = label_of(m.samples + i);
		if (retain_reveal(learner, ticket, labels, &err) || /* remembers, on disk */
			retain_train(learner, RETAIN_BUDGET, &err)) /* learns within the budget */
			goto end;
	}
	printf("%.1f %% were right before their label was known, %.1f %% are kept\n",
		100 * m.learning_efficacy, 100 * m.retention);
end:
	if (err.code)
		fprintf(stderr, "example: %s\n", err.message);
	retain_learner_close(learner);
	retain_config_free(config);
	return err.code != 0;
}
