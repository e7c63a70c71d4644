/*
 * Targets that are numbers: words about errors in the unit of the label, and the latest labels beside what was said
 * about them. All runs of a page predict numbers, or none does.
 */

function ofNumbers() {
	return runs.some((run) => run.target === "number");
}

/* Four digits, as the terminal has them. */
function quantity(x) {
	const size = Math.abs(x);
	if (size >= 999.95 && size < 1e7)
		return count(Math.round(x));
	if (size >= 1e7 || (size > 0 && size < 1e-4))
		return x.toPrecision(3).replace("e+", "e");
	return String(Number(x.toPrecision(4)));
}

const errorBefore = {
	of: (run) => run.summary.mae === null ? null : -run.summary.mae, samples: (run) => run.summary.samples,
	by: "Ranked by how far off predictions were before the label (MAE).",
	/* By chance two means of n errors are this far apart. */
	chance: (a, b) => 2 * Math.sqrt((a.summary.rmse * a.summary.rmse + b.summary.rmse * b.summary.rmse) / a.summary.samples),
};

/* "; always saying the last value 107.3, the mean so far 643.7" */
function baselinesInWords(group) {
	const last = spreadOf(group, (run) => run.summary.mae_last).mean, middle = spreadOf(group, (run) => run.summary.mae_mean).mean;
	return last === null ? "" : "; always saying the last value " + quantity(last) + ", the mean so far " + quantity(middle);
}

function errorInWords(group) {
	const of = (name) => spreadOf(group, (run) => run.summary[name]).mean, error = of("mae"), inside = of("inside");
	if (error === null)
		return "";
	return "Its predictions were off by " + quantity(error) + " on average before it saw the label" + few(groupRest(group, "le")) +
		baselinesInWords(group) + ". It explains " + percent(of("le")) + " % of the variance. " +
		(inside === null ? "" : percent(inside) + " % of the values lay within its band, which is " + quantity(of("width")) + " wide on average. ");
}

function explainsInWords(group) {
	const kept = spreadOf(group, (run) => run.summary.ir).mean;
	return kept === null ? "" : "At the end it explains " + percent(kept) + " % of the variance of held-out samples from all the past" + few(groupRest(group, "ir")) + ". ";
}

/* Who is closest, and by how much, or that nobody can say. */
function closestInWords() {
	const order = ranked().map((g) => groups[g]).filter((group) => spreadOf(group, errorBefore.of).mean !== null);
	const [first, second] = order.map((group) => -spreadOf(group, errorBefore.of).mean);
	if (!order.length)
		return "";
	if (order.length === 1 || second - first > byChance(order[0], order[1], errorBefore))
		return "Closest before the label: " + order[0].name + ", off by " + quantity(first) + " on average" +
			(order.length === 1 ? "" : ", " + quantity(second - first) + " less than " + order[1].name) + baselinesInWords(order[0]) + ".";
	return "Closest before the label: no clear difference between " + order[0].name + " (" + quantity(first) + ") and " +
		order[1].name + " (" + quantity(second) + ")" + baselinesInWords(order[0]) + ".";
}

/* `single`: too much for a table of several methods. */
const numberColumns = [
	{name: "error (MAE)", unit: "", of: (run) => run.summary.mae, format: quantity, rest: "le",
		means: "mean absolute error: how far predictions made before the label were from it, in its unit"},
	{name: "… of the last value", unit: "", of: (run) => run.summary.mae_last, format: quantity,
		means: "the same for always saying the last label that was known"},
	{name: "… of the mean so far", unit: "", of: (run) => run.summary.mae_mean, format: quantity,
		means: "the same for always saying the mean of all labels before"},
	{name: "root mean square (RMSE)", unit: "", single: true, of: (run) => run.summary.rmse, format: quantity,
		means: "root of the mean squared error, to which large errors matter most"},
	{name: "within the band", unit: "%", of: (run) => run.summary.inside, format: percent,
		means: "how many labels lay between low and high; model.coverage is what was asked for"},
	{name: "width of the band", unit: "", single: true, of: (run) => run.summary.width, format: quantity, means: "high less low, on average"},
	{name: "variance explained (R²)", unit: "%", of: (run) => run.summary.le, format: percent, rest: "le",
		means: "of predictions made before the label: 100 % is no error, 0 % is no better than the mean"},
	{name: "… of the last 1\u00a0000", unit: "%", single: true, of: (run) => measured(run, run.summary.recent, "recent"), format: percent,
		means: "the same, of the latest 1\u00a0000 predictions only"},
	{name: "… by the last value", unit: "%", single: true, of: (run) => run.summary.blind, format: percent, rest: "le",
		means: "the same for always saying the last label that was known"},
];

/* What was said about the latest labels of a run: the first of the best method that is shown. */
let pairsGraphs = [];
let chosenNumber = null; /* of several at once, by name; null: the first */

function pairsRun() {
	const shown = ranked().map((g) => groups[g]).filter((group) => group.shown);
	return shown.map((group) => group.runs.find((run) => run.pairs.length)).find((run) => run);
}

function pairsOf(run) {
	return run.pairs.find((pairs) => pairs.name === chosenNumber) || run.pairs[0];
}

/* All numbers, each row with the name of its own if there are several. */
function pairsRows() {
	const several = pairsRun().pairs.length > 1;
	return [["sample"].concat(several ? ["number"] : [], ["label", "prediction", "low", "high"])].concat(
		...pairsRun().pairs.map((pairs) => pairs.label.map((label, i) =>
			[pairs.sample[i]].concat(several ? [pairs.name] : [], [label, pairs.value[i], pairs.low[i], pairs.high[i]]))));
}

/* The numbers to choose from, where a label is several at once. */
function fillChoice(run) {
	const choice = byId("number");
	byId("number-choice").hidden = run.pairs.length < 2;
	choice.replaceChildren();
	run.pairs.forEach((pairs) => element("option", choice, pairs.name));
	choice.value = pairsOf(run).name;
}

function pairsInWords(pairs) {
	const n = pairs.label.length, error = pairs.label.reduce((sum, label, i) => sum + Math.abs(label - pairs.value[i]), 0) / n;
	const inside = pairs.label.filter((label, i) => label >= pairs.low[i] && label <= pairs.high[i]).length / n;
	return " " + (pairs.name ? pairs.name + " was" : "They were") + " off by " + quantity(error) + " on average, and " + percent(inside) +
		" % lay within the band.";
}

function pairsColours() {
	return {said: colour(runs.length ? pairsRun().group : 0), label: neutral()};
}

const pairsLook = () => ({
	legend: "never", rightGap: 12, xLabelHeight: 18, yLabelWidth: 16, axisLabelFontSize: 12,
	axisLineColor: theme() === "dark" ? "#6b6f78" : "#9c9c96", gridLineColor: theme() === "dark" ? "#363940" : "#dededa",
});

function spanOf(...lists) {
	const values = [].concat(...lists), least = Math.min(...values), most = Math.max(...values);
	const room = 0.05 * (most - least) || Math.abs(most) / 10 || 1;
	return [least - room, most + room];
}

/* A stretch of time, at first the latest that can be told apart: label, prediction, and the band behind them. */
function drawLatest(run) {
	const pairs = pairsOf(run), first = Math.max(0, pairs.label.length - 100), look = pairsColours(), place = byId("latest-value");
	const band = (canvas, area, graph) => {
		canvas.save();
		canvas.beginPath();
		pairs.sample.forEach((x, i) => canvas[i ? "lineTo" : "moveTo"](graph.toDomXCoord(x), graph.toDomYCoord(pairs.high[i])));
		for (let i = pairs.sample.length - 1; i >= 0; i--)
			canvas.lineTo(graph.toDomXCoord(pairs.sample[i]), graph.toDomYCoord(pairs.low[i]));
		canvas.closePath();
		canvas.globalAlpha = 0.18;
		canvas.fillStyle = look.said;
		canvas.fill();
		canvas.restore();
	};
	pairsGraphs.push(new Dygraph(byId("latest-plot"), pairs.label.map((label, i) => [pairs.sample[i], label, pairs.value[i]]), {
		...pairsLook(), labels: ["x", "label", "prediction"], colors: [look.label, look.said], strokeWidth: 1.5, highlightCircleSize: 4,
		series: {label: {strokePattern: patterns.dotted, drawPoints: true, pointSize: 1.5}, prediction: {strokeWidth: 2}},
		dateWindow: [pairs.sample[first], pairs.sample[pairs.sample.length - 1]],
		valueRange: spanOf(pairs.label.slice(first), pairs.low.slice(first), pairs.high.slice(first)),
		axes: {x: {ticker: valueTicks({}), axisLabelFormatter: (x) => count(x)}, y: {axisLabelWidth: 54, ticker: valueTicks({})}},
		xlabel: "sample", ylabel: "value", underlayCallback: band,
		highlightCallback: (event, x, points, row) => {
			place.replaceChildren();
			element("b", place, "sample " + count(x));
			place.append(" · label " + quantity(pairs.label[row]) + " · ");
			element("b", place, "prediction " + quantity(pairs.value[row])).style.color = look.said;
			place.append(" (" + quantity(pairs.low[row]) + " to " + quantity(pairs.high[row]) + ")");
		},
	}));
}

/* A dot for each label; on the diagonal prediction and label are the same. */
function drawScatter(run) {
	const pairs = pairsOf(run), look = pairsColours(), place = byId("scatter-value"), range = spanOf(pairs.label, pairs.value);
	const order = pairs.label.map((label, i) => i).sort((a, b) => pairs.label[a] - pairs.label[b]);
	const diagonal = (canvas, area, graph) => {
		canvas.save();
		canvas.strokeStyle = neutral();
		canvas.setLineDash([6, 4]);
		canvas.beginPath();
		canvas.moveTo(graph.toDomXCoord(range[0]), graph.toDomYCoord(range[0]));
		canvas.lineTo(graph.toDomXCoord(range[1]), graph.toDomYCoord(range[1]));
		canvas.stroke();
		canvas.restore();
	};
	pairsGraphs.push(new Dygraph(byId("scatter-plot"), order.map((i) => [pairs.label[i], pairs.value[i]]), {
		...pairsLook(), labels: ["x", "prediction"], colors: [look.said], strokeWidth: 0, drawPoints: true, pointSize: 2, highlightCircleSize: 5,
		dateWindow: range, valueRange: range,
		axes: {x: {ticker: valueTicks({})}, y: {axisLabelWidth: 54, ticker: valueTicks({})}},
		xlabel: "label", ylabel: "prediction", underlayCallback: diagonal,
		highlightCallback: (event, x, points, row) => {
			place.textContent = "sample " + count(pairs.sample[order[row]]) + ": label " + quantity(x) + ", prediction " + quantity(pairs.value[order[row]]);
		},
	}));
}

function drawPairs() {
	const run = ofNumbers() ? pairsRun() : undefined;
	pairsGraphs.forEach((graph) => graph.destroy());
	pairsGraphs = [];
	byId("pairs-section").hidden = !run;
	if (!run)
		return;
	fillChoice(run);
	byId("pairs-note").textContent = (runs.length > 1 ? run.name + ": the" : "The") + " latest " + count(pairsOf(run).label.length) +
		" labels, and what was predicted before they came." + pairsInWords(pairsOf(run));
	drawLater(byId("latest"), () => drawLatest(run));
	drawLater(byId("scatter"), () => drawScatter(run));
}
