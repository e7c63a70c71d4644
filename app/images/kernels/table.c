/* The kernels of one instruction set. */
#include "images/kernels/declare.h"

#define TEXT2(isa) #isa
#define TEXT(isa)  TEXT2(isa)

const struct pixel_kernels KERNEL(kernels) = {
	.isa = TEXT(ISA),
	.sum_rows = KERNEL(sum_rows),
	.sum_columns = KERNEL(sum_columns),
	.transform = KERNEL(transform),
	.widen = KERNEL(widen),
	.colour = KERNEL(colour),
};
