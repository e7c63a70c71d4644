/* What the paper says of its main experiment, by our keys; what it leaves open is not here. */
#include "report/paper.h"

#include <stddef.h>

const struct run_setting paper_settings[] = {
	{"model.arch", "resnet50"},
	{"model.norm", "gn-ws"},
	{"run.form", "online"},
	{"run.batch", "256"},
	{"run.iterations", "80"},
	{"replay.pool", "unlimited"},
	{"replay.objective", "pure"},
	{"replay.holdout", "0.05"},
	{"replay.recency_share", "0"},
	{"optimizer.kind", "sgd"},
	{"optimizer.momentum", "0.9"},
	{"optimizer.decay", "0.0001"},
	{"average.kind", "ama"},
	{"average.rule", "paper"},
	{"average.gamma", "0.99"},
	{"average.delta", "5"},
	{"average.every", "10"},
	{"average.statistics_every", "10"},
	{"schedule.kind", "malr"},
	{"schedule.rate", "0.025"},
	{"schedule.factor", "0.5"},
	{"schedule.patience", "60000"},
	{"schedule.epsilon", "0.03"},
	{"schedule.c1", "true"},
	{"schedule.c2", "true"},
	{"schedule.c3", "true"},
	{"schedule.window", "10000"},
	{"schedule.validate_every", "20"},
	{NULL, NULL},
};
