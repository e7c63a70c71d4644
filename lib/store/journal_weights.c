/* Weights of samples, in a table of their own: most journals have none. */
#include "store/journal_impl.h"

void journal_weigh(struct journal *journal, const float *weights, int n)
{
	journal->weights = weights;
	journal->weights_count = n;
}

int journal_put_weights(struct journal *j, int n)
{
	int status = 0;

	for (int i = 0; i < n && i < j->weights_count && !status; i++) {
		const int64_t id = j->header.added + i;
		void *record;

		if (j->weights[i] == 1)
			continue;
		status = lmdb_put(j->lmdb, WEIGHTS, id_key(&id), sizeof(*j->weights), &record);
		if (!status)
			memcpy(record, &j->weights[i], sizeof(*j->weights));
	}
	return status;
}

int journal_copy_weight(struct journal *j, int64_t from, int64_t to)
{
	const void *found;
	float weight;
	void *record;
	size_t size;
	int status = lmdb_peek(j->lmdb, WEIGHTS, id_key(&from), &found, &size);

	if (status)
		return status;
	if (!found || size != sizeof(weight))
		return lmdb_remove(j->lmdb, WEIGHTS, id_key(&to));
	memcpy(&weight, found, sizeof(weight));
	status = lmdb_put(j->lmdb, WEIGHTS, id_key(&to), sizeof(weight), &record);
	if (!status)
		memcpy(record, &weight, sizeof(weight));
	return status;
}

int journal_weights(struct journal *j, int64_t first, int n, float *weights, struct err *err)
{
	int code = lmdb_begin(j->lmdb, err);

	if (code)
		return code;
	for (int i = 0; i < n && !code; i++) {
		const int64_t id = first + i;
		const void *record = NULL;
		size_t size = 0;

		weights[i] = 1;
		code = lmdb_find(j->lmdb, WEIGHTS, id_key(&id), &record, &size, err);
		if (!code && record && size == sizeof(*weights))
			memcpy(&weights[i], record, sizeof(*weights));
	}
	lmdb_end(j->lmdb);
	return code;
}
