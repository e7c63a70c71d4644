/* The report's page over folders of runs, as a service shows it. */
#ifndef RETAIN_CLI_PAGE_H
#define RETAIN_CLI_PAGE_H

#include "serve/serve.h"

struct page {
	const char *const *paths; /* as run_set_open takes them */
	int count;
};

/* The page is borrowed. */
struct serve_page page_serve(const struct page *page);

/* Runs that cannot be read are an error. */
int page_check(const struct page *page, struct err *err);

#endif
