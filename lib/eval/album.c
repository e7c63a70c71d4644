/* Albums of a stream with known users. */
#include "eval/album.h"

#include <math.h>

void album_step(struct album *album, const int64_t *users, const union target *guesses,
	const union target *labels, int n)
{
	int64_t user = 0;
	int size = 0, right = 0;

	for (int i = 0; i < n; i++) {
		if (album->begun && users[i] == album->last)
			continue;
		if (size && users[i] != user)
			break;
		user = users[i];
		size++;
		right += guesses[i * TARGET_GUESS].class == labels[i].class;
	}
	if (size) {
		album->steps++;
		album->right += (double)right / size;
	}
	if (n > 0) {
		album->begun = true;
		album->last = users[n - 1];
	}
}

double album_top1(const struct album *album)
{
	return album->steps ? album->right / (double)album->steps : NAN;
}

void album_state(struct album *album, struct state *state)
{
	state_bool(state, "album_begun", &album->begun);
	state_int64(state, "album_last", &album->last);
	state_int64(state, "album_steps", &album->steps);
	state_double(state, "album_right", &album->right);
	if (state_reading(state) && !state_failed(state) &&
		!(album->steps >= 0 && album->right >= 0 && album->right <= (double)album->steps))
		state_refuse(state, ERR_FORMAT, "an efficacy by albums that cannot be");
}
