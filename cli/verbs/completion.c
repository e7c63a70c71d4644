/*
 * `retain completion`: scripts for shells. They know nothing themselves: what may come next
 * is asked of retain (--list-options), which has it from the rows of options and verbs.
 */
#include <stdio.h>
#include <string.h>

#include "cli/args.h"
#include "cli/cli.h"

static const struct {
	const char *shell, *script;
} scripts[] = {
	{"bash", "# bash completion for retain; source it, or put it where bash-completion looks\n"
		 "_retain()\n"
		 "{\n"
		 "	local word words=() current=${COMP_WORDS[COMP_CWORD]}\n"
		 "\n"
		 "	for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
		 "		[[ $word == -* ]] || words+=(\"$word\")\n"
		 "	done\n"
		 "	mapfile -t COMPREPLY < <(compgen -W \"$(\n"
		 "		\"${COMP_WORDS[0]}\" \"${words[@]}\" --list-options 2>/dev/null "
		 "</dev/null\n"
		 "	)\" -- \"$current\")\n"
		 "	[[ $current == -* || ${#words[@]} == 0 ]] || COMPREPLY=()\n"
		 "}\n"
		 "complete -o default -F _retain retain\n"},
	{"zsh", "#compdef retain\n"
		"# zsh completion for retain; put it as _retain into a folder of fpath\n"
		"local -a before found\n"
		"before=(${${words[2,CURRENT-1]}:#-*})\n"
		"found=(${(f)\"$(${words[1]} $before --list-options 2>/dev/null </dev/null)\"})\n"
		"if [[ $PREFIX == -* || ${#before} == 0 ]]; then\n"
		"	compadd -- $found\n"
		"else\n"
		"	_files\n"
		"fi\n"},
	{0},
};

int cmd_completion(int argc, char **argv)
{
	const struct arg rows[] = {{0}};
	const struct args args = {"retain completion", "bash | zsh",
		"Prints a script that completes verbs and options in a shell. make install puts "
		"it\n"
		"where the shell looks.",
		rows, .example = "source <(retain completion bash)"};
	const int status = args_read(&args, &argc, argv);

	if (status != ARGS_GO_ON)
		return status;
	for (int i = 0; scripts[i].shell; i++)
		if (argc == 2 && !strcmp(argv[1], scripts[i].shell)) {
			fputs(scripts[i].script, stdout);
			return EXIT_OK;
		}
	return complain(EXIT_USAGE, "completion: for which shell? bash or zsh");
}
