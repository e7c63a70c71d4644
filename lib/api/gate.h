/* A lock that serves whoever waits in the order of asking, so that nobody starves. */
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
bool gate_try(struct gate *gate); /* enters only if nobody is inside or waits */
void gate_leave(struct gate *gate);

#endif
