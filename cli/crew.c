/*
 * Rank 0 sends its resolved options as text, so the others need no config and cannot have a
 * different one. An empty text means that there is nothing to do.
 */
#include "crew.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <retain.h>

#include "base/mem.h"
#include "base/text.h"
#include "config/app_config.h"
#include "dist/dist.h"
#include "dist/peers.h"
#include "stored/stored.h"
#include "streams/source.h"
#include "streams/source_store.h"

#include "cli.h"

static struct ranks *crew;
static struct peers peers;
static bool led; /* the options were sent */

/* Time for rank 0 to say what it met as well. */
enum { MANNERS = 3 }; /* seconds */

static void send_text(const struct text *words)
{
	size_t size = words ? words->size : 0;

	crew->type->hear(crew, &size, sizeof(size));
	if (!size)
		return;
	crew->type->share(crew, 0, words->data, size);
	crew->type->share(crew, 0, &crew->anyway, sizeof(crew->anyway));
}

/* NULL without an error: there is nothing to do. */
static int hear_options(struct options **options, struct err *err)
{
	size_t size = 0;
	char *words;
	int code;

	*options = NULL;
	crew->type->hear(crew, &size, sizeof(size));
	if (!size)
		return 0;
	words = mem_new(size, 1);
	if (!words)
		return err_memory(err, "rank 0's config", size);
	crew->type->share(crew, 0, words, size);
	crew->type->share(crew, 0, &crew->anyway, sizeof(crew->anyway));
	code = config_defaults(options, &app_scope, err);
	if (!code)
		code = options_read_saved(*options, "rank 0's config", words, size, true, err);
	mem_free(words);
	return code;
}

/* Rank 0 is who is told to stop; a launcher's kill cannot be ignored. */
static void ignore_stops(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGUSR1};

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		signal(signals[i], SIG_IGN);
}

/*
 * The same source as rank 0 has. It is opened after rank 0 has opened its own, so that an index
 * of a large data set is made once.
 */
struct following {
	struct follow as; /* must be first */
	struct source *source;
	char digest[STORED_DIGEST];
};

static int open_source(struct follow *follow, struct err *err)
{
	struct following *f = (struct following *)follow;
	int code = source_open(&f->source, follow->options, err);

	if (!code)
		code = source_store_new(&follow->store, f->source,
			(size_t)options_int64(follow->options, "stream.cache") << 20, err);
	if (!code && stored_digest(f->source, STORED_FEW, f->digest))
		follow->data = f->digest;
	follow->load_context = f->source;
	return code;
}

static int follow_stored(struct options *options, struct err *err)
{
	struct following f = {.as = {.options = options, .open = open_source, .load = stored_load}};
	const int code = peers_follow(crew, &f.as, err);
	const int64_t skipped = f.source ? source_bad_count(f.source) : 0;

	if (skipped)
		say("warning: rank %d on %s: %" PRId64 " samples could not be read", crew->rank,
			crew->host, skipped);
	store_free(f.as.store);
	source_close(f.source);
	return code;
}

static int follow(void)
{
	struct options *options = NULL;
	struct err err = {0};
	int code;

	ignore_stops();
	code = hear_options(&options, &err);
	if (!code && options) {
		dist_patience(crew, options_float(options, "engine.patience"));
		code = source_is_live(options)
			       ? peers_follow(crew, &(struct follow){.options = options}, &err)
			       : follow_stored(options, &err);
	}
	options_free(options);
	if (!code)
		return EXIT_OK;
	sleep(MANNERS);
	complain(EXIT_FAILED, "rank %d on %s: %s", crew->rank, crew->host, err.message);
	dist_abort(crew, EXIT_FAILED);
}

bool crew_begin(const char *verb, bool shares, int *status)
{
	struct err err = {0};

	if (dist_started() == 1)
		return true;
	if (dist_open(&crew, retain_version(), &err)) {
		if (ranks_first(crew))
			complain(EXIT_USAGE, "%s", err.message);
		dist_close(crew);
		crew = NULL;
		*status = EXIT_USAGE;
		return false;
	}
	if (!shares) {
		*status = ranks_first(crew) ? complain(EXIT_USAGE,
						      "%s: %d processes were started, and only run "
						      "and serve share their work",
						      verb, crew->count)
					    : EXIT_OK;
		dist_close(crew);
		return false;
	}
	if (ranks_first(crew))
		return true;
	*status = follow();
	dist_close(crew);
	return false;
}

static void warn_crowd(const struct options *options)
{
	const int threads = options_int(options, "engine.threads");

	if (threads > crew->threads)
		say("warning: engine.threads = %d: there are processors for %d "
		    "thread%s "
		    "of each of %d ranks on %s",
			threads, crew->threads, crew->threads == 1 ? "" : "s", crew->here,
			crew->host);
}

struct learner_peers *crew_lead(const struct options *options, bool anyway)
{
	struct text words = {0};
	struct err err = {0};

	if (ranks_alone(crew))
		return NULL;
	if (options_write(options, &words, &err)) {
		complain(EXIT_FAILED, "%s", err.message);
		dist_abort(crew, EXIT_FAILED);
	}
	warn_crowd(options);
	dist_patience(crew, options_float(options, "engine.patience"));
	crew->anyway = anyway;
	send_text(&words);
	text_release(&words);
	led = true;
	peers_open(&peers, crew, source_is_live(options));
	return &peers.as;
}

int crew_end(int status)
{
	if (!crew)
		return status;
	if (crew->lost) {
		fflush(NULL);
		dist_abort(crew, status);
	}
	if (led)
		peers_dismiss(crew);
	else if (!ranks_alone(crew))
		send_text(NULL);
	dist_close(crew);
	crew = NULL;
	return status;
}
