/*
 * Methods are bundles of keys. Each sets everything that distinguishes methods (objective, loss,
 * optimizer, average, schedule, holdout, recency, fast weights), so that one can replace another.
 * Additions to any of them are suffixes.
 */
#include <stddef.h>

#include "session/config/bundle.h"

/* What a method consists of, by the keys' last words. */
#define METHOD(objective, optimizer, average, schedule, holdout, ...)                              \
	BUNDLE("replay.objective=" objective, "optimizer.kind=" optimizer,                         \
		"average.kind=" average, "schedule.kind=" schedule, "~replay.holdout=" holdout,    \
		"replay.recency_share=0", "fast.parts=none", "fast.heads=none",                    \
		"~loss.kind=cross-entropy", "optimizer.wide=0", ##__VA_ARGS__)

const struct bundle methods[] = {
	{"ama+malr",
		"adaptive averages, rate led by their gap to SGD: the paper's method, with windows "
		"that adapt (Algorithm 2 as printed: average.rule = paper, which kept 7 points "
		"less)",
		METHOD("pure", "sgd", "ama", "malr", "0.05")},
	{"ama+rwp", "adaptive averages, rate cut on validation plateaus",
		METHOD("pure", "sgd", "ama", "rwp", "0.05")},
	{"ama+clr", "adaptive averages, constant rate",
		METHOD("pure", "sgd", "ama", "constant", "0.05")},
	{"ama+cosine", "adaptive averages, rate along a cosine of known length",
		METHOD("pure", "sgd", "ama", "cosine", "0.05")},
	{"ema+malr", "one average of fixed weight, rate led by its gap to SGD",
		METHOD("pure", "sgd", "ema", "malr", "0.05")},
	{"ema+rwp", "one average of fixed weight, rate cut on validation plateaus",
		METHOD("pure", "sgd", "ema", "rwp", "0.05")},
	{"ema+clr", "one average of fixed weight, constant rate",
		METHOD("pure", "sgd", "ema", "constant", "0.05")},
	{"sgd+rwp", "plain SGD, rate cut on validation plateaus",
		METHOD("pure", "sgd", "none", "rwp", "0.05")},
	{"sgd+clr", "plain SGD at a constant rate, on training and validation samples",
		METHOD("pure", "sgd", "none", "constant", "0")},
	{"sgd+cosine", "plain SGD, rate along a cosine of known length",
		METHOD("pure", "sgd", "none", "cosine", "0")},
	{"sgd+cyclic", "plain SGD, a cosine per task",
		METHOD("pure", "sgd", "none", "cyclic", "0")},
	{"er", "experience replay: half the current task, half past ones; a cosine per task",
		METHOD("er", "sgd", "none", "cyclic", "0")},
	{"mir", "as er, but replays the past samples that a step on the current ones harms most",
		METHOD("mir", "sgd", "none", "cyclic", "0")},
	{"gdumb", "a class-balanced memory, trained on from scratch for each task",
		METHOD("pure", "sgd", "none", "cyclic", "0", "replay.pool=balanced",
			"learn.retrain=on")},
	{"er-ace", "half of each batch is new samples, which compete only among their own classes",
		METHOD("mixed", "sgd", "none", "cyclic", "0", "loss.kind=ace")},
	{"der++", "as er, from a reservoir; replayed samples keep close to the logits they had",
		METHOD("er", "sgd", "none", "cyclic", "0", "replay.pool=reservoir",
			"loss.kind=der")},
	{"ewc", "as er; weights that mattered to earlier tasks are held where they were",
		METHOD("er", "sgd", "none", "cyclic", "0", "loss.kind=ewc")},
	{"lwf+ama", "adaptive averages at a constant rate; the net learns their answers, too",
		METHOD("pure", "sgd", "ama", "constant", "0.05", "loss.kind=distill")},
	{"polrs+adrep",
		"made for learning efficacy: mixed replay, three rates at a time, adaptive reach",
		METHOD("mixed", "sgd", "none", "constant", "0", "replay.history=40000",
			"learn.population=polrs", "learn.adapt_history=on")},
	{"mixed+clr", "half of each batch from the current step, constant rate",
		METHOD("mixed", "sgd", "none", "constant", "0")},
	{"mixed+ama+malr", "half of each batch from the current step, with AMA and MALR",
		METHOD("mixed", "sgd", "ama", "malr", "0.05")},
	{"adam+clr", "ADAM at a constant rate",
		METHOD("pure", "adam", "none", "constant", "0", "schedule.rate=0.001",
			"optimizer.decay=0")},
	{"adam+rwp", "ADAM, rate cut on validation plateaus",
		METHOD("pure", "adam", "none", "rwp", "0.05", "schedule.rate=0.001",
			"optimizer.decay=0")},
	{"adam+ama+malr", "ADAM with adaptive averages and the rate led by their gap",
		METHOD("pure", "adam", "ama", "malr", "0.05", "schedule.rate=0.001",
			"optimizer.decay=0")},
	{"schedule-free", "schedule-free SGD: no holdout, no horizon, no schedule",
		METHOD("pure", "schedule-free", "none", "constant", "0", "schedule.rate=0.5",
			"optimizer.wide=64")},
	{0},
};

static const struct bundle_conflict with_recency[] = {
	{"replay.objective=er", "whose batches are half from the current task already"},
	{"replay.objective=mir", "whose batches are half from the current task already"},
	{0},
};

static const struct bundle_conflict with_fast[] = {
	{"learn.population=polrs", "whose models replace one another"},
	{"learn.retrain=on", "which starts again with every task"},
	{0},
};

/*
 * Fast weights beside rows, which come one by one, are slower ones with a linear model beside
 * them (session/config/defaults.c), so +fast leaves both to the data.
 */
const struct bundle method_suffixes[] = {
	{"+recency", "after a method: a tenth of each batch is from the newest tenth",
		BUNDLE("replay.recency_share=0.1"), with_recency},
	{"+pool", "after a method: weight decay that shrinks as the pool grows",
		BUNDLE("optimizer.decay=pool")},
	{"+fast",
		"after a method: fast weights that track recent samples, fitted to the data, and "
		"+pool",
		BUNDLE("optimizer.decay=pool", "~fast.parts=0.2:0.97+0.1:0.999",
			"~fast.heads=none"),
		with_fast},
	{"+heads", "after a method, for embeddings: ridge regression and nearest neighbours",
		BUNDLE("fast.heads=ridge, knn"), with_fast},
	{"+parts",
		"after a method, for tables: many small models beside the net, and pools that "
		"learn "
		"which to trust",
		BUNDLE("fast.heads=newton, hidden, labels, windows, forest, young, values, sparse",
			"fast.mix_by=pool"),
		with_fast},
	{0},
};
