/* A fair lock: waiters enter in the order of arrival, so none starves. */
#ifndef RETAIN_API_GATE_H
#define RETAIN_API_GATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct gate {
	pthread_mutex_t mutex;
	pthread_cond_t turn;
	uint64_t next, serving;
};

int gate_init(struct gate *gate); /* 0, or an errno */
void gate_release(struct gate *gate);
void gate_enter(struct gate *gate);
bool gate_try(struct gate *gate); /* enters only if the gate is free and has no waiters */
void gate_leave(struct gate *gate);

#endif
