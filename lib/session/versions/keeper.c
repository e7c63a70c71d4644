#include "session/versions/keeper.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/paths.h"
#include "session/amend.h"
#include "session/copy.h"
#include "session/session.h"

static const double LOOK = 0.1; /* seconds between two looks */
static const char WISH[] = ".wish-", BY_HAND[] = "hand", BY_RULE[] = "every";

int keeper_init(struct keeper *keeper, const struct options *options, struct err *err)
{
	keeper->keep = options_int(options, "versions.keep");
	snprintf(keeper->champion.now, sizeof(keeper->champion.now), "%s", VERSION_LIVE);
	return interval_parse(&keeper->every, options_text(options, "versions.every"), "sample",
		"versions.every", err);
}

void keeper_release(struct keeper *keeper)
{
	copy_free(keeper->serving);
	keeper->serving = NULL;
}

void keeper_state(struct keeper *keeper, struct state *state)
{
	static const char group[] = "versions";

	if (state_reading(state) && !state_next_is(state, group))
		return;
	state_enter(state, group);
	state_int64(state, "told", &keeper->told);
	state_int64(state, "made_at", &keeper->made_at);
	state_leave(state);
}

static int64_t iteration_of(const struct session *s)
{
	struct learner_report now;

	learner_report(s->run.learner, &now);
	return now.iteration;
}

static int64_t samples_of(const struct session *s)
{
	struct learner_report now;

	learner_report(s->run.learner, &now);
	return now.samples;
}

static void warn(const struct session *s, const struct err *why)
{
	log_write(&s->run.config.log, LOG_WARN, "%s", why->message);
}

/* --- what serves --- */

static void tell_champion(struct session *s)
{
	struct keeper *k = &s->keeper;
	const struct champion *c = &k->champion;
	struct event_line line;

	if (k->told == c->change)
		return;
	k->told = c->change;
	event_log_begin(&line, "serve", iteration_of(s));
	jwriter_text(&line.json, "serving", c->now);
	jwriter_text(&line.json, "before", c->before_count ? c->before[0] : NULL);
	jwriter_text(&line.json, "why", c->why);
	jwriter_whole(&line.json, "change", c->change);
	jwriter_whole(&line.json, "since",
		c->since); /* an operator's act, or a rule's: no replay makes it */
	event_log_end(s->run.events, &line);
}

/* The version that serves is loaded before it does: what cannot be loaded changes nothing. */
static int load_version(struct session *s, const char *name, struct copy **copy, struct err *err)
{
	const char *folder = s->run.config.folder;
	char *path = version_path(folder, name);
	int code = 0;

	if (!path)
		code = err_memory(err, "a path", strlen(folder));
	else if (!path_has(path, "version.json") && champion_is_shadow(folder, name))
		code = err_set(err, ERR_INPUT,
			"%s: the shadow %s answers, and serve.shadow does not have it any more; "
			"add "
			"it, or let another one answer: retain version %s serve live",
			folder, name, folder);
	else
		code = copy_of_folder(copy, path, &s->run.config.log, err);
	mem_free(path);
	return code;
}

struct learner *keeper_learner(struct session *s)
{
	const struct contender *c = shadows_find(&s->shadows, s->keeper.champion.now);

	if (c && c->store)
		return c->learner;
	return s->keeper.serving ? NULL : s->run.learner;
}

int keeper_write(struct session *s, const char *path, struct err *err)
{
	const char *name = s->keeper.champion.now;
	const struct contender *c = shadows_find(&s->shadows, name);
	struct run run = s->run; /* a shadow is another learner of the same stream */

	if (c && c->store) {
		run.learner = c->learner;
		run.config.options = c->options;
	} else if (s->keeper.serving) {
		return err_set(err, ERR_STATE, "%s: the version %s answers by now",
			s->run.config.folder, name);
	}
	if (!learner_classes(run.learner))
		return err_set(err, ERR_STATE, "%s: nothing was learned yet", s->run.config.folder);
	return version_write(&run, path, name, err);
}

static int take_up(struct session *s, const struct champion *c, struct err *err)
{
	const bool same = !strcmp(c->now, s->keeper.champion.now);
	const struct contender *shadow = shadows_find(&s->shadows, c->now);
	struct copy *copy = NULL;
	int code = 0;

	if (shadow && shadow->store) {
		shadows_turn_to(&s->shadows, c->now, NULL);
		code = shadows_publish(s, &copy, err);
		copy_hold(copy);
	} else if (strcmp(c->now, VERSION_LIVE)) {
		copy = same ? copy_hold(s->keeper.serving) : NULL;
		code = copy ? 0 : load_version(s, c->now, &copy, err);
	}
	if (code)
		return code;
	shadows_turn_to(&s->shadows, c->now, copy);
	copy_free(s->keeper.serving);
	s->keeper.serving = copy;
	s->keeper.champion = *c;
	return 0;
}

/* A champion that learns answers other threads by copies. */
static void publish(struct session *s)
{
	struct copy *copy = NULL;
	struct err why = {0};

	if (shadows_publish(s, &copy, &why)) {
		warn(s, &why);
	} else if (copy && copy != s->keeper.serving) {
		copy_free(s->keeper.serving);
		s->keeper.serving = copy_hold(copy);
	}
}

static void promote(struct session *s)
{
	const struct contender *winner = shadows_winner(s);
	struct event_line line;
	struct err why = {0};

	if (!winner)
		return;
	event_log_begin(&line, "promote", iteration_of(s));
	jwriter_text(&line.json, "name", winner->name);
	jwriter_text(&line.json, "over", s->keeper.champion.now);
	jwriter_whole(&line.json, "labels", winner->duel.pairs);
	jwriter_number(&line.json, "ahead", 100 * duel_mean(&winner->duel));
	jwriter_number(&line.json, "p", duel_p(&winner->duel));
	event_log_end(s->run.events, &line);
	if (keeper_serve(s, winner->name, "rule", &why))
		warn(s, &why);
}

int keeper_open(struct session *s, struct err *err)
{
	struct champion c;
	int code;

	if (!s->run.config.folder)
		return 0;
	version_sweep(s->run.config.folder);
	code = champion_read(&c, s->run.config.folder, err);
	return code ? code : take_up(s, &c, err);
}

/* A change that was made when no process was here, or just before it was killed, is an event now. */
void keeper_begin(struct session *s)
{
	struct version *list = NULL;
	struct err why = {0};
	int count = 0;

	if (!s->run.config.folder)
		return;
	if (s->run.events)
		tell_champion(s);
	if (version_list(&list, &count, s->run.config.folder, &why))
		warn(s, &why);
	s->keeper.made_when = (int64_t)time(NULL);
	for (int i = 0; i < count; i++)
		if (*list[i].damaged)
			log_write(&s->run.config.log, LOG_WARN, "%s", list[i].damaged);
		else if (!strcmp(list[i].by, BY_RULE))
			s->keeper.made_when = list[i].made;
	mem_free(list);
}

static void look_at_champion(struct session *s)
{
	struct champion c;
	struct err why = {0};
	int code = champion_read(&c, s->run.config.folder, &why);
	const bool said = code && s->keeper.unreadable;

	s->keeper.unreadable = code;
	if (said || (!code && c.change == s->keeper.champion.change))
		return;
	if (!code)
		code = take_up(s, &c, &why);
	if (!code) {
		tell_champion(s);
		code = checkpoint_save(&s->run, &why);
	} else if (!s->keeper.unreadable) {
		s->keeper.champion.change = c.change; /* said once */
	}
	if (code)
		warn(s, &why);
}

int keeper_serve(struct session *s, const char *name, const char *why, struct err *err)
{
	const char *folder = s->run.config.folder;
	const struct champion before = s->keeper.champion;
	struct champion c;
	int code = name && shadows_find(&s->shadows, name) ? shadows_save(s, err) : 0;

	if (!code)
		code = name ? champion_set(&c, folder, name, why, err)
			    : champion_back(&c, folder, err);
	if (!code)
		code = take_up(s, &c, err);
	if (!code && c.change != before.change) {
		tell_champion(s);
		code = checkpoint_save(&s->run, err);
	}
	return code;
}

/* --- making and dropping --- */

static void tell_version(struct session *s, const char *name, const char *by)
{
	struct event_line line;

	event_log_begin(&line, "version", iteration_of(s));
	jwriter_text(&line.json, "name", name);
	jwriter_text(&line.json, "by", by);
	jwriter_whole(&line.json, "samples", samples_of(s));
	event_log_end(s->run.events, &line);
}

int keeper_make(struct session *s, const char *name, struct version *made, struct err *err)
{
	int code = version_make(&s->run, name, BY_HAND, made, err);

	if (code)
		return code;
	tell_version(s, name, BY_HAND);
	return checkpoint_save(&s->run, err);
}

/* The oldest automatic ones beyond versions.keep, but for what serves or served before. */
static int drop_old(struct session *s, struct err *err)
{
	const char *folder = s->run.config.folder;
	struct version *list = NULL;
	int count = 0, automatic = 0, code = version_list(&list, &count, folder, err);

	for (int i = 0; i < count; i++)
		automatic += !strcmp(list[i].by, BY_RULE);
	for (int i = 0; i < count && automatic > s->keeper.keep && !code; i++) {
		if (strcmp(list[i].by, BY_RULE) || champion_uses(&s->keeper.champion, list[i].name))
			continue;
		code = version_drop(folder, list[i].name, err);
		automatic--;
	}
	mem_free(list);
	return code;
}

/* One that is there already was made before a crash, from the same samples. */
static void make_automatic(struct session *s)
{
	char name[VERSION_NAME + 1], *path;
	struct err why = {0};
	int code = 0;

	s->keeper.made_at = samples_of(s);
	s->keeper.made_when = (int64_t)time(NULL);
	snprintf(name, sizeof(name), "at-%" PRId64, s->keeper.made_at);
	path = version_path(s->run.config.folder, name);
	if (path && !path_exists(path))
		code = version_make(&s->run, name, BY_RULE, NULL, &why);
	mem_free(path);
	if (!code)
		tell_version(s, name, BY_RULE);
	if (!code)
		code = drop_old(s, &why);
	if (code)
		warn(s, &why);
}

void keeper_step(struct session *s)
{
	const int64_t every = s->keeper.every.count;

	if (s->shadows.count)
		publish(s);
	if (s->shadows.count && s->run.events &&
		store_count(s->run.store) == store_stored(s->run.store))
		promote(s);
	if (!every || !s->run.config.folder || !learner_classes(s->run.learner))
		return;
	if (samples_of(s) / every > s->keeper.made_at / every)
		make_automatic(s);
}

static void grant(struct session *s, const char *wish, const char *path)
{
	struct err why = {0};

	if (keeper_make(s, wish + sizeof(WISH) - 1, NULL, &why))
		warn(s, &why);
	unlink(path);
}

static void look_at_wishes(struct session *s)
{
	char *all = path_join(s->run.config.folder, "versions");
	DIR *listing = all ? opendir(all) : NULL;
	struct dirent *entry;

	while (listing && (entry = readdir(listing))) {
		char *path = strncmp(entry->d_name, WISH, sizeof(WISH) - 1)
				     ? NULL
				     : path_join(all, entry->d_name);

		/* A version called wish-x is .wish-x.part, a folder, while it is dropped. */
		if (path && !path_is_folder(path))
			grant(s, entry->d_name, path);
		mem_free(path);
	}
	if (listing)
		closedir(listing);
	mem_free(all);
}

void keeper_look(struct session *s)
{
	const double seconds = s->keeper.every.seconds;

	if (!s->run.config.folder || !s->run.events || clock_now() < s->keeper.look_due ||
		store_count(s->run.store) < store_stored(s->run.store))
		return;
	s->keeper.look_due = clock_now() + LOOK;
	look_at_champion(s);
	look_at_wishes(s);
	amend_look(s);
	if (seconds > 0 && (double)(time(NULL) - s->keeper.made_when) >= seconds &&
		learner_classes(s->run.learner) && samples_of(s) > s->keeper.made_at)
		make_automatic(s);
}

/* --- for other processes --- */

bool keeper_at_work(const char *folder)
{
	char *path = path_join(folder, "lock");
	const int lock = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	const bool at_work = lock >= 0 && flock(lock, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;

	if (lock >= 0)
		close(lock);
	mem_free(path);
	return at_work;
}

/* Not by a file of another name that is renamed: that would be a wish as well. */
static int leave_wish(const char *path, struct err *err)
{
	const int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

	if (file < 0)
		return err_set(err, ERR_FILE, "%s: %s", path, strerror(errno));
	close(file);
	return 0;
}

int keeper_ask(
	const char *folder, const char *name, double seconds, struct version *made, struct err *err)
{
	const struct timespec pause = {.tv_nsec = 20000000};
	const double until = clock_now() + seconds;
	char wish[VERSION_NAME + sizeof(WISH)], *all = path_join(folder, "versions"), *path = NULL;
	int code = version_name_check(name, err);

	snprintf(wish, sizeof(wish), "%s%s", WISH, name);
	if (!code && !version_read(made, folder, name, NULL))
		code = err_set(err, ERR_INPUT,
			"%s: there is a version %s, and versions do not change", folder, name);
	path = version_path(folder, wish);
	if (!code && (!all || !path))
		code = err_memory(err, "a path", strlen(folder));
	if (!code)
		code = file_make_folder(all, err);
	if (!code)
		code = leave_wish(path, err);
	while (!code && path_exists(path) && clock_now() < until)
		nanosleep(&pause, NULL);
	if (!code && !unlink(path))
		code = err_set(err, ERR_STATE,
			"%s: another process works in this folder and did not make the version "
			"within %g seconds; ask it through its own interface",
			folder, seconds);
	if (!code && version_read(made, folder, name, NULL))
		code = err_set(err, ERR_STATE,
			"%s: the process that works in this folder could not make the version, and "
			"has said why",
			folder);
	mem_free(path);
	mem_free(all);
	return code;
}
