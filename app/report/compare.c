/* One page on several runs, read back from their folders. */
#include "report/compare.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "report/report.h"
#include "run/run_impl.h"

int compare_report(const char *folder, struct run *const *runs, int count, struct err *err)
{
	const char **folders = mem_new((size_t)count, sizeof(*folders));
	struct text path = {0};
	int code;

	text_addf(&path, "%s/report.html", folder);
	code = !folders || path.failed ? err_memory(err, "a report", path.capacity)
				       : file_make_folder(folder, err);
	for (int i = 0; i < count && !code; i++)
		folders[i] = runs[i]->config.folder;
	if (!code)
		code = report_folders(path.data, folders, count, err);
	text_release(&path);
	mem_free(folders);
	return code;
}
