/*
 * Atomic reads and writes of whole files. A file is written under a temporary name beside its
 * target, synced, and renamed over it. So there is always either the old file or the new one,
 * never a part. A failure leaves the old file untouched and removes the temporary one. Messages
 * name the path and the system's reason.
 */
#ifndef RETAIN_BASE_FILE_H
#define RETAIN_BASE_FILE_H

#include <stddef.h>

#include "base/err.h"

/*
 * Reads all of path, at most `most` bytes: a larger file is an error (ERR_FORMAT). Free *data
 * with mem_free; a NUL byte follows its *size bytes.
 */
int file_read(const char *path, size_t most, char **data, size_t *size, struct err *err);

/* Replaces path with exactly these bytes, or leaves it unchanged. */
int file_write(const char *path, const void *data, size_t size, struct err *err);

/*
 * The same piece by piece, for data too large for memory. Opening rejects what is bound to fail
 * later: a missing folder, a target that is a folder or a device, or one that the user made
 * read-only. Nothing appears under the path before the commit. A new file gets default
 * permissions, a replaced one keeps its own. A symbolic link is replaced, not followed.
 */
struct file_writer;

int file_writer_open(struct file_writer **writer, const char *path, struct err *err);

/* A failure is sticky: later writes and the commit fail with the same error. */
int file_writer_write(struct file_writer *writer, const void *data, size_t size, struct err *err);

/* Overwrites the first `size` bytes, already written: for headers that are known last. */
int file_writer_begin(struct file_writer *writer, const void *data, size_t size, struct err *err);

/* Both free the writer, even on failure; abort accepts NULL. */
int file_writer_commit(struct file_writer *writer, struct err *err);
void file_writer_abort(struct file_writer *writer);

/* Creates a folder and its parents if missing. New ones survive a power cut. */
int file_make_folder(const char *path, struct err *err);

/*
 * Removes temporary files that killed processes left in a folder: NAME.tmp-PROCESS-NUMBER. Only
 * for the folder's owner, before it writes there: files with our own process number count as
 * those of an earlier process.
 */
void file_sweep(const char *folder);

/* Removes a folder and its contents, as far as possible. Links are not followed. */
void file_remove_tree(const char *path);

#endif
