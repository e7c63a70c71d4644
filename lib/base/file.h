/*
 * Whole files in, whole files out. A file is written under another name beside
 * its target, synced, and renamed over it. So there is always either the old file
 * or the new one, never a part. After a failure the old file is untouched and the
 * other name is gone. Messages carry the path and the system's reason.
 */
#ifndef RETAIN_BASE_FILE_H
#define RETAIN_BASE_FILE_H

#include <stddef.h>

#include "base/err.h"

/*
 * Reads all of path, at most `most` bytes: a larger file is an error
 * (ERR_FORMAT). *data is for mem_free and has a NUL byte after its *size bytes.
 */
int file_read(const char *path, size_t most, char **data, size_t *size, struct err *err);

/* Makes path hold exactly these bytes, or leaves it as it was. */
int file_write(const char *path, const void *data, size_t size, struct err *err);

/*
 * The same piece by piece, for what is too large to hold in memory. Opening
 * refuses what is bound to fail later: a missing folder, a target that is a
 * folder or a device, or one that the user made read-only. Nothing appears under
 * the path before the commit. A new file gets the usual permissions, a replaced
 * one keeps those it had. A symbolic link is replaced, not followed.
 */
struct file_writer;

int file_writer_open(struct file_writer **writer, const char *path, struct err *err);

/* A failure is remembered: later writes and the commit then fail with the same error. */
int file_writer_write(struct file_writer *writer, const void *data, size_t size, struct err *err);

/* Writes over the first `size` bytes, which have been written: for headers that are known last. */
int file_writer_begin(struct file_writer *writer, const void *data, size_t size, struct err *err);

/* Both end the writer, whether they succeed or not; abort accepts NULL. */
int file_writer_commit(struct file_writer *writer, struct err *err);
void file_writer_abort(struct file_writer *writer);

/* Makes a folder, and those above it, unless it is there already. New ones outlive a power cut. */
int file_make_folder(const char *path, struct err *err);

/*
 * Removes what writers left in a folder when their process was killed: NAME.tmp-PROCESS-NUMBER.
 * Only for the one who owns the folder, before it writes there: files of our own process's number
 * are counted as those of an earlier one.
 */
void file_sweep(const char *folder);

/* Removes a folder with all that is in it, as far as that can be done. Links are not followed. */
void file_remove_tree(const char *path);

#endif
