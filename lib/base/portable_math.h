/*
 * The few functions that synthetic streams need beyond sqrt, as short series in double precision:
 * the C library's differ in the last bit between versions and processors, and samples must not.
 * Accurate to about 1e-13.
 */
#ifndef RETAIN_BASE_PORTABLE_MATH_H
#define RETAIN_BASE_PORTABLE_MATH_H

double portable_exp(double x);            /* x must be within -700 .. 700 */
void portable_exps(double *x, int count); /* in place; the same bits, sooner */
double portable_log(double x);            /* x > 0 and normal */
double portable_sine(double turns);       /* sine of 2 pi turns */

#endif
