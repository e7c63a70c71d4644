/*
 * Draws the report from the JSON in #data: an object with `runs`, each with name,
 * config, epsilon, columns (arrays by name), summary, matrix and events. Whatever
 * comes from outside enters the page as text, never as markup.
 */
"use strict";
(function () {
	const runs = JSON.parse(document.getElementById("data").textContent).runs;
	const dark = window.matchMedia("(prefers-color-scheme: dark)");
	const shown = runs.map(() => true);
	let graphs = [];

	const colours = {
		light: ["#0066b3", "#c94f00", "#008560", "#b8478b", "#8a6a00", "#6a4fc4", "#4d4d4d", "#a3262a"],
		dark: ["#5cb3f2", "#ff9d4d", "#3fd0a0", "#f090c8", "#e6d24a", "#b3a0ff", "#c8c8c8", "#ff8080"],
	};

	/* From no accuracy to the best one: one hue, ever darker (or, in the dark, ever lighter). */
	const ramps = {
		light: ["#f2f5f9", "#b9d3ea", "#6ba6d6", "#2671b0", "#0b3a6b"],
		dark: ["#20262e", "#1f466b", "#2b76b0", "#6bb2e6", "#d6ecff"],
	};

	const charts = [
		{title: "Information retention", y: "IR, %", scale: 100, solid: "ir", dashed: "ir_sgd"},
		{title: "Learning efficacy", y: "LE, %", scale: 100, solid: "le", dotted: "blind",
			note: "dotted: the blind learner"},
		{title: "Forward transfer", y: "FT, %", scale: 100, solid: "ft", dashed: "ft_sgd"},
		{title: "Learning rate", y: "rate, log scale", scale: 1, solid: "lr", log: true, step: true},
		{title: "σ: what averaging gains", y: "σ, % accuracy", scale: 100, solid: "sigma",
			level: "epsilon", note: "horizontal: ε, which C3 compares σ with"},
		{title: "Validation loss", y: "loss, nats", scale: 1, solid: "val_loss_ma", dashed: "val_loss_sgd"},
	];

	const patterns = {solid: null, dashed: [7, 4], dotted: [2, 3]};

	const summary = [
		{name: "IR", unit: "%, at the end", key: "ir", format: percent},
		{name: "IR, late", unit: "%, last quarter", key: "ir_late", format: percent},
		{name: "IR, plain", unit: "%, last quarter", key: "ir_sgd_late", format: percent},
		{name: "LE", unit: "%", key: "le", format: percent},
		{name: "blind", unit: "%", key: "blind", format: percent},
		{name: "FT", unit: "%, mean", key: "ft_mean", format: percent},
		{name: "rate", unit: "at the end", key: "lr", format: (x) => String(Number(x.toPrecision(4)))},
		{name: "iterations", unit: "", key: "iteration", format: count},
		{name: "samples", unit: "", key: "samples", format: count},
		{name: "cost", unit: "SGD iterations", key: "cost", format: (x) => count(Math.round(x))},
		{name: "time", unit: "s", key: "seconds", format: (x) => count(Number(x.toFixed(x < 100 ? 1 : 0)))},
	];

	function percent(x) {
		return (100 * x).toFixed(2);
	}

	/* Thin spaces between thousands. */
	function count(x) {
		const parts = String(x).split(".");
		parts[0] = parts[0].replace(/\B(?=(\d{3})+$)/g, "\u2009");
		return parts.join(".");
	}

	function element(tag, parent, text) {
		const made = document.createElement(tag);
		if (text !== undefined)
			made.textContent = text;
		parent.appendChild(made);
		return made;
	}

	function theme() {
		return dark.matches ? "dark" : "light";
	}

	function colour(run) {
		return colours[theme()][run % colours.light.length];
	}

	function neutral() {
		return dark.matches ? "#c8c8c8" : "#4d4d4d";
	}

	function grid() {
		return dark.matches ? "#363940" : "#dededa";
	}

	function swatch(parent, run) {
		element("span", parent).className = "swatch";
		parent.lastChild.style.background = colour(run);
	}

	function drawNames() {
		const names = document.getElementById("names");
		names.replaceChildren();
		runs.forEach((run, i) => {
			const button = element("button", names);
			button.type = "button";
			button.setAttribute("aria-pressed", String(shown[i]));
			swatch(button, i);
			element("span", button, run.name);
			button.addEventListener("click", () => {
				shown[i] = !shown[i];
				button.setAttribute("aria-pressed", String(shown[i]));
				for (const graph of graphs)
					graph.showRun(i, shown[i]);
			});
		});
	}

	function drawSummary() {
		const table = document.getElementById("summary");
		const used = summary.filter((column) => runs.some((run) => run.summary[column.key] !== null));
		const head = element("tr", element("thead", table));
		const body = element("tbody", table);
		element("th", head, "run");
		for (const column of used) {
			const cell = element("th", head, column.name);
			element("small", cell, column.unit || "\u00a0");
		}
		for (const run of runs) {
			const row = element("tr", body);
			element("td", row, run.name);
			for (const column of used) {
				const value = run.summary[column.key];
				element("td", row, value === null ? "–" : column.format(value));
			}
		}
		document.getElementById("summary-note").textContent =
			"IR: accuracy on everything past. LE: accuracy on each step before its labels were seen; blind: " +
			"that of always saying the most frequent recent label. FT: accuracy on data still to come. " +
			"Late: mean of the evaluations in the run's last quarter.";
	}

	/* What a chart draws: series of points, each of one run's column. */
	function seriesOf(chart) {
		const series = [];
		const empty = (values) => values.every((value) => value === null);
		const known = (kind, values) => series.some((one) => one.kind === kind && String(one.values) === String(values));
		runs.forEach((run, i) => {
			for (let kind of ["dotted", "dashed", "solid"]) {
				const values = chart[kind] && run.columns[chart[kind]], solid = run.columns[chart.solid];
				const column = chart[kind];
				if (!values || empty(values))
					continue;
				/* Without averages the plain model is the one that serves: one line, and solid. */
				if (kind === "dashed" && String(values) === String(solid))
					continue;
				if (kind === "dashed" && empty(solid))
					kind = "solid";
				/* Runs over one stream share their blind learner. */
				if (kind === "dotted" && known(kind, values))
					continue;
				series.push({run: i, kind: kind, column: column, values: values});
			}
		});
		return series;
	}

	/*
	 * One table for all series of a chart: a row for each iteration that any of them has, and
	 * rows for the beginning and the end, so that all charts have the same axis.
	 */
	function tableOf(chart, series) {
		const rows = new Map();
		for (const x of [0, Math.max(...runs.map((run) => run.summary.iteration))])
			rows.set(x, [x].concat(series.map(() => null)));
		series.forEach((one, s) => {
			one.values.forEach((value, r) => {
				const x = runs[one.run].columns.iteration[r];
				if (value === null || (chart.log && value <= 0))
					return;
				if (!rows.has(x))
					rows.set(x, [x].concat(series.map(() => null)));
				rows.get(x)[s + 1] = value * chart.scale;
			});
		});
		return Array.from(rows.values()).sort((a, b) => a[0] - b[0]);
	}

	function levelsOf(chart) {
		return runs
			.map((run, i) => ({run: i, value: chart.level ? run[chart.level] : null}))
			.filter((level) => level.value !== null)
			.map((level) => ({run: level.run, value: level.value * chart.scale}));
	}

	/* Rates want room above and below on a log scale; levels must be in sight. */
	function rangeOf(chart, table, levels) {
		let least = Infinity, most = -Infinity;
		for (const row of table)
			for (const value of row.slice(1))
				if (value !== null) {
					least = Math.min(least, value);
					most = Math.max(most, value);
				}
		if (chart.log)
			return [least / 1.6, most * 1.6];
		if (!levels.length)
			return null;
		for (const level of levels) {
			least = Math.min(least, level.value, 0);
			most = Math.max(most, level.value);
		}
		const room = 0.06 * (most - least || 1);
		return [least - room, most + room];
	}

	function short(x) {
		if (x !== 0 && Math.abs(x) < 0.001)
			return x.toExponential().replace("e-", "e−");
		return String(Number(x.toPrecision(4)));
	}

	function iterations(x) {
		if (x >= 1e6)
			return Number((x / 1e6).toPrecision(4)) + " M";
		if (x >= 1e4)
			return Number((x / 1e3).toPrecision(4)) + " k";
		return String(x);
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

	function drawLevels(chart, levels, canvas, graph) {
		const cuts = runs.length === 1 ? runs[0].events.filter((event) => event.kind === "cut") : [];
		const top = graph.yAxisRange(0)[1], bottom = graph.yAxisRange(0)[0];
		canvas.save();
		canvas.lineWidth = 1;
		canvas.strokeStyle = dark.matches ? "#6b6f78" : "#b4b4ae";
		for (const cut of cuts) {
			canvas.beginPath();
			canvas.setLineDash([2, 3]);
			canvas.moveTo(graph.toDomXCoord(cut.iteration), graph.toDomYCoord(top));
			canvas.lineTo(graph.toDomXCoord(cut.iteration), graph.toDomYCoord(bottom));
			canvas.stroke();
		}
		canvas.setLineDash([10, 4]);
		for (const level of levels) {
			if (!shown[level.run])
				continue;
			const y = graph.toDomYCoord(level.value), area = graph.getArea();
			canvas.beginPath();
			canvas.strokeStyle = canvas.fillStyle = runs.length === 1 ? neutral() : colour(level.run);
			canvas.moveTo(area.x, y);
			canvas.lineTo(area.x + area.w, y);
			canvas.stroke();
			canvas.font = "12px system-ui, sans-serif";
			canvas.fillText("ε", area.x + area.w - 12, y - 4);
		}
		canvas.restore();
	}

	function readOut(place, chart, series, x, points) {
		if (!points.length)
			return;
		place.replaceChildren();
		element("b", place, "iteration " + count(x));
		for (const point of points) {
			const one = series[Number(point.name)];
			const kind = {solid: "", dashed: " plain", dotted: " blind"}[one.kind];
			place.append(" · ");
			if (runs.length > 1) {
				element("b", place, runs[one.run].name).style.color = colour(one.run);
				place.append(kind + " ");
			} else {
				place.append(one.column + " ");
			}
			place.append(chart.scale === 100 ? point.yval.toFixed(2) + " %" : String(Number(point.yval.toPrecision(5))));
		}
	}

	function drawChart(chart, parent) {
		const series = seriesOf(chart), table = tableOf(chart, series), levels = levelsOf(chart);
		if (!series.length)
			return;
		const card = element("div", parent);
		card.className = "card";
		element("h3", card, chart.title);
		element("div", card, chart.note || "").className = "readout";
		const plot = element("div", card);
		plot.className = "plot";
		/* Below, with room for a few runs, so that nothing moves under the pointer. */
		const place = element("div", card);
		place.className = runs.length > 1 ? "readout tall" : "readout";
		const perSeries = {};
		series.forEach((one, s) => {
			perSeries[s] = {
				color: one.kind === "dotted" ? neutral() : colour(one.run),
				strokePattern: patterns[one.kind],
				strokeWidth: one.kind === "solid" ? 2 : 1.5,
			};
		});
		const y = {
			axisLabelFormatter: (value) => short(Number(value.toPrecision(6))),
			axisLabelWidth: 52,
		};
		if (chart.log)
			y.ticker = logTicks;
		const graph = new Dygraph(plot, table, {
			labels: ["x"].concat(series.map((one, s) => String(s))),
			series: perSeries,
			visibility: series.map((one) => shown[one.run]),
			legend: "never",
			connectSeparatedPoints: true,
			drawPoints: table.length < 60 && !chart.step,
			pointSize: 2,
			stepPlot: Boolean(chart.step),
			logscale: Boolean(chart.log),
			valueRange: rangeOf(chart, table, levels),
			axes: {x: {axisLabelFormatter: iterations, pixelsPerLabel: 80}, y: y},
			xlabel: "iterations",
			ylabel: chart.y,
			xLabelHeight: 16,
			yLabelWidth: 16,
			axisLabelFontSize: 12,
			axisLineColor: dark.matches ? "#6b6f78" : "#9c9c96",
			gridLineColor: grid(),
			highlightCircleSize: 4,
			underlayCallback: (canvas, area, drawn) => drawLevels(chart, levels, canvas, drawn),
			highlightCallback: (event, x, points) => readOut(place, chart, series, x, points),
			unhighlightCallback: () => place.replaceChildren(),
		});
		graph.showRun = (run, on) => {
			graph.setVisibility(series.map((one, s) => s).filter((s) => series[s].run === run), on);
		};
		graphs.push(graph);
	}

	function mix(ramp, share) {
		const at = Math.min(Math.max(share, 0), 1) * (ramp.length - 1);
		const low = Math.min(Math.floor(at), ramp.length - 2);
		const part = (hex, k) => parseInt(hex.substr(1 + 2 * k, 2), 16);
		return [0, 1, 2].map((k) =>
			Math.round(part(ramp[low], k) + (at - low) * (part(ramp[low + 1], k) - part(ramp[low], k))));
	}

	function bestCell() {
		let best = 0;
		for (const run of runs)
			for (const row of run.matrix ? run.matrix.cells : [])
				for (const value of row)
					best = Math.max(best, value === null ? 0 : value);
		return best || 1;
	}

	/* Each row from the time of the evaluation before it to its own, the first one lowest. */
	function paintMap(canvas, matrix, most) {
		const box = canvas.getBoundingClientRect(), density = window.devicePixelRatio || 1;
		const width = canvas.width = Math.max(1, Math.round(box.width * density));
		const height = canvas.height = Math.max(1, Math.round(box.height * density));
		const draw = canvas.getContext("2d");
		const edges = rowEdges(matrix);
		matrix.cells.forEach((row, r) => {
			const bottom = Math.round(height * (1 - edges[r])), top = Math.round(height * (1 - edges[r + 1]));
			row.forEach((value, b) => {
				const left = Math.round(b * width / matrix.bins), right = Math.round((b + 1) * width / matrix.bins);
				if (value === null)
					return;
				draw.fillStyle = "rgb(" + mix(ramps[theme()], value / most).join() + ")";
				draw.fillRect(left, top, right - left, bottom - top);
			});
		});
		draw.strokeStyle = dark.matches ? "#ffb066" : "#c94f00";
		draw.lineWidth = 1.5 * density;
		draw.beginPath();
		matrix.seen.forEach((seen, r) => {
			draw.moveTo(seen * width, height * (1 - edges[r]));
			draw.lineTo(seen * width, height * (1 - edges[r + 1]));
			if (r + 1 < matrix.seen.length)
				draw.lineTo(matrix.seen[r + 1] * width, height * (1 - edges[r + 1]));
		});
		draw.stroke();
	}

	function rowEdges(matrix) {
		return matrix.cells.map((row, r) => r / matrix.cells.length).concat(1);
	}

	function drawMatrix(run, parent, most) {
		const matrix = run.matrix;
		const card = element("div", parent);
		card.className = "card";
		element("h3", card, run.name);
		const place = element("div", card);
		place.className = "readout";
		const map = element("div", card);
		map.className = "map";
		const side = element("div", map);
		side.className = "side";
		element("span", side, "last");
		element("span", side, "evaluation").className = "turned";
		element("span", side, "first");
		const canvas = element("canvas", map);
		const below = element("div", map);
		below.className = "below";
		element("span", below, "begin");
		element("span", below, "time of the data");
		element("span", below, "end of the stream");
		const scale = element("div", card);
		scale.className = "scale";
		element("span", scale, "0 %");
		element("i", scale).style.background = "linear-gradient(to right, " + ramps[theme()].join() + ")";
		element("span", scale, percent(most) + " %");
		paintMap(canvas, matrix, most);
		canvas.addEventListener("mousemove", (event) => {
			const box = canvas.getBoundingClientRect();
			const r = Math.floor((1 - (event.clientY - box.top) / box.height) * matrix.cells.length);
			const b = Math.floor((event.clientX - box.left) / box.width * matrix.bins);
			const value = matrix.cells[r] === undefined ? undefined : matrix.cells[r][b];
			if (value === undefined)
				return;
			place.textContent = "model at " + (100 * matrix.seen[r]).toFixed(1) + " % of the stream, data from " +
				(100 * b / matrix.bins).toFixed(1) + " to " + (100 * (b + 1) / matrix.bins).toFixed(1) + " %: " +
				(value === null ? "no data" : percent(value) + " %");
		});
		canvas.addEventListener("mouseleave", () => {
			place.textContent = "";
		});
	}

	function drawRuns() {
		const place = document.getElementById("runs");
		for (const run of runs) {
			element("h3", place, run.name);
			if (run.events.length) {
				const details = element("details", place);
				element("summary", details, run.events.length + (run.events.length === 1 ? " event" : " events"));
				const wide = element("div", details);
				wide.className = "wide";
				const table = element("table", wide);
				table.className = "events";
				for (const event of run.events) {
					const row = element("tr", table);
					element("td", row, "iteration " + count(event.iteration));
					element("td", row, event.kind);
					element("td", row, event.text);
				}
			}
			if (run.config) {
				const details = element("details", place);
				element("summary", details, "configuration");
				element("pre", details, run.config);
			}
		}
	}

	function draw() {
		const place = document.getElementById("charts"), maps = document.getElementById("matrices");
		const most = bestCell(), mapped = runs.filter((run) => run.matrix && run.matrix.cells.length);
		for (const graph of graphs)
			graph.destroy();
		graphs = [];
		place.replaceChildren();
		maps.replaceChildren();
		drawNames();
		for (const chart of charts)
			drawChart(chart, place);
		document.getElementById("matrix-section").hidden = !mapped.length;
		for (const run of mapped)
			drawMatrix(run, maps, most);
	}

	if (runs.length === 1)
		document.title = runs[0].name + " – " + document.title;
	drawSummary();
	drawRuns();
	draw();
	dark.addEventListener("change", draw);
})();
