/* What retain explain found out about a run (inspect/explain.h writes it), for its page. */
#ifndef RETAIN_REPORT_EXPLAINED_H
#define RETAIN_REPORT_EXPLAINED_H

#include "base/json_write.h"

/* Adds FOLDER/explain.json as `explained`; nothing if there is none that makes sense. */
void explained_add(struct jwriter *out, const char *folder);

#endif
