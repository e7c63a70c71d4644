/*
 * A bijection of 64 bits in which every output bit depends on every input bit: multiplications
 * spread a change upwards, shifts bring it down again (Stafford's mix 13). Applied to key + i *
 * MIX_STEP, i = 0, 1, ..., it is random access into SplitMix64 of Steele, Lea and Flood (2014).
 * Much cheaper than Philox, if a random key is at hand.
 */
#ifndef RETAIN_REPLAY_MIX_H
#define RETAIN_REPLAY_MIX_H

#include <stdint.h>

#define MIX_STEP 0x9e3779b97f4a7c15u

static inline uint64_t mix64(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

#endif
