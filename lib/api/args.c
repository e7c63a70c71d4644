/* Argument checks of public functions. */
#include "api/args.h"

int args_check(const char *function, const struct arg *args, struct err *err)
{
	for (; args->name; args++)
		if (!args->value)
			return err_set(err, ERR_INPUT, "%s: %s is NULL", function, args->name);
	return 0;
}
