/*
 * The file is TFRecords of protocol buffers, both written by hand, since there is little
 * to write:
 *
 *	record   length (8 bytes), masked CRC-32C of these, data, masked CRC-32C of the data
 *	Event    1: wall_time (double), 2: step (varint), 3: file_version (text),
 *	         5: summary (message), 7: session_log (message)
 *	Summary  1: value (message), repeated
 *	Value    1: tag (text), 2: simple_value (float)
 */
#include "session/log/tensorboard.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

enum { VARINT, FIXED64, BYTES, FIXED32 = 5 }; /* wire types */
enum { PATH_MOST = 4096, MESSAGE_MOST = 8192, TAG_MOST = 64 };

struct tensorboard {
	int file;
	uint32_t table[256]; /* of CRC-32C */
	char path[PATH_MOST];
};

struct message {
	unsigned char data[MESSAGE_MOST];
	size_t size;
};

static void put(struct message *m, const void *data, size_t size)
{
	assert(m->size + size <= sizeof(m->data));
	memcpy(m->data + m->size, data, size);
	m->size += size;
}

static void put_varint(struct message *m, uint64_t value)
{
	unsigned char byte;

	do {
		byte = (unsigned char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
		put(m, &byte, 1);
		value >>= 7;
	} while (value);
}

/* Numbers of all processors that retain runs on have their low byte first. */
static void put_field(struct message *m, int field, int wire, const void *data, size_t size)
{
	put_varint(m, (uint64_t)(field << 3 | wire));
	if (wire == BYTES)
		put_varint(m, size);
	put(m, data, size);
}

static void put_whole(struct message *m, int field, int64_t value)
{
	put_varint(m, (uint64_t)(field << 3 | VARINT));
	put_varint(m, (uint64_t)value);
}

static void fill_table(uint32_t table[256])
{
	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0x82f63b78u : 0);
	}
}

static uint32_t masked_crc(const uint32_t table[256], const void *data, size_t size)
{
	const unsigned char *bytes = data;
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < size; i++)
		crc = table[(crc ^ bytes[i]) & 0xff] ^ crc >> 8;
	crc = ~crc;
	return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

static void begin_event(struct message *event, int64_t step)
{
	struct timespec now;
	double seconds;

	clock_gettime(CLOCK_REALTIME, &now);
	seconds = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
	event->size = 0;
	put_field(event, 1, FIXED64, &seconds, sizeof(seconds));
	put_whole(event, 2, step);
}

/* By one system call, so that a reader sees all of it. */
static int write_event(struct tensorboard *board, const struct message *event, struct err *err)
{
	struct message record = {.size = 0};
	const uint64_t length = event->size;
	uint32_t crc = masked_crc(board->table, &length, sizeof(length));

	put(&record, &length, sizeof(length));
	put(&record, &crc, sizeof(crc));
	put(&record, event->data, event->size);
	crc = masked_crc(board->table, event->data, event->size);
	put(&record, &crc, sizeof(crc));
	if (write(board->file, record.data, record.size) == (ssize_t)record.size)
		return 0;
	return err_set(err, ERR_FILE, "%s: %s", board->path, strerror(errno));
}

static int write_beginning(struct tensorboard *board, int64_t step, struct err *err)
{
	static const char version[] = "brain.Event:2";
	struct message event, log = {.size = 0};
	int code;

	begin_event(&event, 0);
	put_field(&event, 3, BYTES, version, strlen(version));
	code = write_event(board, &event, err);
	if (code)
		return code;
	begin_event(&event, step);
	put_whole(&log, 1, 1); /* START */
	put_field(&event, 7, BYTES, log.data, log.size);
	return write_event(board, &event, err);
}

int tensorboard_open(struct tensorboard **board, const char *folder, const struct metrics_row *row,
	struct err *err)
{
	struct tensorboard *made = mem_new(1, sizeof(*made));
	int code = made ? file_make_folder(folder, err)
			: err_memory(err, "an event file", sizeof(*made));

	*board = NULL;
	if (code) {
		mem_free(made);
		return code;
	}
	fill_table(made->table);
	made->file = -1;
	for (int n = 0; made->file < 0 && n < 100; n++) {
		snprintf(made->path, sizeof(made->path),
			"%s/events.out.tfevents.%lld.retain.%ld.%d", folder, (long long)time(NULL),
			(long)getpid(), n);
		made->file =
			open(made->path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
		if (made->file < 0 && errno != EEXIST)
			break;
	}
	code = made->file < 0 ? err_set(err, ERR_FILE, "%s: %s", made->path, strerror(errno))
			      : write_beginning(made, row->step, err);
	if (code)
		tensorboard_close(made);
	else
		*board = made;
	return code;
}

void tensorboard_close(struct tensorboard *board)
{
	if (board && board->file >= 0)
		close(board->file);
	mem_free(board);
}

int tensorboard_add(struct tensorboard *board, const struct metrics_row *row, struct err *err)
{
	struct message event, summary = {.size = 0};

	for (const struct metrics_column *column = metrics_columns; column->name; column++) {
		const float number = (float)metrics_value(row, column);
		struct message value = {.size = 0};
		char tag[TAG_MOST];

		if (column->offset == offsetof(struct metrics_row, step) || !isfinite(number))
			continue;
		snprintf(tag, sizeof(tag), "retain/%s", column->name);
		put_field(&value, 1, BYTES, tag, strlen(tag));
		put_field(&value, 2, FIXED32, &number, sizeof(number));
		put_field(&summary, 1, BYTES, value.data, value.size);
	}
	begin_event(&event, row->step);
	put_field(&event, 5, BYTES, summary.data, summary.size);
	return write_event(board, &event, err);
}
