/* The report page over folders of runs, as shown by a service. */
#include "page.h"

#include "log/run_set.h"
#include "report/report.h"

static int fill(const struct page *page, struct text *out,
	void (*write)(struct text *out, const struct run_set *set, bool live), struct err *err)
{
	struct run_set *set;
	int code = run_set_open(&set, page->paths, page->count, err);

	if (!code)
		code = run_set_alike(set, err);
	if (!code)
		write(out, set, true);
	run_set_close(set);
	return code;
}

static int make_page(void *context, struct text *out, struct err *err)
{
	return fill(context, out, report_page, err);
}

static int make_data(void *context, struct text *out, struct err *err)
{
	return fill(context, out, report_data, err);
}

struct serve_page page_serve(const struct page *page)
{
	return (struct serve_page){make_page, make_data, (void *)page};
}

int page_check(const struct page *page, struct err *err)
{
	struct run_set *set;
	int code = run_set_open(&set, page->paths, page->count, err);

	if (!code)
		code = run_set_alike(set, err);
	run_set_close(set);
	return code;
}
