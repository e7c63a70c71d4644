/*
 * The moving-average-based learning rate: a cut if all conditions that count hold at the
 * end of a window:
 *
 *	C1  the best score since the last cut (minus the mean loss of the better
 *	    average) is at least `patience` iterations old,
 *	C2  so is the greatest gap sigma (the accuracy of the better average minus that
 *	    of the plain model),
 *	C3  the mean of sigma over the last `patience` iterations exceeds epsilon.
 *
 * C3 looks at whole windows, and holds only once there were enough of them since the
 * last cut; with C1 or C2 beside it there always were. A cut forgets both bests and all
 * windows: what was seen at the old rate says nothing about the new one.
 */
#include "optim/schedule_type.h"

#include <inttypes.h>
#include <math.h>

#include "base/mem.h"

struct gap_window {
	double rounds, sum, squares; /* of the accuracy gap */
};

struct malr {
	struct schedule base;
	double rate;
	struct plateau score, sigma;
	int64_t seen;               /* windows since the last cut */
	int64_t room;               /* windows in `patience` iterations */
	struct gap_window *windows; /* the last ones: number i, from 0, stands at i % room */
};

static void forget(struct malr *malr, int64_t k)
{
	plateau_clear(&malr->score, k);
	plateau_clear(&malr->sigma, k);
	malr->seen = 0;
}

static int init(struct schedule *schedule, struct err *err)
{
	struct malr *malr = (struct malr *)schedule;
	const struct schedule_config *c = &schedule->config;

	if (!c->c1 && !c->c2 && !c->c3)
		return err_set(err, ERR_INPUT,
			"schedule.kind = malr: schedule.c1, schedule.c2 and schedule.c3 are all "
			"off, and nothing would keep the rate from being cut in every window");
	malr->rate = c->rate;
	malr->room = schedule_patience_windows(schedule);
	malr->windows = mem_new((size_t)malr->room, sizeof(*malr->windows));
	if (!malr->windows)
		return err_memory(err, "the windows of schedule.patience",
			(unsigned long long)malr->room * sizeof(*malr->windows));
	forget(malr, 0);
	return 0;
}

static void release(struct schedule *schedule)
{
	mem_free(((struct malr *)schedule)->windows);
}

static double rate(const struct schedule *schedule, int64_t k)
{
	(void)k;
	return ((const struct malr *)schedule)->rate;
}

static int64_t held(const struct malr *malr)
{
	return malr->seen < malr->room ? malr->seen : malr->room;
}

/* Windows count the same, whatever their rounds; the error takes rounds to be independent. */
static void summarize(const struct malr *malr, struct schedule_verdict *verdict)
{
	struct gap_window all = {0};
	double means = 0;

	for (int64_t i = 0; i < held(malr); i++) {
		const struct gap_window *one = &malr->windows[i];

		means += one->sum / one->rounds;
		all.rounds += one->rounds;
		all.sum += one->sum;
		all.squares += one->squares;
	}
	verdict->sigma_mean = means / (double)held(malr);
	if (all.rounds > 1) {
		const double spread = all.squares - all.sum * all.sum / all.rounds;

		/* Rounding may leave less than nothing where all gaps are the same. */
		verdict->sigma_error =
			spread > 0 ? sqrt(spread / (all.rounds - 1) / all.rounds) : 0;
	}
}

static void window(struct schedule *schedule, int64_t k, const struct scores *scores, int best,
	struct schedule_verdict *verdict)
{
	struct malr *malr = (struct malr *)schedule;
	const struct schedule_config *c = &schedule->config;
	const int64_t patience = schedule_patience(schedule, k);

	malr->windows[malr->seen++ % malr->room] = (struct gap_window){(double)scores->rounds,
		scores->sum[best].accuracy - scores->sum[SCORES_PLAIN].accuracy,
		scores->gap_squares[best]};
	verdict->score_age = plateau_age(&malr->score, k, verdict->score);
	verdict->sigma_age = plateau_age(&malr->sigma, k, verdict->sigma);
	summarize(malr, verdict);
	verdict->c1 = c->c1 && verdict->score_age >= patience;
	verdict->c2 = c->c2 && verdict->sigma_age >= patience;
	/* Three standard errors leave little to chance. */
	verdict->noisy = c->c3 && k >= patience && verdict->sigma_error > c->epsilon / 3;
	verdict->c3 = c->c3 && malr->seen >= malr->room && verdict->sigma_mean > c->epsilon;
	if (verdict->c1 != c->c1 || verdict->c2 != c->c2 || verdict->c3 != c->c3)
		return;
	verdict->cut = true;
	verdict->after = malr->rate *= c->factor;
	forget(malr, k);
}

static void visit(struct schedule *schedule, struct state *state)
{
	struct malr *malr = (struct malr *)schedule;

	state_double(state, "rate", &malr->rate);
	plateau_state(&malr->score, "score", state);
	plateau_state(&malr->sigma, "sigma", state);
	state_int64(state, "seen", &malr->seen);
	if (malr->seen < 0) {
		state_refuse(state, ERR_FORMAT, "%" PRId64 " windows were seen", malr->seen);
		malr->seen = 0;
	}
	state_doubles(state, "windows", (double *)malr->windows,
		(size_t)held(malr) * sizeof(*malr->windows) / sizeof(double));
}

const struct schedule_type schedule_malr = {
	.name = "malr",
	.help = "a cut when averages no longer gain, and their gap to the plain model is large",
	.size = sizeof(struct malr),
	.gap = true,
	.init = init,
	.release = release,
	.rate = rate,
	.window = window,
	.state = visit,
};
