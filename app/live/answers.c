/* Answers in a text that is written at once and used again. */
#include "live/answers.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "eval/guess.h"

enum { WAIT = 200 }; /* milliseconds, after which a wish to stop is looked at again */

void answers_release(struct answers *answers)
{
	text_release(&answers->words);
}

int answers_wish_for(struct answers_wish *wish, const char *words, struct err *err)
{
	if (!words || (strcmp(words, "now") != 0 && strcmp(words, "ever") != 0))
		return err_set(err, ERR_INPUT, "for: must be now or ever");
	wish->question = strcmp(words, "now") ? ANSWERS_EVER : ANSWERS_NOW;
	return 0;
}

int answers_wish_top(struct answers_wish *wish, int64_t top, struct err *err)
{
	if (top < 1 || top > ANSWERS_TOP)
		return err_set(
			err, ERR_INPUT, "top: must be a whole number from 1 to %d", ANSWERS_TOP);
	wish->top = (int)top;
	return 0;
}

struct answers_wish answers_wish_or(struct answers_wish wish, struct answers_wish otherwise)
{
	return (struct answers_wish){wish.question ? wish.question : otherwise.question,
		wish.top ? wish.top : otherwise.top};
}

static struct jwriter begin_answer(struct answers *answers)
{
	struct jwriter line = {.out = &answers->words};

	jwriter_table(&line, NULL);
	return line;
}

static void end_answer(struct jwriter *line)
{
	jwriter_end(line);
	text_add(line->out, "\n");
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
	guess_most(top->logits, top->classes, best, count);
	first = count ? guess_probability(top->logits, top->classes, best[0]) : 0;
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

void answers_prediction(struct answers *answers, const char *id, struct answers_class prediction,
	double probability, const struct answers_top *top)
{
	struct jwriter line = begin_answer(answers);

	jwriter_raw(&line, "id", id);
	answers_add(&line, prediction, probability, top);
	end_answer(&line);
}

void answers_sample(
	struct answers *answers, const char *id, struct answers_class label, int64_t sample)
{
	struct jwriter line = begin_answer(answers);

	jwriter_raw(&line, "id", id);
	add_class(&line, "label", label);
	jwriter_whole(&line, "sample", sample);
	end_answer(&line);
}

void answers_error(struct answers *answers, int64_t number, const char *id, const char *message)
{
	struct jwriter line = begin_answer(answers);

	answers->errors++;
	jwriter_whole(&line, "line", number);
	if (*id)
		jwriter_raw(&line, "id", id);
	jwriter_text(&line, "error", message);
	end_answer(&line);
}

static int failed(struct err *err)
{
	return err_set(err, ERR_FILE, "answers cannot be written: %s",
		errno == EPIPE ? "nobody reads them any more" : strerror(errno));
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
