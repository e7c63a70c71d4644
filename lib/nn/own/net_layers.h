/* Frozen layers, for the building of nets. */
#ifndef RETAIN_NN_NET_LAYERS_H
#define RETAIN_NN_NET_LAYERS_H

#include "nn/net.h"

/* Notes which layers are not trained; a list that the net cannot have is ERR_INPUT. */
int net_freeze(struct net *net, const char *list, struct err *err);

#endif
