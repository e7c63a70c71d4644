/* A run's callbacks from its learner: they feed the ledger, events.jsonl and a warning. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "session/run/run.h"

static void on_work(void *context, enum learner_work work, int samples)
{
	struct run *run = context;
	struct ledger *ledger = &run->ledger;
	static const struct {
		bool forward, backward;
		int iterations, updates, averages;
		enum ledger_use use;
	} rows[LEARNER_WORKS] = {
		[LEARNER_TRAIN] = {.forward = true, .backward = true, .use = LEDGER_TRAIN},
		[LEARNER_VALIDATE] = {.forward = true, .use = LEDGER_VALIDATE},
		[LEARNER_STATISTICS] = {.forward = true, .use = LEDGER_STATISTICS},
		[LEARNER_CANDIDATES] = {.forward = true, .use = LEDGER_CHOOSE},
		[LEARNER_VIRTUAL] = {.forward = true,
			.backward = true,
			.updates = 1,
			.use = LEDGER_CHOOSE},
		[LEARNER_TEACH] = {.forward = true, .use = LEDGER_TRAIN},
		[LEARNER_PREDICT] = {.forward = true, .use = LEDGER_PREDICT},
		[LEARNER_FAST_FORWARD] = {.forward = true, .use = LEDGER_FAST},
		[LEARNER_FAST_STEP] = {.forward = true,
			.backward = true,
			.updates = 2,
			.use = LEDGER_FAST},
		[LEARNER_UPDATE] = {.updates = 1},
		[LEARNER_MOVE] = {.averages = 1},
		[LEARNER_ITERATION] = {.iterations = 1},
	};

	if (rows[work].forward)
		ledger_forward(ledger, work == LEARNER_PREDICT ? run->predicting : rows[work].use,
			samples);
	if (rows[work].backward)
		ledger_backward(ledger, samples);
	ledger->iterations += rows[work].iterations;
	ledger->updates += rows[work].updates;
	ledger->averages += rows[work].averages;
}

struct ledger_prices run_prices(const struct run *run)
{
	const struct net *net = learner_net(run->learner);

	return ledger_macs(&(struct ledger_net){.macs = net_macs(net),
		.parameters = (double)net_params(net)->floats,
		.trained_macs = net_trained_macs(net),
		.trained_parameters = net_trained_params(net)});
}

static void on_macs(void *context, int64_t macs)
{
	struct run *run = context;

	run->ledger.macs += macs;
}

/* A gap that drowns in noise cannot lead the rate; said once. */
static void warn_noise(struct run *run, const struct scoring_window *window)
{
	const double epsilon = options_float(run->config.options, "schedule.epsilon");

	if (run->warned_noise || !window->verdict.noisy)
		return;
	run->warned_noise = true;
	log_write(&run->config.log, LOG_WARN,
		"iteration %" PRId64
		": the gap sigma is known to %.4f only, which is much against schedule.epsilon "
		"= %g; a larger schedule.validation_batch or schedule.patience would help",
		window->iteration, window->verdict.sigma_error, epsilon);
}

static void on_window(void *context, const struct scoring_window *window)
{
	struct run *run = context;

	if (run->events)
		event_log_window(run->events, window);
	warn_noise(run, window);
}

static void on_part(void *context, const struct learner_part *part)
{
	struct run *run = context;

	if (run->events)
		event_log_part(run->events, part);
}

static void on_lead(void *context, const struct learner_lead *lead)
{
	struct run *run = context;

	if (run->events)
		event_log_lead(run->events, lead);
}

int run_make_learner(struct run *run, struct learner_config *config, struct err *err)
{
	const struct options *o = run->config.options;
	int code;

	run->classes_most = target_outputs(o) ? 0 : config->classes_most;
	run->floats = (size_t)config->channels * (size_t)config->height * (size_t)config->width;
	config->options = o;
	config->peers = run->config.peers;
	config->maker = run->config.maker;
	if (!config->budget)
		config->budget = options_float(o, "run.budget");
	run->budget = config->budget;
	config->watch = (struct learner_watch){on_work, on_window, run, on_part, on_lead, on_macs};
	code = learner_new(&run->learner, config, run->store, err);
	if (!code)
		code = run_score_new(run, config->classes, err);
	if (!code)
		run->classes = net_spec(learner_net(run->learner))->classes;
	return code;
}
