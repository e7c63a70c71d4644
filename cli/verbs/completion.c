/*
 * `retain completion`: scripts for shells. They contain no lists: they ask retain what may come
 * next (--list-options, completion keys), which has it from the rows of options, methods and
 * verbs.
 */
#include <stdio.h>
#include <string.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "config/app_config.h"

static const struct {
	const char *shell, *script;
} scripts[] = {
	{"bash", "# bash completion for retain; source it, or put it where bash-completion looks\n"
		 "_retain()\n"
		 "{\n"
		 "	local word words=() current=${COMP_WORDS[COMP_CWORD]} "
		 "retain=${COMP_WORDS[0]}\n"
		 "	local before=${COMP_WORDS[COMP_CWORD-1]} found prefix=\n"
		 "\n"
		 "	for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
		 "		[[ $word == -* ]] || words+=(\"$word\")\n"
		 "	done\n"
		 "	case $before in\n"
		 "	--method | --methods)\n"
		 "		prefix=${current%\"${current##*,}\"}\n"
		 "		found=$(\"$retain\" completion methods 2>/dev/null) ;;\n"
		 "	--set)\n"
		 "		compopt -o nospace 2>/dev/null\n"
		 "		found=$(\"$retain\" completion keys 2>/dev/null) ;;\n"
		 "	*)\n"
		 "		found=$(\"$retain\" \"${words[@]}\" --list-options 2>/dev/null "
		 "</dev/null)\n"
		 "		[[ $current == -* ]] || found=$(grep -v '^-' <<<\"$found\")\n"
		 "		[[ ${words[*]} != config || $current == -* ]] ||\n"
		 "			found=$(\"$retain\" completion sections 2>/dev/null) ;;\n"
		 "	esac\n"
		 "	mapfile -t COMPREPLY < <(compgen -P \"$prefix\" -W \"$found\" -- "
		 "\"${current#\"$prefix\"}\")\n"
		 "}\n"
		 "complete -o default -F _retain retain\n"},
	{"zsh", "#compdef retain\n"
		"# zsh completion for retain; put it as _retain into a folder of fpath\n"
		"local -a before found\n"
		"before=(${${words[2,CURRENT-1]}:#-*})\n"
		"case ${words[CURRENT-1]} in\n"
		"--method | --methods)\n"
		"	found=(${(f)\"$(${words[1]} completion methods 2>/dev/null)\"})\n"
		"	compset -P '*,'\n"
		"	compadd -- $found\n"
		"	return ;;\n"
		"--set)\n"
		"	found=(${(f)\"$(${words[1]} completion keys 2>/dev/null)\"})\n"
		"	compadd -S '' -- $found\n"
		"	return ;;\n"
		"esac\n"
		"found=(${(f)\"$(${words[1]} $before --list-options 2>/dev/null </dev/null)\"})\n"
		"if [[ $PREFIX != -* ]]; then\n"
		"	found=(${found:#-*})\n"
		"	[[ \"$before\" != config ]] ||\n"
		"		found=(${(f)\"$(${words[1]} completion sections 2>/dev/null)\"})\n"
		"fi\n"
		"if (( ${#found} )); then\n"
		"	compadd -- $found\n"
		"else\n"
		"	_files\n"
		"fi\n"},
	{0},
};

/* A name, and the name with every suffix that may follow it, and so on. */
static void list_from(const struct bundle *base, const char *name, const struct bundle *suffix)
{
	char longer[128];
	const char *why;

	puts(name);
	for (; suffix->name; suffix++)
		if (bundle_goes(base, suffix, &why)) {
			snprintf(longer, sizeof(longer), "%s%s", name, suffix->name);
			list_from(base, longer, suffix + 1);
		}
}

static int list_methods(const struct options *options)
{
	(void)options;
	for (const struct bundle *method = methods; method->name; method++)
		list_from(method, method->name, method_suffixes);
	return EXIT_OK;
}

static int list_keys(const struct options *options)
{
	const struct option_row *row;

	for (size_t i = 0; (row = options_at(options, i)); i++)
		printf("%s.%s=\n", row->section, row->name);
	return EXIT_OK;
}

static int list_sections(const struct options *options)
{
	const struct option_row *row, *same;

	for (size_t i = 0; (row = options_at(options, i)); i++) {
		size_t first = 0;

		while ((same = options_at(options, first)) && strcmp(same->section, row->section))
			first++;
		if (first == i)
			puts(row->section);
	}
	return EXIT_OK;
}

/* What scripts ask for. */
static const struct {
	const char *name;
	int (*list)(const struct options *options);
} lists[] = {
	{"methods", list_methods},
	{"keys", list_keys},
	{"sections", list_sections},
	{0},
};

static int list_of(const char *name, bool *known)
{
	struct options *options = NULL;
	struct err err = {0};
	int i = 0, status;

	while (lists[i].name && strcmp(lists[i].name, name))
		i++;
	*known = lists[i].name;
	if (!*known)
		return EXIT_USAGE;
	if (config_defaults(&options, &app_scope, &err))
		return complain(EXIT_FAILED, "%s", err.message);
	status = lists[i].list(options);
	options_free(options);
	return status;
}

int cmd_completion(int argc, char **argv)
{
	const struct arg rows[] = {{0}};
	const struct args args = {"retain completion", "bash | zsh",
		"Prints a script that completes verbs, options, methods and keys in a shell. make "
		"install\n"
		"puts it where the shell looks.",
		rows, .example = "source <(retain completion bash)"};
	const int status = args_read(&args, &argc, argv);

	if (status != ARGS_GO_ON)
		return status;
	for (int i = 0; scripts[i].shell; i++)
		if (argc == 2 && !strcmp(argv[1], scripts[i].shell)) {
			fputs(scripts[i].script, stdout);
			return EXIT_OK;
		}
	bool known = false;
	const int listed = argc == 2 ? list_of(argv[1], &known) : EXIT_USAGE;

	return known ? listed : complain(EXIT_USAGE, "completion: for which shell? bash or zsh");
}
