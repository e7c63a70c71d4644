/*
 * The ledger of simulated runs against the costs per iteration that the methods
 * are said to have, exactly: prices are whole numbers, and so are all sums.
 */
#include "check.h"
#include "eval/ledger.h"

enum { BATCH = 64, PERIODS = 3 };

/* c_F, c_G and c_U of a batch are 64 * 5, 64 * 11 and 7. */
static const struct ledger_prices prices = {.forward = 5, .backward = 11, .update = 7};
static const double c_f = BATCH * 5, c_g = BATCH * 11, c_u = 7;

struct method {
	int validate_every, validated; /* K_V and how many models are scored */
	int average_every, averages;   /* K_M and how many averages move */
	int statistics_every;          /* K_B */
};

static void run(struct ledger *ledger, const struct method *m, int64_t from, int64_t to)
{
	for (int64_t k = from + 1; k <= to; k++) {
		ledger_forward(ledger, LEDGER_TRAIN, BATCH);
		ledger_backward(ledger, BATCH);
		ledger->updates++;
		if (m->average_every && k % m->average_every == 0)
			ledger->averages += m->averages;
		for (int i = 0; m->validate_every && k % m->validate_every == 0 && i < m->validated;
			i++)
			ledger_forward(ledger, LEDGER_VALIDATE, BATCH);
		if (m->statistics_every && k % m->statistics_every == 0)
			ledger_forward(ledger, LEDGER_STATISTICS, BATCH);
		ledger->iterations++;
	}
}

static void plain_sgd_costs_one(void **state)
{
	const struct method sgd = {0};
	struct ledger ledger = {0};

	(void)state;
	assert_number(ledger_cost(&ledger, &prices), 0);
	assert_number(ledger_sgd_equivalents(&ledger, &prices, BATCH), 0);
	run(&ledger, &sgd, 0, 123);
	assert_number(ledger_cost(&ledger, &prices), 123 * (c_f + c_g + c_u));
	assert_number(ledger_sgd_equivalents(&ledger, &prices, BATCH), 123);
	assert_int_equal(ledger.iterations, 123);
	assert_int_equal(ledger.forward[LEDGER_TRAIN], 123);
	assert_int_equal(ledger.forward_samples[LEDGER_TRAIN], 123 * BATCH);
	assert_int_equal(ledger.backward, 123);
	assert_int_equal(ledger.backward_samples, 123 * BATCH);
}

static void sgd_with_rwp(void **state)
{
	static const int k_vs[] = {1, 7, 20};

	(void)state;
	for (size_t i = 0; i < COUNT(k_vs); i++) {
		const int k_v = k_vs[i], n = PERIODS * k_v;
		const struct method rwp = {.validate_every = k_v, .validated = 1};
		struct ledger ledger = {0};

		run(&ledger, &rwp, 0, n);
		/* n ((K_V+1)/K_V c_F + c_G + c_U), the fraction multiplied out. */
		assert_number(ledger_cost(&ledger, &prices),
			PERIODS * (k_v + 1) * c_f + n * c_g + n * c_u);
		assert_int_equal(ledger.forward[LEDGER_VALIDATE], PERIODS);
	}
}

static void ama_with_malr(void **state)
{
	static const struct {
		int k_v, k_m;
	} cases[] = {{20, 10}, {1, 1}, {7, 3}, {4, 9}};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const int k_v = cases[i].k_v, k_m = cases[i].k_m, n = PERIODS * k_v * k_m;
		const struct method malr = {k_v, 3, k_m, 2, 0};
		struct ledger ledger = {0};

		run(&ledger, &malr, 0, n);
		/* n ((K_V+3)/K_V c_F + c_G + (K_M+2)/K_M c_U) */
		assert_number(
			ledger_cost(&ledger, &prices), PERIODS * k_m * (k_v + 3) * c_f + n * c_g +
							       PERIODS * k_v * (k_m + 2) * c_u);
	}
}

static void using_a_model_is_not_learning(void **state)
{
	const struct method batch_norm = {.statistics_every = 10};
	struct ledger ledger = {0};

	(void)state;
	run(&ledger, &batch_norm, 0, 20);
	ledger_forward(&ledger, LEDGER_PREDICT, 256);
	ledger_forward(&ledger, LEDGER_EVALUATE, 5000);
	assert_number(ledger_cost(&ledger, &prices), 22 * c_f + 20 * c_g + 20 * c_u);
	assert_int_equal(ledger.forward_samples[LEDGER_PREDICT], 256);
	assert_int_equal(ledger.forward_samples[LEDGER_EVALUATE], 5000);
}

static void batches_differ(void **state)
{
	struct ledger ledger = {0};

	(void)state;
	/* Twice the batch is nearly, but not quite, twice the cost. */
	ledger_forward(&ledger, LEDGER_TRAIN, 2 * BATCH);
	ledger_backward(&ledger, 2 * BATCH);
	ledger.updates++;
	assert_number(ledger_sgd_equivalents(&ledger, &prices, 2 * BATCH), 1);
	assert_number(ledger_sgd_equivalents(&ledger, &prices, BATCH),
		(2 * c_f + 2 * c_g + c_u) / (c_f + c_g + c_u));
}

static void prices_in_multiply_adds(void **state)
{
	const struct ledger_prices macs = ledger_macs(&(struct ledger_net){1000, 30, 1000, 30});

	(void)state;
	assert_number(macs.forward, 1000);
	assert_number(macs.backward, 2000);
	assert_number(macs.update, 30);
	assert_number(ledger_sgd(&macs, BATCH), 3000 * BATCH + 30);
}

/* Forward of all, backward and update of what is trained; the yardstick trains every layer. */
static void frozen_layers_cost_their_forward_pass(void **state)
{
	const struct ledger_prices macs = ledger_macs(&(struct ledger_net){1000, 30, 200, 8});
	const struct method malr = {20, 3, 10, 2, 0};
	struct ledger ledger = {0};

	(void)state;
	run(&ledger, &malr, 0, 20);
	assert_number(ledger_cost(&ledger, &macs),
		23 * BATCH * 1000 + 20 * BATCH * 2 * 200 + (20 + 4) * 8);
	assert_number(ledger_sgd(&macs, BATCH), 3000 * BATCH + 30);
	assert_number(ledger_sgd_equivalents(&ledger, &macs, BATCH),
		(23 * BATCH * 1000 + 20 * BATCH * 2 * 200 + 24 * 8) / (3000.0 * BATCH + 30));
}

static void uses_have_names(void **state)
{
	(void)state;
	for (int a = 0; a < LEDGER_USES; a++)
		for (int b = 0; b < a; b++)
			assert_string_not_equal(ledger_use_name((enum ledger_use)a),
				ledger_use_name((enum ledger_use)b));
	assert_string_equal(ledger_use_name(LEDGER_VALIDATE), "validate");
}

static void visit(void *object, struct state *state)
{
	ledger_state(object, state);
}

static void a_resumed_ledger_goes_on(void **state)
{
	const struct method malr = {20, 3, 10, 2, 5};
	struct ledger straight = {0}, before = {0}, after = {.updates = 99};
	struct err err = {0};

	(void)state;
	run(&straight, &malr, 0, 500);
	run(&before, &malr, 0, 123);
	assert_ok(state_save(in_folder("state"), visit, &before, &err), err);
	assert_ok(state_load(in_folder("state"), visit, &after, &err), err);
	run(&after, &malr, 123, 500);
	assert_memory_equal(&after, &straight, sizeof(after));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_sgd_costs_one),
		cmocka_unit_test(sgd_with_rwp),
		cmocka_unit_test(ama_with_malr),
		cmocka_unit_test(using_a_model_is_not_learning),
		cmocka_unit_test(batches_differ),
		cmocka_unit_test(prices_in_multiply_adds),
		cmocka_unit_test(frozen_layers_cost_their_forward_pass),
		cmocka_unit_test(uses_have_names),
		folder_test(a_resumed_ledger_goes_on),
	};

	return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
