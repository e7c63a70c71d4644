/*
 * Charts over the run, by dygraphs: a line per group, solid for the model that
 * serves inference, dashed for the plain one of the same runs; behind it the range of
 * the seeds; on it a mark for every cut of the rate and for every drift alarm.
 */

/* Whether a run of them keeps an average of its own, as its settings say. */
function keepsAverage() {
	return runs.some((run) => (new Map(run.settings).get("average.kind") || "none") !== "none");
}

/* Why there is nothing by windows of validation: nobody validates, or no window has ended. */
function whyNoWindow() {
	const going = runs.some((run) => !run.ended);
	if (!going && !runs.some((run) => run.ledger && run.ledger.validate > 0))
		return "no method here validates";
	return "no window of validation has ended" + (going ? " yet" :
		": the run was over after " + count(lastIteration()) + " iterations, before the first one was (schedule.window)");
}

function whyNoAverage() {
	return keepsAverage() ? whyNoWindow() : "no method here keeps an average of its own";
}

/*
 * `why`: where there is nothing to draw, what that is due to. `dashes`, `dots`: what those lines are, in the read-out.
 * `of`: the only kind of target that it is for; `numbers`: what is said otherwise of numbers. `blind`: lines but the
 * solid one never look at an input. `few`: the note where there were no more than the latest 1 000. `thin`: what would be dashed is no plain model, and is a thin line. `log`: a log scale, or one where values are far apart ("wide").
 * `least`, `most`: no axis goes beyond. `span`: what is drawn around a line that does not move.
 */
const charts = [
	{id: "error", of: "number", title: "How far off: mean absolute error (MAE)", y: "error", scale: 1, solid: "error", dashed: "error_last",
		dotted: "error_mean", blind: true, alarms: true, log: "wide", least: 0, dashes: " last value", dots: " mean so far", thin: true,
		note: "of predictions before the label, from one evaluation to the next; thin: always saying the last value; dotted: the mean so far; ◆: a drift alarm",
		why: () => "nothing was predicted"},
	{id: "inside", of: "number", title: "Labels within the band", y: "within, %", scale: 100, solid: "inside", level: "coverage", mark: "asked",
		least: 0, most: 100, span: 10, note: "share of labels between low and high, from one evaluation to the next; horizontal: what was asked (model.coverage)",
		why: () => "nothing was predicted"},
	{id: "width", of: "number", title: "Width of the band", y: "high less low", scale: 1, solid: "width", log: "wide", least: 0,
		note: "mean, from one evaluation to the next", why: () => "nothing was predicted"},
	{id: "le", title: "Accuracy before the label (LE)", y: "accuracy, %", scale: 100, solid: "recent", dashed: "le", dotted: "blind",
		alarms: true, dashes: " of all", dots: " guessing", thin: true, least: 0, most: 100, span: 10,
		note: "thick: of the latest 1 000 predictions; thin: of all so far, which is LE; dotted: always saying the most frequent recent label; ◆: a drift alarm",
		few: "of all predictions so far; dotted: always saying the most frequent recent label; ◆: a drift alarm",
		numbers: {title: "Variance explained before the label (R²)", y: "explained, %", least: -100, dots: " last value",
			few: "of all predictions so far; dotted: by always saying the last value; ◆: a drift alarm",
			note: "thick: of the latest 1 000 predictions; thin: of all so far; dotted: by always saying the last value; ◆: a drift alarm"},
		why: () => "nothing was predicted"},
	{id: "ir", title: "Retention (IR)", y: "IR, %", scale: 100, solid: "ir", dashed: "ir_sgd", cuts: true,
		alarms: true, least: 0, most: 100, span: 10, rest: "ir",
		numbers: {y: "explained, %", least: -100, why: () => "it needs evaluation data of all the past, which live streams and programs have none of",
			note: "variance explained of evaluation data of everything seen so far; ▼: the rate was cut; ◆: a drift alarm"},
		note: "accuracy on evaluation data of everything seen so far; ▼: the rate was cut; ◆: a drift alarm",
		why: () => "it needs evaluation data of all the past, which live streams and programs have none of" +
			(runs.some((run) => run.summary.held_out !== null) ? "; right on held-out samples stands in for it" : "")},
	{id: "held", title: "Right on held-out samples", y: "validation accuracy, %", scale: 100, solid: "val_acc_ma", dashed: "val_acc_sgd",
		least: 0, most: 100, span: 10, rest: "held_out", live: true,
		numbers: {title: "Explained on held-out samples", y: "variance explained, %", least: -100,
			note: "by window, on samples of the stream that are held out from training; solid: best average, where there is one"},
		note: "validation accuracy by window, on samples of the stream that are held out from training; solid: best average, where there is one",
		why: whyNoWindow},
	{id: "lr", title: "Learning rate", y: "rate, log scale", scale: 1, solid: "lr", log: true, step: true, cuts: true,
		note: "▼: a cut; point at it to see why", why: () => "nothing was trained"},
	{id: "sigma", title: "What averaging gains (σ)", numbers: {y: "σ, points of variance explained"}, y: "σ, points of accuracy", scale: 100, solid: "sigma", level: "epsilon", cuts: true,
		note: "best average minus plain model on validation data; horizontal: ε, which C3 compares σ with", settle: 0.03, span: 1,
		why: whyNoAverage},
	{id: "loss", title: "Validation loss", numbers: {y: "loss, of standardised labels"}, y: "loss, nats", scale: 1, solid: "val_loss_ma", dashed: "val_loss_sgd", cuts: true,
		least: 0, note: "solid: best average, dashed: plain model", why: whyNoWindow},
	{id: "ft", title: "Right on what is still to come: forward transfer (FT)", y: "FT, %", scale: 100, solid: "ft", dashed: "ft_sgd",
		least: 0, most: 100, span: 10, rest: "ft",
		numbers: {title: "On what is still to come: forward transfer (FT)", y: "explained, %", least: -100,
			note: "variance explained of evaluation data still to come; it ends where the stream's end is near"},
		note: "accuracy on evaluation data still to come; it ends where the stream's end is near",
		why: () => "it needs evaluation data of what is to come"},
	{id: "gamma", title: "How far the averages reach back", y: "1/(1−γ), updates, log scale", scale: 1, solid: "gamma1", dashed: "gamma2",
		log: true, step: true, calm: true, dashes: " shorter", thin: true, map: (gamma) => gamma < 1 ? 1 / (1 - gamma) : null,
		note: "in updates; thick: the longer, thin: the shorter", why: whyNoAverage},
];

/* The large one: what methods are ranked by, or, of one method, what a reader asks first. */
function isHero(chart) {
	if (ofNumbers())
		return chart.id === "error";
	return chart.id === (groups.length > 1 && runs.some((run) => run.summary.late_ir !== null) ? "ir" : "le");
}

/* The large one first. Held-out samples stand in for what only evaluation data can tell. */
function chartsInOrder() {
	const kept = runs.some((run) => run.columns.ir);
	const target = ofNumbers() ? "number" : "class";
	return charts.filter((chart) => (!chart.live || !kept) && (!chart.of || chart.of === target))
		.map((chart) => target === "number" ? {...chart, ...chart.numbers} : chart).sort((a, b) => isHero(b) - isHero(a));
}

const patterns = {solid: null, dashed: [7, 4], dotted: [2, 3], shared: [14, 14]};
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
			if ((kind === "dotted" || (chart.blind && kind === "dashed")) && series.some((one) => one.kind === kind && sameNumbers(one.raw, curve.mean)))
				continue;
			const inUnit = (values) => values.map((value) => value === null ? null : unit(value)), middle = inUnit(curve.mean);
			series.push({
				group: g, kind: kind, x: curve.x, raw: curve.mean, mean: middle, told: middle,
				/* Equal lines: the later one is drawn with gaps, through which the first is seen. */
				shared: kind === "solid" && series.some((one) => one.kind === kind && sameNumbers(one.raw, curve.mean) && sameNumbers(one.x, curve.x)),
				band: curve.band && !(chart.calm && groups.length > 1),
				low: curve.band ? inUnit(curve.low) : middle, high: curve.band ? inUnit(curve.high) : middle,
			});
		}
	});
	if (isLog(chart, series))
		liftZeros(series);
	return series;
}

/* A log scale shows nothing that is not above 0. */
function isLog(chart, series) {
	const known = chart.log ? [].concat(...series.map((one) => one.raw)).filter((value) => value > 0) : [];
	return known.length > 0 && (chart.log !== "wide" || Math.max(...known) > 8 * Math.min(...known));
}

/* A rate of 0 lies on the ground, half as high as the lowest that is above it; the read-out says 0. */
function liftZeros(series) {
	const known = [].concat(...series.map((one) => one.low.concat(one.high))).filter((value) => value > 0);
	const ground = Math.min(...known) / 2, lift = (values) => values.map((value) => value === null || value > 0 ? value : ground);
	for (const one of series) {
		one.mean = lift(one.mean);
		one.low = lift(one.low);
		one.high = lift(one.high);
	}
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
	if (isLog(chart, series))
		return most > 2 * least ? [least / 1.6, most * 1.6] : [least / 3, most * 3];
	for (const level of levels) {
		least = Math.min(least, level.value, chart.mark ? Infinity : 0);
		most = Math.max(most, level.value);
	}
	return aroundOf(chart, least, most);
}

/* A line that does not move gets a span around it; no accuracy is below 0 or above 100 %. */
function aroundOf(chart, least, most) {
	const span = Math.max(most - least, 0), own = chart.span || Math.abs(most) || 1;
	if (span < own / 5) {
		least -= (own - span) / 2;
		most += (own - span) / 2;
		const up = chart.least === undefined ? 0 : Math.max(0, chart.least - least);
		const down = chart.most === undefined ? 0 : Math.max(0, most - chart.most);
		least += up - down;
		most += up - down;
	}
	const room = 0.06 * (most - least);
	return [least - room, most + room];
}

/* Round numbers some 40 pixels apart, written so that no two look alike, and none where no value can be. */
function valueTicks(chart) {
	return (least, most, pixels) => {
		const rough = (most - least) / Math.max(2, pixels / 40), power = Math.floor(Math.log10(rough));
		const step = [1, 2, 5, 10].map((x) => x * Math.pow(10, power)).find((x) => x >= rough * (1 - 1e-9));
		const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9)), ticks = [];
		for (let k = Math.ceil(least / step - 1e-9); k * step <= most + 1e-9 * step; k++) {
			const value = Number((k * step).toFixed(digits));
			if ((chart.least === undefined || value >= chart.least) && (chart.most === undefined || value <= chart.most))
				ticks.push({v: value, label: digits > 4 ? short(value) : value.toFixed(digits).replace("-", "−")});
		}
		return ticks;
	};
}

/* All labels of an axis have one unit. */
function iterations(x) {
	const most = lastIteration(), unit = most >= 1e7 ? 1e6 : most >= 1e4 ? 1e3 : 1;
	return Number((x / unit).toPrecision(6)) + (unit === 1 || x === 0 ? "" : unit === 1e3 ? " k" : " M");
}

/* Round numbers some 64 pixels apart, and the last iteration where it is in sight. */
function iterationTicks(least, most, pixels) {
	const last = lastIteration(), wanted = Math.max(2, pixels / 64), rough = (most - least) / wanted;
	const power = Math.pow(10, Math.floor(Math.log10(rough)));
	const step = Math.max(1, [1, 2, 5, 10].map((x) => x * power).find((x) => x >= rough));
	const ticks = [], place = (x) => (x - least) / (most - least) * pixels, ends = last >= least && last <= most * (1 + 1e-9);
	for (let x = Math.max(0, Math.ceil(least / step) * step); x <= most; x += step)
		if (!ends || x === last || place(last) - place(x) > 52)
			ticks.push({v: x, label: iterations(x)});
	if (ends && !ticks.some((tick) => tick.v === last))
		ticks.push({v: last, label: iterations(last)});
	return ticks;
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
		canvas.textAlign = "right";
		canvas.fillText(chart.mark || "ε", area.x + area.w - 4, y - 5);
	}
	canvas.restore();
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
		const kind = {solid: "", dashed: chart.dashes || " plain", dotted: chart.dots || ""}[one.kind];
		const value = (v) => chart.scale === 100 ? v.toFixed(2) : String(Number(v.toPrecision(5)));
		place.append(" · ");
		element("b", place, groups[one.group].name).style.color = colour(one.group);
		place.append(kind + " " + value(i < 0 ? point.yval : one.told[i]) + (chart.scale === 100 ? " %" : ""));
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

/* What a chart draws, as a table for other programs. */
function rowsOf(series, chart) {
	const rows = [["method", "line", "iteration", "mean", "least", "most"]];
	const lines = {solid: chart.solid, dashed: chart.dashed, dotted: chart.dotted};
	for (const one of series)
		one.x.forEach((x, i) => rows.push([groups[one.group].name, lines[one.kind] || one.kind, x, one.told[i],
			one.band ? one.low[i] : one.told[i], one.band ? one.high[i] : one.told[i]]));
	return rows;
}

function placeChart(chart, parent) {
	const card = element("div", parent, undefined, isHero(chart) ? "card hero" : "card");
	card.dataset.chart = chart.id;
	placeDownload(chart.id, element("h3", card, chart.title), () => rowsOf(seriesOf(chart), chart));
	/* The note and the values share a place, so that nothing moves under the pointer. */
	const words = element("div", card, undefined, groups.length > 1 ? "words tall" : "words");
	const rest = chart.rest && groups.length === 1 ? groupRest(groups[0], chart.rest) : "";
	/* Of no more predictions than that, the latest ones are all of them. */
	const few = chart.few && runs.every((run) => run.rests.le <= data.recent);
	element("div", words, (few ? chart.few : chart.note) + (rest ? "; at the end of " + rest : ""), "readout");
	const place = element("div", words, undefined, "readout value");
	const frame = element("div", card, undefined, "frame"), plot = element("div", frame, undefined, "plot");
	const layer = element("div", frame, undefined, "layer");
	frame.addEventListener("mouseleave", () => place.replaceChildren());
	drawLater(card, () => drawChart(chart, card, plot, layer, place));
}

/* What is not drawn, and why; of a run that goes on it may still come. */
function placeAbsent(absent) {
	const going = runs.some((run) => !run.ended), note = byId("absent");
	note.hidden = !absent.length;
	note.textContent = "Not drawn: " + absent.map((chart) => chart.title + ": " +
		(going && !runs.some((run) => run.columns.iteration) ? "nothing was evaluated yet" : chart.why())).join("; ") + "." +
		(going ? " A run is still going: what it measures appears with its next evaluation." : "");
}

function drawChart(chart, card, plot, layer, place) {
	const series = seriesOf(chart), levels = levelsOf(chart), table = tableOf(series);
	const named = isHero(chart) && groups.length > 1 && groups.length <= 12 && plot.clientWidth > 600, crowd = crowded();
	card.dataset.curves = series.length;
	const perSeries = {};
	series.forEach((one, s) => {
		const thin = chart.thin && one.kind === "dashed";
		perSeries[s] = {
			color: one.kind === "dotted" || (chart.blind && one.kind === "dashed") ? neutral() : colour(one.group),
			strokePattern: one.shared ? patterns.shared : thin ? null : patterns[one.kind],
			strokeWidth: thin ? 1 : one.kind !== "solid" || crowd ? 1.5 : isHero(chart) ? 2.5 : 2,
		};
	});
	const y = {axisLabelWidth: 54, ticker: isLog(chart, series) ? logTicks : valueTicks(chart)};
	const graph = new Dygraph(plot, table, {
		labels: ["x"].concat(series.map((one, s) => String(s))),
		series: perSeries,
		visibility: series.map((one) => groups[one.group].shown),
		legend: "never",
		connectSeparatedPoints: true,
		drawPoints: table.length < 60 && !chart.step,
		pointSize: 2,
		stepPlot: Boolean(chart.step),
		logscale: isLog(chart, series),
		dateWindow: zoomed,
		xRangePad: 2, /* what lies on the very edge gets no label */
		valueRange: rangeOf(chart, series, levels),
		rightGap: named ? Math.min(250, 20 + 7.5 * Math.max(...groups.map((group) => group.name.length))) : 8,
		axes: {x: {ticker: iterationTicks}, y: y},
		xlabel: "training iterations",
		ylabel: chart.y + (chart.log === "wide" && isLog(chart, series) ? ", log scale" : ""),
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
	for (const chart of chartsInOrder().filter(hasCurves))
		placeChart(chart, place);
	placeAbsent(chartsInOrder().filter((chart) => !hasCurves(chart)));
}
