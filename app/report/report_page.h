/*
 * The page of a report, made at build time from web/ and dygraphs by
 * tools/embed-page: the bytes before and after the data.
 */
#ifndef RETAIN_REPORT_REPORT_PAGE_H
#define RETAIN_REPORT_REPORT_PAGE_H

#include <stddef.h>

extern const unsigned char report_page_before[], report_page_after[];
extern const size_t report_page_before_size, report_page_after_size;

#endif
