/* The table of metrics, and access to rows by it. */
#include "eval/metrics.h"

#include <math.h>
#include <string.h>

#define WHOLE(name, unit, meaning)                                                                 \
	{                                                                                          \
#name, unit, meaning, METRICS_WHOLE, offsetof(struct metrics_row, name), 0         \
	}
#define NUMBER_SINCE(since, name, unit, meaning)                                                   \
	{                                                                                          \
#name, unit, meaning, METRICS_NUMBER, offsetof(struct metrics_row, name), since    \
	}
#define NUMBER(name, unit, meaning) NUMBER_SINCE(0, name, unit, meaning)

const struct metrics_column metrics_columns[] = {
	WHOLE(step, "steps", "time steps of the stream so far"),
	WHOLE(iteration, "iterations", "training iterations so far"),
	WHOLE(samples, "samples", "samples of the stream revealed so far"),
	NUMBER(lr, "", "learning rate of the next iteration"),
	NUMBER(gamma1, "", "weight that the first average keeps at an update"),
	NUMBER(gamma2, "", "weight that the second average keeps at an update"),
	WHOLE(best, "", "the model that serves inference: 0 the plain one, 1 or 2 an average"),
	NUMBER(sigma, "fraction",
		"val_acc_ma minus val_acc_sgd, the gap that malr's conditions look at"),
	NUMBER(val_loss_ma, "nats",
		"validation loss of the best average, mean of the latest window"),
	NUMBER(val_loss_sgd, "nats", "the same of the plain model"),
	NUMBER(val_acc_ma, "fraction",
		"validation accuracy of the best average, mean of the latest window"),
	NUMBER(val_acc_sgd, "fraction", "the same of the plain model"),
	NUMBER(le, "fraction",
		"learning efficacy: mean accuracy on each step before its labels were seen"),
	NUMBER(ir, "fraction",
		"information retention: accuracy on evaluation data of all past steps"),
	NUMBER(ft, "fraction", "forward transfer: accuracy on evaluation data of steps to come"),
	NUMBER(ir_sgd, "fraction", "ir of the plain model"),
	NUMBER(ft_sgd, "fraction", "ft of the plain model"),
	NUMBER(blind, "fraction",
		"le of a learner that sees no inputs: the most frequent recent label"),
	NUMBER(le5, "fraction", "le, counting a label among the first five guesses as right"),
	NUMBER(ir5, "fraction", "ir in the same way"),
	NUMBER(ft5, "fraction", "ft in the same way"),
	NUMBER(ir5_sgd, "fraction", "ir_sgd in the same way"),
	NUMBER(ft5_sgd, "fraction", "ft_sgd in the same way"),
	NUMBER(cost, "iterations",
		"what learning has cost, in iterations of plain SGD at a constant rate"),
	NUMBER_SINCE(3, le_ever, "fraction",
		"with fast weights: le of the slow net alone, which ir and ft are of"),
	NUMBER_SINCE(3, ir_now, "fraction", "with fast weights: ir of the mixture, which le is of"),
	NUMBER_SINCE(3, ft_now, "fraction", "ft in the same way"),
	NUMBER_SINCE(4, recent, "fraction",
		"accuracy of the latest 1 000 predictions whose labels came, where le is of all"),
	NUMBER_SINCE(4, alarms, "", "drift alarms so far: see eval.alarm"),
	NUMBER_SINCE(5, forgetting, "fraction",
		"mean over past bins of the best accuracy since they were past less that of now"),
	NUMBER_SINCE(5, bwt, "fraction",
		"backward transfer: mean over past bins of accuracy now less that when they became "
		"past"),
	NUMBER_SINCE(5, kept, "samples", "samples that are kept now, for training and validation"),
	NUMBER_SINCE(6, le_album, "fraction",
		"where users are known: le on the first album of each step by another user"),
	NUMBER_SINCE(9, same, "fraction", "le of the last label before the step"),
	NUMBER_SINCE(9, most, "fraction", "le of the most frequent of all labels before the step"),
	NUMBER_SINCE(9, mae, "",
		"numbers: mean absolute error of predictions made before their labels were seen"),
	NUMBER_SINCE(9, rmse, "", "numbers: root of their mean squared error"),
	NUMBER_SINCE(9, mae_last, "", "numbers: mae of the last label known when asked"),
	NUMBER_SINCE(9, mae_mean, "", "numbers: mae of the mean of all labels known when asked"),
	NUMBER_SINCE(9, inside, "fraction", "numbers: share of labels within their intervals"),
	NUMBER_SINCE(9, width, "", "numbers: mean width of the intervals"),
	NUMBER_SINCE(10, balanced, "fraction",
		"uneven classes: balanced accuracy, the mean over classes of the share recognised"),
	NUMBER_SINCE(10, f1, "fraction", "uneven classes: mean of their F1"),
	NUMBER_SINCE(10, f1_rare, "fraction", "two uneven classes: F1 of the rarer one"),
	NUMBER_SINCE(10, auc, "fraction",
		"two uneven classes: area under the ROC curve, latest 10 000 predictions"),
	NUMBER_SINCE(10, alert_recall, "fraction",
		"two uneven classes: recall of the rarer one at alert_share, of the same "
		"predictions"),
	NUMBER_SINCE(10, alert_share, "fraction",
		"two uneven classes: share of alerts allowed (eval.alerts), by default the rarer "
		"class's"),
	NUMBER_SINCE(11, chain, "fraction",
		"le of a chain of labels: what their order alone is good for"),
	NUMBER(seconds, "s",
		"time spent so far; the only column that differs when a run is repeated"),
	{0},
};

void metrics_row_init(struct metrics_row *row)
{
	*row = (struct metrics_row){0};
	for (const struct metrics_column *column = metrics_columns; column->name; column++)
		if (column->type == METRICS_NUMBER)
			*(double *)((char *)row + column->offset) = NAN;
}

const struct metrics_column *metrics_column(const char *name)
{
	const struct metrics_column *column = metrics_columns;

	while (column->name && strcmp(column->name, name) != 0)
		column++;
	return column->name ? column : NULL;
}

double metrics_value(const struct metrics_row *row, const struct metrics_column *column)
{
	const char *value = (const char *)row + column->offset;

	return column->type == METRICS_WHOLE ? (double)*(const int64_t *)value
					     : *(const double *)value;
}
