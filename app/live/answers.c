/* Answers in a text that is written at once and used again. */
#include "live/answers.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/json_write.h"

enum { WAIT = 200 }; /* milliseconds, after which a wish to stop is looked at again */

void answers_release(struct answers *answers)
{
	text_release(&answers->words);
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

void answers_prediction(struct answers *answers, const char *id, struct answers_class prediction,
	double probability)
{
	struct jwriter line = begin_answer(answers);

	jwriter_raw(&line, "id", id);
	add_class(&line, "prediction", prediction);
	jwriter_number(&line, "probability", round(probability * 1e6) / 1e6);
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
