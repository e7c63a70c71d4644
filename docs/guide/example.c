/* A program that learns while it works. Killed and started again, it goes on. */
#include <retain.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	enum { STEPS = 200, COUNT = 32, DIM = 4, CLASSES = 5 };
	struct retain_learner *learner = NULL;
	struct retain_prediction predictions[COUNT];
	struct retain_ticket ticket;
	struct retain_metrics m = {0};
	struct retain_err err = {0};
	float inputs[COUNT][DIM];
	int32_t labels[COUNT];

	if (retain_learner_open(&learner, NULL, argc > 1 ? argv[1] : "runs/example", &err))
		goto end; /* a new one, or as it was */
	while (!retain_learner_metrics(learner, &m, &err) && m.steps < STEPS) {
		for (int i = 0; i < COUNT; i++) { /* the world: points around centres that wander */
			const int n = (int)m.samples + i, class = (7 * n + n / COUNT) % CLASSES;
			for (int d = 0; d < DIM; d++)
				inputs[i][d] = (float)(class * (d + 2) % 5 + d * n / 6400. +
						       n * n % 1009 / 500.);
			labels[i] = class;
		}
		if (retain_learner_observe(learner, inputs[0], COUNT * DIM, predictions, COUNT,
			    &ticket, &err) || /* knows no label */
			retain_learner_reveal(learner, ticket, labels, COUNT, &err) || /* on disk */
			retain_learner_train(learner, RETAIN_BUDGET, &err)) /* within the budget */
			goto end;
	}
	printf("%.1f %% known in advance, %.1f %% kept\n", 100 * m.learning_efficacy,
		100 * m.retention);
end:
	if (err.code)
		fprintf(stderr, "example: %s\n", err.message);
	retain_learner_close(learner);
	return err.code != 0;
}
