/*
 * `retain verify-resume`: proves on the user's machine that a run which is killed and resumed
 * comes to the same bytes as one that is not. The runs are processes of this same program.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/os.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/jobs.h"
#include "cli/progress.h"
#include "log/same.h"

enum { PATH_MOST = 4096, WORDS_MOST = 2 * ARGS_LIST + 16, WAITING_RUNS = 3 };

struct verify {
	const char *config, *method, *seed;
	struct arg_list settings;
	int kills;
	bool keep;
	char folder[PATH_MOST], straight[PATH_MOST + 16], broken[PATH_MOST + 16];
	double seconds;   /* the straight run took */
	int killed;       /* times so far */
	int resumed;      /* ... with a checkpoint to go on from */
	int runs;         /* that were killed and came to an end */
	char reason[512]; /* why two runs are not the same */
	int status;       /* of a run that ended by itself, as waitpid has it */
};

extern char **environ;

/* Starts `retain run`; its words go nowhere, its errors to ours. */
static int start(char *const words[], pid_t *child)
{
	posix_spawn_file_actions_t actions;
	int code = posix_spawn_file_actions_init(&actions);

	/* Nobody could send a live stream twice: it finds an input that cannot be read. */
	if (!code)
		code = posix_spawn_file_actions_addopen(
			&actions, STDIN_FILENO, "/dev/null", O_WRONLY, 0);
	if (!code)
		code = posix_spawn_file_actions_addopen(
			&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	if (!code)
		code = posix_spawn(child, os_program(), &actions, NULL, words, environ);
	posix_spawn_file_actions_destroy(&actions);
	return code ? complain(EXIT_FAILED, "a run cannot be started: %s", strerror(code))
		    : EXIT_OK;
}

static int start_new(const struct verify *verify, const char *folder, pid_t *child)
{
	const char *words[WORDS_MOST] = {"retain", "run", "--quiet", "--force", "--out", folder};
	char every[64];
	int count = 6;

	if (verify->config)
		words[count++] = verify->config;
	if (verify->method) {
		words[count++] = "--method";
		words[count++] = verify->method;
	}
	if (verify->seed) {
		words[count++] = "--seed";
		words[count++] = verify->seed;
	}
	for (int i = 0; i < verify->settings.count; i++) {
		words[count++] = "--set";
		words[count++] = verify->settings.items[i];
	}
	/* Often enough that every part between two kills makes some. */
	if (verify->seconds > 0) {
		snprintf(every, sizeof(every), "run.checkpoint_every=%.3fs",
			verify->seconds / (8 * (verify->kills + 1)));
		words[count++] = "--set";
		words[count++] = every;
	}
	return start((char *const *)words, child);
}

/* A run that was killed before it wrote its config never began, as its user would see, too. */
static int start_again(const struct verify *verify, pid_t *child)
{
	const char *words[] = {"retain", "run", "--quiet", "--resume", verify->broken, NULL};
	char config[sizeof(verify->broken) + 16];

	snprintf(config, sizeof(config), "%s/config.ini", verify->broken);
	if (access(config, F_OK))
		return start_new(verify, verify->broken, child);
	return start((char *const *)words, child);
}

static int judge(int status)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_OK)
		return EXIT_OK;
	if (WIFEXITED(status))
		return complain(EXIT_FAILED, "a run ended with exit code %d", WEXITSTATUS(status));
	return complain(EXIT_FAILED, "a run was ended by signal %d", WTERMSIG(status));
}

/* Waits for the end of a run that nobody kills. */
static int finish(pid_t child)
{
	int status = 0;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return judge(status);
}

static int run_straight(struct verify *verify)
{
	const double begin = clock_now();
	pid_t child;
	int code = start_new(verify, verify->straight, &child);

	if (!code)
		code = finish(child);
	verify->seconds = clock_now() - begin;
	return code;
}

static bool has_checkpoint(const struct verify *verify)
{
	char path[sizeof(verify->broken) + 16];
	struct dirent *entry;
	bool found = false;
	DIR *folder;

	snprintf(path, sizeof(path), "%s/checkpoint", verify->broken);
	folder = opendir(path);
	while (folder && !found && (entry = readdir(folder)))
		found = strstr(entry->d_name, ".state") != NULL;
	if (folder)
		closedir(folder);
	return found;
}

/* Until there is a checkpoint; true if the run ended by itself before. */
static bool await_checkpoint(struct verify *verify, pid_t child)
{
	while (!has_checkpoint(verify)) {
		if (waitpid(child, &verify->status, WNOHANG) == child)
			return true;
		jobs_pause(1e-3);
	}
	return false;
}

/*
 * Kills the run at a random moment; true if it had ended by itself before. The
 * pauses of all kills together are shorter than the straight run was. If no kill had
 * a checkpoint to go on from, the last one waits for one, or nothing would be proved;
 * but not for ever, where runs are too short to make any.
 */
static bool kill_sometime(struct verify *verify, pid_t child)
{
	const double share = (double)rand() / RAND_MAX;
	const bool last = verify->killed == verify->kills - 1;

	jobs_pause(share * verify->seconds / (verify->kills + 1));
	if (last && !verify->resumed && verify->runs < WAITING_RUNS &&
		await_checkpoint(verify, child))
		return true;
	kill(child, SIGKILL);
	waitpid(child, &verify->status, 0);
	if (!WIFSIGNALED(verify->status) || WTERMSIG(verify->status) != SIGKILL)
		return true;
	verify->killed++;
	verify->resumed += has_checkpoint(verify);
	return false;
}

/* Kills a run until it ends, or until it was killed often enough and is left to end. */
static int run_broken(struct verify *verify, struct progress *line)
{
	bool ended = false;
	pid_t child;
	int code;

	/* Its checkpoints are not to be taken for those of a run before it. */
	file_remove_tree(verify->broken);
	code = start_new(verify, verify->broken, &child);

	while (!code && !ended && verify->killed < verify->kills) {
		ended = kill_sometime(verify, child);
		progress_update(line, (uint64_t)verify->killed);
		if (!ended)
			code = start_again(verify, &child);
	}
	if (code)
		return code;
	return ended ? judge(verify->status) : finish(child);
}

static bool compare(struct verify *verify)
{
	verify->runs++;
	return same_run(verify->straight, verify->broken, verify->reason, sizeof(verify->reason));
}

/* A machine that became faster may end a run before all its kills: then there is another one. */
static int run_until_killed(struct verify *verify)
{
	struct progress line;
	bool same = true;
	int code = EXIT_OK;

	progress_begin(&line, stderr, "kills", (uint64_t)verify->kills);
	while (!code && same && (verify->killed < verify->kills || !verify->runs)) {
		code = run_broken(verify, &line);
		if (!code)
			same = compare(verify);
	}
	progress_end(&line);
	if (code)
		return code;
	print_fitting(0, 2,
		"%s: %d kills, %d with a checkpoint to go on from, in %s of %.1f s; "
		"model.safetensors, events.jsonl, matrix.csv and "
		"metrics.csv (but its seconds) %s",
		same ? "Exact" : "NOT EXACT", verify->killed, verify->resumed,
		verify->runs > 1 ? "runs" : "a run", verify->seconds,
		same ? "are the same as without them." : "differ:");
	if (!same)
		printf("  %s\n  Both runs are kept in %s\n", verify->reason, verify->folder);
	return same ? EXIT_OK : EXIT_FAILED;
}

static int make_folder(struct verify *verify)
{
	const char *temp = getenv("TMPDIR");

	snprintf(verify->folder, sizeof(verify->folder), "%s/retain-verify-XXXXXX",
		temp && *temp ? temp : "/tmp");
	if (!mkdtemp(verify->folder))
		return complain(EXIT_FAILED, "%s: %s", verify->folder, strerror(errno));
	snprintf(verify->straight, sizeof(verify->straight), "%s/straight", verify->folder);
	snprintf(verify->broken, sizeof(verify->broken), "%s/broken", verify->folder);
	return EXIT_OK;
}

int cmd_verify_resume(int argc, char **argv)
{
	struct verify verify = {.kills = 5};
	const struct arg rows[] = {
		{"set", "KEY=VALUE", "set one key; may be repeated", .list = &verify.settings},
		{"method", "NAME", "a bundle of keys; see retain methods", .text = &verify.method},
		{"seed", "N", "everything random follows from it", .text = &verify.seed},
		{"kills", "N", "how often to kill it", .integer = &verify.kills, .least = 1,
			.most = 100000},
		{"keep", NULL, "keep both runs' folders", .flag = &verify.keep},
		{0},
	};
	const struct args args = {"retain verify-resume", "[CONFIG]",
		"Runs CONFIG, runs it again with kills at random moments, and compares the "
		"results.",
		rows, .example = "retain verify-resume my.ini"};
	int code = args_read(&args, &argc, argv);

	if (code != ARGS_GO_ON)
		return code;
	if (argc > 2)
		return complain(EXIT_USAGE, "%s: one CONFIG is enough", argv[2]);
	verify.config = argv[1];
	srand((unsigned)time(NULL));
	code = make_folder(&verify);
	if (!code)
		code = run_straight(&verify);
	if (!code)
		code = run_until_killed(&verify);
	if (code == EXIT_OK && !verify.keep)
		file_remove_tree(verify.folder);
	else if (*verify.folder)
		printf("Kept: %s\n", verify.folder);
	return code;
}
