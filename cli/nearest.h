/* What someone probably meant to type. */
#ifndef RETAIN_CLI_NEAREST_H
#define RETAIN_CLI_NEAREST_H

/* How far apart two words are: letters to add, drop, change or swap; fewer if one begins the other. */
int word_distance(const char *typed, const char *known);

/* Whether a word at that distance is worth suggesting for what was typed. */
int word_is_near(const char *typed, int distance);

#endif
