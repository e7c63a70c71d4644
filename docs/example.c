/*
 * A program that learns while it works: points around five centres that wander.
 *
 *	cc example.c $(pkg-config --cflags --libs retain) -o example
 */
#include <retain.h>
#include <stdio.h>

enum { STEPS = 400, COUNT = 32, CLASSES = 5, DIM = 4 };

static double uniform(void)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005u + 1442695040888963407u;
	return (double)(state >> 11) / 9007199254740992.0;
}

/* What the world brings: inputs now, labels later. A sum of uniforms is about normal. */
static void next_batch(int step, float inputs[COUNT][DIM], int32_t labels[COUNT])
{
	for (int i = 0; i < COUNT; i++) {
		labels[i] = (int32_t)(CLASSES * uniform());
		for (int d = 0; d < DIM; d++) {
			const double centre =
				(labels[i] * (d + 2) * 7 % 5) - 2 + 0.002 * step * (d - 1.5);

			inputs[i][d] = (float)(centre + uniform() + uniform() + uniform() - 1.5);
		}
	}
}

static int learn(struct retain_learner *learner, struct retain_err *err)
{
	for (int step = 0; step < STEPS; step++) {
		struct retain_prediction predictions[COUNT];
		struct retain_ticket ticket;
		float inputs[COUNT][DIM];
		int32_t labels[COUNT];

		next_batch(step, inputs, labels);
		if (retain_observe(learner, inputs[0], COUNT, predictions, &ticket, err) ||
			/* Act on the predictions; when the labels are known: */
			retain_reveal(learner, ticket, labels, err) ||
			retain_train(learner, RETAIN_BUDGET, err))
			return 1;
	}
	return 0;
}

int main(void)
{
	struct retain_config *config = retain_config_new();
	struct retain_learner *learner = NULL;
	struct retain_err err = {0};
	struct retain_metrics m;
	int failed = !config || retain_config_set(config, "model.classes", "5", &err) ||
		     retain_config_set(config, "model.input", "4", &err) ||
		     retain_learner_new(&learner, config, &err) || learn(learner, &err);

	if (failed) {
		fprintf(stderr, "example: %s\n", err.message);
	} else {
		retain_metrics(learner, &m);
		printf("after %lld samples: %.1f %% predicted right before their label was known, "
		       "%.1f %% kept\n",
			(long long)m.samples, 100 * m.learning_efficacy, 100 * m.retention);
	}
	retain_learner_free(learner);
	retain_config_free(config);
	return failed;
}
