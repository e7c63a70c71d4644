/* Presets are bundles of keys: the length of a built-in stream, and settings that suit it. */
#include "config/app_config.h"

/* What all presets share, then length, samples and iterations per step, K_W and K_R. */
#define PRESET(steps, per_step, evals, iterations, window, patience)                               \
	BUNDLE("model.arch=mlp:64", "run.batch=64", "schedule.validation_batch=128",               \
		"schedule.rate=0.2", "schedule.epsilon=0.02", "drift.steps=" steps,                \
		"drift.per_step=" per_step, "drift.eval_per_step=" evals,                          \
		"run.iterations=" iterations, "schedule.window=" window,                           \
		"schedule.patience=" patience)

/* The same for photos; a preset of theirs is also the choice of that source. */
#define PHOTOS(steps, evals, iterations, window, patience)                                         \
	BUNDLE("stream.source=photos", "model.arch=resnet20-cifar", "run.batch=32",                \
		"schedule.validation_batch=128", "schedule.rate=0.1", "schedule.epsilon=0.02",     \
		"photos.steps=" steps, "photos.per_step=32", "photos.eval_per_step=" evals,        \
		"run.iterations=" iterations, "schedule.window=" window,                           \
		"schedule.patience=" patience)

const struct bundle presets[] = {
	{"small", "5 000 steps of 32 samples, 40 000 iterations: seconds",
		PRESET("5000", "32", "4", "8", "200", "1000")},
	{"std", "20 000 steps, 160 000 iterations: what the claims are checked on",
		PRESET("20000", "32", "1", "8", "500", "3000")},
	{"long", "100 000 steps, 800 000 iterations",
		PRESET("100000", "32", "1", "8", "2000", "10000")},
	{"paper", "as long as the paper's stream: 39 million samples, 12.2 million iterations",
		PRESET("152500", "256", "1", "80", "10000", "60000")},
	{"photos-small", "photos: 600 steps of 32, 1 200 iterations of a ResNet-20",
		PHOTOS("600", "2", "2", "60", "240")},
	{"photos-std", "photos: 5 000 steps of 32, 20 000 iterations of a ResNet-20",
		PHOTOS("5000", "1", "4", "240", "2000")},
	{0},
};
