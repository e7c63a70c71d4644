/* Showing something in the user's browser. */
#ifndef RETAIN_CLI_OPEN_H
#define RETAIN_CLI_OPEN_H

/* Hands a file or address to xdg-open where there is a display; else says so on stderr. */
void open_in_browser(const char *what);

/* The same with a folder's report.html, after all that was printed. */
void open_report(const char *folder);

#endif
