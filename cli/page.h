/* The report page over folders of runs, as shown by a service. */
#ifndef RETAIN_CLI_PAGE_H
#define RETAIN_CLI_PAGE_H

#include "serve/serve.h"

struct page {
	const char *const *paths; /* as for run_set_open */
	int count;
};

/* The page is borrowed. */
struct serve_page page_serve(const struct page *page);

/* Unreadable runs are an error. */
int page_check(const struct page *page, struct err *err);

#endif
