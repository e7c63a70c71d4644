/* retain.h in C++: every function can be named, and the calls of a time step fit. */
#include <retain.h>

int main()
{
	retain_err err = {};
	retain_learner *learner = nullptr;
	retain_config *config = retain_config_new();
	const float inputs[4] = {};
	const int32_t labels[1] = {1};
	retain_prediction predictions[1];
	retain_ticket ticket = {};
	retain_metrics m = {};

	const int code =
		retain_config_on_warning(
			config, [](void *, const char *) {}, nullptr, &err) ||
		retain_config_on_progress(
			config, [](void *, const retain_progress *) { return 0; }, nullptr, &err) ||
		retain_config_set(config, "model.classes", "2", &err) ||
		retain_config_set(config, "model.input", "4", &err) ||
		retain_learner_new(&learner, config, &err) ||
		retain_learner_observe(learner, inputs, 4, predictions, 1, &ticket, &err) ||
		retain_learner_reveal(learner, ticket, labels, 1, &err) ||
		retain_learner_train(learner, RETAIN_BUDGET, &err) ||
		retain_learner_predict(learner, inputs, 4, predictions, 1, nullptr, 0, &err) ||
		retain_learner_metrics(learner, &m, &err);
	retain_learner_close(learner);
	retain_config_free(config);
	return code || m.samples != 1;
}
