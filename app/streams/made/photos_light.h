/* What time of day, weather and season do to colours. */
#ifndef RETAIN_STREAMS_MADE_PHOTOS_LIGHT_H
#define RETAIN_STREAMS_MADE_PHOTOS_LIGHT_H

#include "streams/made/photos_scene.h"

struct photos_season {
	struct rgb leaves, grass;
	float sun;  /* how high it stands, 1 in the middle of the year */
	float snow; /* how much of what can be white is */
};

/* A time of the year in turns, 0 in spring; cold places have snow. */
struct photos_season photos_season_of(double turn, float cold);

/* The light at a height of the sun, -0.25 at night to 1, below clouds (0 to 1). */
void photos_light_of(float height, float overcast, struct photos_light *light);

#endif
