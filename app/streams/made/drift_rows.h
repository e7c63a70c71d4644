/*
 * The keys that all streams of drift's kind have, each in a section of its own:
 * how long the stream is, how classes come, go and wander, and what albums are.
 * Arguments are the section, the defaults that differ, and the flags of keys that only drift has:
 * elsewhere they are constants, too.
 */
#ifndef RETAIN_STREAMS_MADE_DRIFT_ROWS_H
#define RETAIN_STREAMS_MADE_DRIFT_ROWS_H

#define DRIFT_ROWS(in, steps_, evals_, classes_, class_sd_, mode_sd_, label_noise_, own)           \
	{in, "steps", OPTION_INT, steps_, "[1, 1000000000]", "time steps of the stream"},          \
		{in, "per_step", OPTION_INT, "32", "[1, 1000000]", "samples of a time step"},      \
		{in, "eval_per_step", OPTION_INT, evals_, "[0, 1000000]",                          \
			"evaluation samples of a time step"},                                      \
		{in, "seed", OPTION_INT64, "0", "[0, inf)",                                        \
			"what the stream is made from; 0: stream.seed", OPTION_RETIRED},           \
		{in, "stationary", OPTION_BOOL, "false", NULL,                                     \
			"let time stand still at half the stream, with all classes there", own},   \
		{in, "classes", OPTION_INT, classes_, "[1, 100000]", "classes"},                   \
		{in, "modes", OPTION_INT, "3", "[1, 1000]", "modes of a class", OPTION_RETIRED},   \
		{in, "class_sd", OPTION_FLOAT, class_sd_, "[0, 1000]",                             \
			"spread of the classes, the same for all modes of one", OPTION_RETIRED},   \
		{in, "mode_sd", OPTION_FLOAT, mode_sd_, "[0, 1000]", "spread of a class's modes",  \
			OPTION_RETIRED},                                                           \
		{in, "walk", OPTION_FLOAT, "1", "[0, 1000]",                                       \
			"how far a mode's mean wanders, as a standard deviation; all else that "   \
			"wanders scales with it",                                                  \
			own},                                                                      \
		{in, "walkers", OPTION_CHOICE, "mode", "class | mode",                             \
			"whether the modes of a class wander together or each on its own",         \
			OPTION_RETIRED},                                                           \
		{in, "global_walk", OPTION_FLOAT, "0.4", "[0, 1000]",                              \
			"how far everything has wandered together at the end, times walk",         \
			OPTION_RETIRED},                                                           \
		{in, "knots", OPTION_INT, "128", "[2, 100000]", "points of a random walk",         \
			OPTION_RETIRED},                                                           \
		{in, "season_plus", OPTION_FLOAT, "0.7", "[0, 1]",                                 \
			"probability of a class to have its season with the sign +",               \
			OPTION_RETIRED},                                                           \
		{in, "seasons", OPTION_FLOAT, "8", "[0, 1000000]",                                 \
			"turns of the year in the stream", OPTION_RETIRED},                        \
		{in, "prior_sd", OPTION_FLOAT, "0.8", "[0, 100]",                                  \
			"how much the classes' log frequencies differ", OPTION_RETIRED},           \
		{in, "prior_walk", OPTION_FLOAT, "1", "[0, 100]",                                  \
			"how far a log frequency has wandered at the end, times walk",             \
			OPTION_RETIRED},                                                           \
		{in, "prior_season", OPTION_FLOAT, "0.7", "[0, 100]",                              \
			"how much the seasons change the log frequencies", OPTION_RETIRED},        \
		{in, "refreshes", OPTION_INT, "1000", "[1, 1000000]",                              \
			"how many times the frequencies change", OPTION_RETIRED},                  \
		{in, "present", OPTION_FLOAT, "0.3", "[0, 1]",                                     \
			"share of the classes that exist at the start, at least one class", own},  \
		{in, "first_birth", OPTION_FLOAT, "0", "[0, 1]",                                   \
			"share of the stream before the first of the others is born", own},        \
		{in, "last_birth", OPTION_FLOAT, "0.97", "[0, 1]",                                 \
			"share of the stream within which they are; first_birth: all at once",     \
			own},                                                                      \
		{in, "birth_ramp", OPTION_FLOAT, "0.01", "(0, 1]",                                 \
			"share of the stream until a class has its full weight, less what it "     \
			"begins with",                                                             \
			OPTION_RETIRED},                                                           \
		{in, "birth_weight", OPTION_FLOAT, "0.05", "[0, 1]",                               \
			"what weight a class is born with", OPTION_RETIRED},                       \
		{in, "tasks", OPTION_INT, "0", "[0, 100000]",                                      \
			"tasks in the stream, each with classes of its own; 0: none"},             \
		{in, "slots", OPTION_INT, "8", "[1, 1024]", "albums that are open at a time",      \
			OPTION_RETIRED},                                                           \
		{in, "renew", OPTION_FLOAT, "0.125", "[0.001, 1]",                                 \
			"probability of a sample to begin a new album", OPTION_RETIRED},           \
	{                                                                                          \
		in, "label_noise", OPTION_FLOAT, label_noise_, "[0, 1]",                           \
			"share of labels that are drawn anew from the classes' frequencies",       \
			OPTION_RETIRED                                                             \
	}

#endif
