/* A loss that the program computes, as it computes the net. */
#include "learn/losses/loss_impl.h"

static int begin(struct loss *loss, const struct loss_view *view, struct err *err)
{
	loss->sample.program = true;
	return net_has_loss(view->net)
		       ? 0
		       : err_set(err, ERR_INPUT,
				 "loss.kind = program: %s brings none (loss= in Python)",
				 net_spec(view->net)->arch);
}

const struct loss_type loss_program = {
	.name = "program",
	.help = "a loss of the program that computes the net",
	.size = sizeof(struct loss),
	.program = true,
	.begin = begin,
};
