/* Answers are collected in a reusable text that is written at once. */
#include "live/answers.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "target/class.h"

enum { WAIT = 200 }; /* milliseconds, after which a wish to stop is looked at again */

void answers_init(struct answers *answers, int descriptor)
{
	*answers = (struct answers){.sender.answer = answers_say, .descriptor = descriptor};
}

void answers_release(struct answers *answers)
{
	text_release(&answers->words);
}

static void add_class(struct jwriter *line, const char *key, struct answers_class class)
{
	if (class.label < 0)
		jwriter_raw(line, key, "null");
	else if (class.name)
		jwriter_text(line, key, class.name);
	else
		jwriter_whole(line, key, class.label);
}

static void add_guess(struct jwriter *line, struct answers_class prediction, double probability)
{
	add_class(line, "prediction", prediction);
	jwriter_number(line, "probability", round(probability * 1e6) / 1e6);
}

static void add_top(struct jwriter *line, const struct answers_top *top)
{
	const int count = top->count < top->classes ? top->count : top->classes;
	int32_t best[ANSWERS_TOP];
	double first;

	jwriter_list(line, "top");
	class_most(top->logits, top->classes, best, count);
	first = count ? class_probability(top->logits, top->classes, best[0]) : 0;
	for (int i = 0; i < count; i++) {
		const double lower = (double)top->logits[best[i]] - (double)top->logits[best[0]];
		const char *name = top->name ? top->name(top->context, best[i]) : NULL;

		jwriter_table(line, NULL);
		add_guess(line, (struct answers_class){best[i], name}, first * exp(lower));
		jwriter_end(line);
	}
	jwriter_end(line);
}

void answers_add(struct jwriter *line, struct answers_class prediction, double probability,
	const struct answers_top *top)
{
	add_guess(line, prediction, probability);
	if (top && top->count)
		add_top(line, top);
}

/* One number, a list of them, or an object if they have names. */
static void add_values(struct jwriter *line, const char *key, const float *values, int stride,
	int width, const char *names)
{
	char name[NUMBER_NAME];
	const bool named = width > 1 && *number_name(names, 0, name);

	if (width == 1) {
		jwriter_float(line, key, *values);
		return;
	}
	(named ? jwriter_table : jwriter_list)(line, key);
	for (int k = 0; k < width; k++)
		jwriter_float(line, named ? number_name(names, k, name) : NULL,
			values[(ptrdiff_t)k * stride]);
	jwriter_end(line);
}

void answers_add_numbers(struct jwriter *line, const float *answer, int width, const char *names)
{
	static const char *const keys[NUMBER_OUTPUTS] = {
		[NUMBER_VALUE] = "prediction", [NUMBER_LOW] = "low", [NUMBER_HIGH] = "high"};
	static const float none = NAN;

	for (int k = 0; k < NUMBER_OUTPUTS; k++)
		add_values(line, keys[k], answer ? answer + k : &none, answer ? NUMBER_OUTPUTS : 0,
			width, names);
}

static const char *name_of(const void *names, int32_t label)
{
	return class_list_name(names, label);
}

static void say_class(struct jwriter *line, const struct answer *answer)
{
	const int32_t label = answer->label->class;
	const struct answers_class class = {label, name_of(answer->names, label)};
	const struct answers_top top = {
		answer->logits, answer->classes, answer->top, name_of, answer->names};

	answers_add(line, class, answer->probability, answer->logits ? &top : NULL);
}

static void say_number(struct jwriter *line, const struct answer *answer)
{
	answers_add_numbers(line, target_numbers(answer->label), answer->width, answer->numbers);
}

static void say_prediction(struct jwriter *line, const struct answer *answer)
{
	jwriter_raw(line, "id", answer->id);
	(answer->target == TARGET_NUMBER ? say_number : say_class)(line, answer);
}

void answers_add_label(struct jwriter *line, const union target *label, enum target_kind target,
	int width, const char *numbers, const struct class_list *names)
{
	if (target == TARGET_NUMBER)
		add_values(line, "label", target_numbers(label), 1, width, numbers);
	else
		add_class(line, "label",
			(struct answers_class){label->class, name_of(names, label->class)});
}

static void say_sample(struct jwriter *line, const struct answer *answer)
{
	jwriter_raw(line, "id", answer->id);
	answers_add_label(
		line, answer->label, answer->target, answer->width, answer->numbers, answer->names);
	jwriter_whole(line, "sample", answer->sample);
}

static void say_error(struct jwriter *line, const struct answer *answer)
{
	jwriter_whole(line, "line", answer->place.line);
	if (*answer->id)
		jwriter_raw(line, "id", answer->id);
	jwriter_text(line, "error", answer->why);
}

void answers_say(struct sender *sender, const struct answer *answer)
{
	static void (*const says[])(struct jwriter *, const struct answer *) = {
		[ANSWER_PREDICTION] = say_prediction,
		[ANSWER_SAMPLE] = say_sample,
		[ANSWER_ERROR] = say_error,
	};
	struct answers *answers = (struct answers *)sender;
	struct jwriter line = {.out = &answers->words};

	answers->errors += answer->kind == ANSWER_ERROR;
	jwriter_table(&line, NULL);
	says[answer->kind](&line, answer);
	jwriter_end(&line);
	text_add(line.out, "\n");
}

static int failed(struct err *err)
{
	return err_set(err, ERR_FILE, "answers cannot be written: %s",
		errno == EPIPE ? "the reader has gone away" : strerror(errno));
}

/* Up to so much a pipe takes at once when it says that it can take something. */
static int send_some(struct answers *answers, size_t *sent, struct err *err)
{
	struct pollfd wait = {.fd = answers->descriptor, .events = POLLOUT};
	const size_t left = answers->words.size - *sent;
	ssize_t wrote;

	if (poll(&wait, 1, WAIT) <= 0)
		return 0;
	wrote = write(answers->descriptor, answers->words.data + *sent,
		left < PIPE_BUF ? left : PIPE_BUF);
	if (wrote < 0 && errno != EINTR && errno != EAGAIN)
		return failed(err);
	*sent += wrote > 0 ? (size_t)wrote : 0;
	return 0;
}

int answers_send(struct answers *answers, struct err *err)
{
	size_t sent = 0;
	int code = 0;

	if (answers->words.failed)
		return err_memory(err, "answers", answers->words.size);
	while (!code && sent < answers->words.size && !(answers->stop && *answers->stop))
		code = send_some(answers, &sent, err);
	answers->words.size = 0;
	return code;
}
