/*
 * Charts over the run, by dygraphs: a line per group, solid for the model that
 * serves inference, dashed for the plain one of the same runs; behind it the range of
 * the seeds; on it a mark for every cut of the rate.
 */

const charts = [
	{id: "ir", title: "Information retention", y: "IR, %", scale: 100, solid: "ir", dashed: "ir_sgd", hero: true, cuts: true,
		note: "accuracy on everything seen so far; ▼: the rate was cut"},
	{id: "lr", title: "Learning rate", y: "rate, log scale", scale: 1, solid: "lr", log: true, step: true, cuts: true,
		note: "▼: a cut; point at it to see why"},
	{id: "sigma", title: "σ: what averaging gains", y: "σ, points of accuracy", scale: 100, solid: "sigma", level: "epsilon", cuts: true,
		note: "best average minus plain model on validation data; horizontal: ε, which C3 compares σ with", settle: 0.03},
	{id: "loss", title: "Validation loss", y: "loss, nats", scale: 1, solid: "val_loss_ma", dashed: "val_loss_sgd", cuts: true,
		note: "solid: best average, dashed: plain model"},
	{id: "le", title: "Learning efficacy", y: "LE, %", scale: 100, solid: "le", dotted: "blind",
		note: "accuracy before the label was seen; dotted: always saying the most frequent recent label"},
	{id: "ft", title: "Forward transfer", y: "FT, %", scale: 100, solid: "ft", dashed: "ft_sgd",
		note: "accuracy on data still to come"},
	{id: "gamma", title: "Windows of the averages", y: "1/(1−γ), updates, log scale", scale: 1, solid: "gamma1", dashed: "gamma2",
		log: true, step: true, calm: true, map: (gamma) => gamma < 1 ? 1 / (1 - gamma) : null,
		note: "how many updates an average reaches back; solid: the longer, dashed: the shorter"},
];

const patterns = {solid: null, dashed: [7, 4], dotted: [2, 3]};
const MARKS_MOST = 400;
/* `zoomed`: the iterations that all charts show, NULL for all of them. */
let graphs = [], following = false, zoomed = null;

/* What a chart draws: a curve per group and kind, in the chart's unit. */
function seriesOf(chart) {
	const series = [], unit = chart.map || ((value) => value * chart.scale);
	groups.forEach((group, g) => {
		for (let kind of ["dotted", "dashed", "solid"]) {
			const curve = chart[kind] && curveOf(group, chart[kind]);
			/* Between many lines that jump, dashed ones and bands would only be noise. */
			if (!curve || (chart.calm && groups.length > 1 && kind !== "solid"))
				continue;
			const solid = curveOf(group, chart.solid);
			if (kind === "dashed" && solid && crowded())
				continue;
			/* Without averages the plain model is the one that serves: one line, and solid. */
			if (kind === "dashed" && solid && sameNumbers(solid.mean, curve.mean))
				continue;
			if (kind === "dashed" && !solid)
				kind = "solid";
			/* Runs over one stream share their blind learner. */
			if (kind === "dotted" && series.some((one) => one.kind === kind && sameNumbers(one.raw, curve.mean)))
				continue;
			const usable = (value) => value === null || (chart.log && value <= 0) ? null : value;
			const inUnit = (values) => values.map((value) => usable(unit(value))), middle = inUnit(curve.mean);
			series.push({
				group: g, kind: kind, x: curve.x, raw: curve.mean, mean: middle,
				band: curve.band && !(chart.calm && groups.length > 1),
				low: curve.band ? inUnit(curve.low) : middle, high: curve.band ? inUnit(curve.high) : middle,
			});
		}
	});
	return series;
}

/* Whether it draws anything: columns without a number are not in the data. */
function hasCurves(chart) {
	return ["solid", "dashed", "dotted"].some((kind) => chart[kind] &&
		runs.some((run) => pointsOf(run, chart[kind]).y.length));
}

function lastIteration() {
	return Math.max(1, ...runs.map((run) => run.summary.iteration));
}

/* One table for all series of a chart, with rows for beginning and end: all charts have one axis. */
function tableOf(series) {
	const rows = new Map(), row = (x) => {
		if (!rows.has(x))
			rows.set(x, [x].concat(series.map(() => null)));
		return rows.get(x);
	};
	row(0);
	row(lastIteration());
	series.forEach((one, s) => one.x.forEach((x, i) => {
		row(x)[s + 1] = one.mean[i];
	}));
	return Array.from(rows.values()).sort((a, b) => a[0] - b[0]);
}

/* One level for each value that a group has. */
function levelsOf(chart) {
	return groups
		.map((group, g) => ({group: g, value: chart.level ? group.runs[0][chart.level] : null}))
		.filter((level) => level.value !== null)
		.map((level) => ({group: level.group, value: level.value * chart.scale}));
}

/* Rates want room above and below on a log scale; levels and bands must be in sight. */
function rangeOf(chart, series, levels) {
	let least = Infinity, most = -Infinity;
	/* The first moments of a run are far from all others: where a chart says so, they may lie outside. */
	const from = chart.settle ? chart.settle * lastIteration() : 0;
	for (const one of series)
		for (const values of [one.low, one.high])
			values.forEach((value, i) => {
				if (value === null || (one.x[i] < from && one.x[one.x.length - 1] > from))
					return;
				least = Math.min(least, value);
				most = Math.max(most, value);
			});
	if (chart.log)
		return [least / 1.6, most * 1.6];
	for (const level of levels) {
		least = Math.min(least, level.value, 0);
		most = Math.max(most, level.value);
	}
	const room = 0.06 * (most - least || 1);
	return [least - room, most + room];
}

/* All labels of an axis have one unit. */
function iterations(x) {
	const most = lastIteration(), unit = most >= 1e7 ? 1e6 : most >= 1e4 ? 1e3 : 1;
	return Number((x / unit).toPrecision(6)) + (unit === 1 || x === 0 ? "" : unit === 1e3 ? " k" : " M");
}

/* Powers of ten, and between them 2 and 5 where there is room. */
function logTicks(least, most) {
	const steps = Math.log10(most / least) > 4 ? [1] : [1, 2, 5];
	const ticks = [];
	for (let power = Math.floor(Math.log10(least)); Math.pow(10, power) <= most; power++)
		for (const step of steps) {
			const value = Number(step + "e" + power);
			if (value >= least && value <= most)
				ticks.push({v: value, label: short(value)});
		}
	return ticks;
}

function paintBands(series, canvas, graph) {
	for (const one of series) {
		if (!one.band || !groups[one.group].shown)
			continue;
		const there = one.x.map((x, i) => i).filter((i) => one.low[i] !== null && one.high[i] !== null);
		canvas.beginPath();
		there.forEach((i, k) => canvas[k ? "lineTo" : "moveTo"](graph.toDomXCoord(one.x[i]), graph.toDomYCoord(one.high[i])));
		there.reverse().forEach((i) => canvas.lineTo(graph.toDomXCoord(one.x[i]), graph.toDomYCoord(one.low[i])));
		canvas.closePath();
		canvas.globalAlpha = one.kind === "solid" ? 0.2 : 0.08;
		canvas.fillStyle = colour(one.group);
		canvas.fill();
		canvas.globalAlpha = 1;
	}
}

function paintBehind(chart, series, levels, canvas, graph) {
	const area = graph.getArea(), single = runs.length === 1;
	canvas.save();
	paintBands(series, canvas, graph);
	canvas.lineWidth = 1;
	canvas.strokeStyle = theme() === "dark" ? "#6b6f78" : "#b4b4ae";
	canvas.setLineDash([2, 3]);
	for (const cut of single ? runs[0].cuts : []) {
		const x = graph.toDomXCoord(cut.iteration);
		canvas.beginPath();
		canvas.moveTo(x, area.y);
		canvas.lineTo(x, area.y + area.h);
		canvas.stroke();
	}
	canvas.setLineDash([10, 4]);
	for (const level of levels) {
		if (!groups[level.group].shown)
			continue;
		const y = graph.toDomYCoord(level.value);
		canvas.strokeStyle = canvas.fillStyle = neutral();
		canvas.beginPath();
		canvas.moveTo(area.x, y);
		canvas.lineTo(area.x + area.w, y);
		canvas.stroke();
		canvas.font = "13px system-ui, sans-serif";
		canvas.fillText("ε", area.x + area.w - 14, y - 5);
	}
	canvas.restore();
}

/* The height of a line at x: that of the last point up to there, or between two. */
function heightAt(chart, series, x) {
	const at = series.x.findIndex((one) => one >= x);
	if (at < 0)
		return series.mean[series.mean.length - 1];
	if (at === 0 || series.x[at] === x || chart.step)
		return series.mean[at];
	const share = (x - series.x[at - 1]) / (series.x[at] - series.x[at - 1]);
	return series.mean[at - 1] + share * (series.mean[at] - series.mean[at - 1]);
}

/* Cuts as small buttons over the plot: they can be pointed at, touched, and reached by keys. */
function placeMarks(chart, series, graph, layer, place) {
	const area = graph.getArea(), window = graph.xAxisRange();
	layer.replaceChildren();
	if (!chart.cuts || (crowded() && chart.id !== "lr") || runs.reduce((sum, run) => sum + run.cuts.length, 0) > MARKS_MOST)
		return;
	groups.forEach((group, g) => {
		const line = series.find((one) => one.group === g && one.kind === "solid");
		if (!group.shown || !line)
			return;
		for (const run of group.runs)
			for (const cut of chart.id !== "lr" && manyCuts(group) ? run.cuts.slice(0, 1) : run.cuts) {
				if (cut.iteration < window[0] || cut.iteration > window[1])
					continue;
				const value = chart.id === "lr" ? Math.sqrt(cut.before * cut.after) : heightAt(chart, line, cut.iteration);
				const mark = element("button", layer, "▼", manyCuts(group) ? "cut small" : "cut");
				mark.type = "button";
				if (chart.id !== "lr")
					mark.tabIndex = -1;
				mark.style.left = graph.toDomXCoord(cut.iteration) + "px";
				mark.style.top = Math.max(area.y + 8, graph.toDomYCoord(value)) + "px";
				mark.style.color = colour(g);
				const words = "iteration " + count(cut.iteration) + ": " + cut.text;
				mark.title = (runs.length > 1 ? run.name + ": " : "") + words;
				const show = () => {
					place.replaceChildren();
					if (runs.length > 1)
						element("b", place, run.name + ": ").style.color = colour(g);
					place.append(words);
				};
				for (const event of ["mouseenter", "focus", "click"])
					mark.addEventListener(event, show);
			}
	});
}

/* Names at the ends of the lines, moved apart where they would meet. */
function placeNames(series, graph, layer) {
	const area = graph.getArea(), labels = [];
	for (const one of series) {
		if (one.kind !== "solid" || !groups[one.group].shown)
			continue;
		const value = one.mean[one.mean.length - 1];
		if (value !== null)
			labels.push({group: one.group, y: graph.toDomYCoord(value)});
	}
	labels.sort((a, b) => a.y - b.y);
	labels.forEach((label, i) => {
		label.y = Math.max(label.y, i ? labels[i - 1].y + 15 : area.y + 6);
	});
	for (let i = labels.length - 1, most = area.y + area.h; i >= 0; i--, most -= 15)
		labels[i].y = Math.min(labels[i].y, most);
	for (const label of labels) {
		const name = element("span", layer, groups[label.group].name, "line-name");
		name.style.left = area.x + area.w + 4 + "px";
		name.style.top = label.y - 8 + "px";
		name.style.color = colour(label.group);
	}
}

/* `alone`: the name of the only line that is told, where all would be too many. */
function readOut(place, chart, series, x, points, alone) {
	if (alone !== undefined)
		points = points.filter((point) => point.name === alone);
	if (!points.length)
		return;
	place.replaceChildren();
	element("b", place, "iteration " + count(x));
	for (const point of points) {
		const one = series[Number(point.name)], i = one.x.indexOf(x);
		const kind = {solid: "", dashed: chart.id === "gamma" ? " shorter" : " plain", dotted: " blind"}[one.kind];
		const value = (v) => chart.scale === 100 ? v.toFixed(2) : String(Number(v.toPrecision(5)));
		place.append(" · ");
		element("b", place, groups[one.group].name).style.color = colour(one.group);
		place.append(kind + " " + value(point.yval) + (chart.scale === 100 ? " %" : ""));
		if (one.band && i >= 0)
			place.append(" (" + value(one.low[i]) + "–" + value(one.high[i]) + ")");
	}
}

/* Zooming into one chart zooms into all. */
function follow(from, least, most) {
	if (following)
		return;
	following = true;
	zoomed = from.isZoomed("x") ? [least, most] : null;
	for (const graph of graphs)
		if (graph !== from)
			graph.updateOptions({dateWindow: [least, most]});
	following = false;
}

function placeChart(chart, parent) {
	const card = element("div", parent, undefined, chart.hero ? "card hero" : "card");
	card.dataset.chart = chart.id;
	element("h3", card, chart.title);
	element("div", card, chart.note, "readout");
	const frame = element("div", card, undefined, "frame"), plot = element("div", frame, undefined, "plot");
	const layer = element("div", frame, undefined, "layer");
	/* Below, with room for a few lines, so that nothing moves under the pointer. */
	const place = element("div", card, undefined, groups.length > 1 ? "readout value tall" : "readout value");
	drawLater(card, () => drawChart(chart, card, plot, layer, place));
}

function drawChart(chart, card, plot, layer, place) {
	const series = seriesOf(chart), levels = levelsOf(chart), table = tableOf(series);
	const named = chart.hero && groups.length > 1 && groups.length <= 12, crowd = crowded();
	card.dataset.curves = series.length;
	const perSeries = {};
	series.forEach((one, s) => {
		perSeries[s] = {
			color: one.kind === "dotted" ? neutral() : colour(one.group),
			strokePattern: patterns[one.kind],
			strokeWidth: one.kind !== "solid" || crowd ? 1.5 : chart.hero ? 2.5 : 2,
		};
	});
	const y = {axisLabelFormatter: (value) => short(Number(value.toPrecision(6))), axisLabelWidth: 54};
	if (chart.log)
		y.ticker = logTicks;
	const graph = new Dygraph(plot, table, {
		labels: ["x"].concat(series.map((one, s) => String(s))),
		series: perSeries,
		visibility: series.map((one) => groups[one.group].shown),
		legend: "never",
		connectSeparatedPoints: true,
		drawPoints: table.length < 60 && !chart.step,
		pointSize: 2,
		stepPlot: Boolean(chart.step),
		logscale: Boolean(chart.log),
		dateWindow: zoomed,
		valueRange: rangeOf(chart, series, levels),
		rightGap: named ? Math.min(150, 20 + 7 * Math.max(...groups.map((group) => group.name.length))) : 8,
		axes: {x: {axisLabelFormatter: iterations, pixelsPerLabel: 64}, y: y},
		xlabel: "training iterations",
		ylabel: chart.y,
		xLabelHeight: 18,
		yLabelWidth: 16,
		axisLabelFontSize: 12,
		axisLineColor: theme() === "dark" ? "#6b6f78" : "#9c9c96",
		gridLineColor: theme() === "dark" ? "#363940" : "#dededa",
		highlightCircleSize: crowd ? 0 : 4,
		highlightSeriesOpts: crowd ? {strokeWidth: 3, highlightCircleSize: 4} : null,
		animateBackgroundFade: false,
		highlightSeriesBackgroundColor: theme() === "dark" ? "#1f2125" : "#ffffff",
		underlayCallback: (canvas, area, drawn) => paintBehind(chart, series, levels, canvas, drawn),
		drawCallback: (drawn) => {
			placeMarks(chart, series, drawn, layer, place);
			if (named)
				placeNames(series, drawn, layer);
		},
		zoomCallback: (least, most) => follow(graph, least, most),
		highlightCallback: (event, x, points, row, name) => readOut(place, chart, series, x, points, crowd ? name : undefined),
	});
	graph.lineOf = (group) => series.findIndex((one) => one.group === group && one.kind === "solid");
	graphs.push(graph);
}

/* In a crowd, where colours repeat: the lines of a group before all others, pale. NULL: of none. */
function singleOut(group) {
	for (const graph of crowded() ? graphs : []) {
		const line = graph.lineOf(group);
		if (line >= 0 && groups[group].shown)
			graph.setSelection(graph.numRows() - 1, String(line));
		else
			graph.clearSelection();
	}
}

function drawCharts() {
	const place = byId("charts");
	for (const graph of graphs)
		graph.destroy();
	graphs = [];
	place.replaceChildren();
	for (const chart of charts.filter(hasCurves))
		placeChart(chart, place);
}
