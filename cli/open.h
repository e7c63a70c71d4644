/* Opens something in the user's browser. */
#ifndef RETAIN_CLI_OPEN_H
#define RETAIN_CLI_OPEN_H

/* Passes a file or address to xdg-open if there is a display; else says so on stderr. */
void open_in_browser(const char *what);

/* The same for a folder's report.html, after all other output. */
void open_report(const char *folder);

#endif
