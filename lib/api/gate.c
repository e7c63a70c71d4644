/* A ticket lock: numbers are handed out on arrival and served in order. */
#include "api/gate.h"

int gate_init(struct gate *gate)
{
	int code = pthread_mutex_init(&gate->mutex, NULL);

	if (code)
		return code;
	code = pthread_cond_init(&gate->turn, NULL);
	if (code)
		pthread_mutex_destroy(&gate->mutex);
	gate->next = gate->serving = 0;
	return code;
}

void gate_release(struct gate *gate)
{
	pthread_cond_destroy(&gate->turn);
	pthread_mutex_destroy(&gate->mutex);
}

void gate_enter(struct gate *gate)
{
	pthread_mutex_lock(&gate->mutex);
	const uint64_t own = gate->next++;
	while (gate->serving != own)
		pthread_cond_wait(&gate->turn, &gate->mutex);
	pthread_mutex_unlock(&gate->mutex);
}

bool gate_try(struct gate *gate)
{
	pthread_mutex_lock(&gate->mutex);
	const bool free = gate->serving == gate->next;
	gate->next += free;
	pthread_mutex_unlock(&gate->mutex);
	return free;
}

void gate_leave(struct gate *gate)
{
	pthread_mutex_lock(&gate->mutex);
	gate->serving++;
	pthread_cond_broadcast(&gate->turn);
	pthread_mutex_unlock(&gate->mutex);
}
