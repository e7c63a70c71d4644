/* One page on several runs. */
#include "run/compare.h"

#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "run/report.h"
#include "run/run.h"

int compare_report(const char *folder, struct run *const *runs, int count, struct err *err)
{
	struct report_run *reports = mem_new((size_t)count, sizeof(*reports));
	struct text path = {0};
	int code;

	text_addf(&path, "%s/report.html", folder);
	code = !reports || path.failed ? err_memory(err, "a report", strlen(folder)) :
					 file_make_folder(folder, err);
	for (int i = 0; i < count && !code; i++)
		code = run_report(runs[i], &reports[i], err);
	if (!code)
		code = report_write(path.data, reports, count, err);
	text_release(&path);
	mem_free(reports);
	return code;
}
