/*
 * What the page shows: the JSON in #data, an object with `groups` (names), `runs`,
 * `paper` and `left_out`. A run has name, group, seed, state, epsilon, columns and
 * windows (arrays by name), summary, matrix, cuts, alarms, classes, confusions, explained (by retain explain, or absent), pairs, settings, facts and ledger. Runs
 * of a group differ in their seeds only, and are drawn as their mean and their range.
 * Whatever comes from outside enters the page as text, never as markup.
 */
let data, runs, groups;

function readData(text) {
	const shown = new Map((groups || []).map((group) => [group.name, group.shown]));
	data = JSON.parse(text);
	runs = data.runs;
	for (const run of runs)
		run.averaged = Boolean(run.columns.gamma1 || run.windows.gamma1);
	groups = data.groups.map((name, g) => ({
		name: name,
		runs: runs.filter((run) => run.group === g),
		shown: shown.get(name) !== false,
	}));
}

const dark = window.matchMedia("(prefers-color-scheme: dark)");
let chosenTheme = null, printing = false;

function theme() {
	if (printing)
		return "light";
	return chosenTheme || (dark.matches ? "dark" : "light");
}

/* After Okabe and Ito, darker for a light page: told apart by the colour-blind, too. */
const colours = {
	light: ["#0066b3", "#c94f00", "#008560", "#b8478b", "#8a6a00", "#6a4fc4", "#4d4d4d", "#a3262a"],
	dark: ["#5cb3f2", "#ff9d4d", "#3fd0a0", "#f090c8", "#e6d24a", "#b3a0ff", "#c8c8c8", "#ff8080"],
};

/* From no accuracy to the best one: one hue, ever darker (or, in the dark, ever lighter). */
const ramps = {
	light: ["#f2f5f9", "#b9d3ea", "#6ba6d6", "#2671b0", "#0b3a6b"],
	dark: ["#20262e", "#1f466b", "#2b76b0", "#6bb2e6", "#d6ecff"],
};

function colour(group) {
	return colours[theme()][group % colours.light.length];
}

function neutral() {
	return theme() === "dark" ? "#c8c8c8" : "#4d4d4d";
}

/* More groups in sight than there are colours. */
function crowded() {
	return groups.filter((group) => group.shown).length > colours.light.length;
}

function percent(x) {
	return (100 * x).toFixed(1);
}

/* Thin spaces between thousands. */
function count(x) {
	const parts = String(x).split(".");
	parts[0] = parts[0].replace(/\B(?=(\d{3})+$)/g, "\u2009");
	return parts.join(".");
}

function short(x) {
	if (x !== 0 && Math.abs(x) < 0.001)
		return Number(x.toPrecision(4)).toExponential().replace("e-", "e−");
	return String(Number(x.toPrecision(4)));
}

function element(tag, parent, text, className) {
	const made = document.createElement(tag);
	if (text !== undefined)
		made.textContent = text;
	if (className)
		made.className = className;
	parent.appendChild(made);
	return made;
}

function byId(id) {
	return document.getElementById(id);
}

function mean(values) {
	const known = values.filter((value) => value !== null && value !== undefined);
	return known.length ? known.reduce((a, b) => a + b, 0) / known.length : null;
}

/* Of a sample. */
function deviation(values) {
	const known = values.filter((value) => value !== null && value !== undefined);
	if (known.length < 2)
		return null;
	const middle = mean(known);
	if (known.every((x) => x === known[0]))
		return 0;
	return Math.sqrt(known.reduce((sum, x) => sum + (x - middle) * (x - middle), 0) / (known.length - 1));
}

/* A run's numbers under a name: by windows of validation where there are any, else by evaluations. */
function pointsOf(run, column) {
	if (run.windows[column])
		return {x: run.windows.iteration, y: run.windows[column]};
	return {x: run.columns.iteration || [], y: run.columns[column] || []};
}

/*
 * The curve of a group: at each iteration that a run of it has, mean, least and most
 * of the runs that have got that far. NULL if there is nothing.
 */
function curveOf(group, column) {
	const points = group.runs.map((run) => pointsOf(run, column));
	if (points.length === 1) {
		const x = [], y = [];
		points[0].y.forEach((value, i) => {
			if (value !== null) {
				x.push(points[0].x[i]);
				y.push(value);
			}
		});
		return x.length ? {x: x, mean: y, low: y, high: y, band: false} : null;
	}
	const at = new Map();
	for (const one of points)
		one.y.forEach((value, i) => {
			if (value === null)
				return;
			const sum = at.get(one.x[i]);
			if (!sum)
				at.set(one.x[i], [value, 1, value, value]);
			else
				at.set(one.x[i], [sum[0] + value, sum[1] + 1, Math.min(sum[2], value), Math.max(sum[3], value)]);
		});
	if (!at.size)
		return null;
	const x = Array.from(at.keys()).sort((a, b) => a - b), sums = x.map((one) => at.get(one));
	return {
		x: x, mean: sums.map((s) => s[0] / s[1]),
		low: sums.map((s) => s[2]), high: sums.map((s) => s[3]), band: true,
	};
}

/* Whether a group has so many cuts that marks of all of them would hide its lines. */
function manyCuts(group) {
	return mean(group.runs.map((run) => run.cuts.length)) > 12;
}

function sameNumbers(a, b) {
	return a.length === b.length && a.every((value, i) => value === b[i]);
}

/* The mean of a group's matrices, as far as they have the same form. */
function meanMatrix(group) {
	const all = group.runs.map((run) => run.matrix).filter((matrix) => matrix);
	if (all.length < 2)
		return all[0] || null;
	const same = all.filter((one) => one.bins === all[0].bins && one.seen.length === all[0].seen.length);
	return {
		bins: all[0].bins, seen: all[0].seen,
		cells: all[0].cells.map((row, r) => row.map((cell, b) => mean(same.map((one) => one.cells[r][b])))),
	};
}

function matrixOf(group) {
	if (group.matrix === undefined)
		group.matrix = meanMatrix(group);
	return group.matrix;
}

/* The mean and spread of a number of the summaries, or of anything that has one per run. */
function spreadOf(group, value) {
	const values = group.runs.map(value);
	return {mean: mean(values), deviation: deviation(values)};
}

/* A share, unless it is of a handful of samples, or its name says of more than there were: then it says nothing new. */
function measured(run, value, name) {
	const few = name === "recent" ? run.rests.le <= data.recent : run.rests[name] < data.least;
	return few ? null : value;
}

/* "13 samples": what a number of a run rests on, where it is few; "" where it is many or not known. */
function restOf(run, name) {
	const samples = run.rests[name];
	return samples && samples < data.few ? count(samples) + (samples === 1 ? " sample" : " samples") : "";
}

/* Of a group: where its runs rest on the same, or on the most of them. */
function groupRest(group, name) {
	const found = group.runs.map((run) => run.rests[name]).filter((samples) => samples);
	const run = found.length === group.runs.length && group.runs.find((one) => one.rests[name] === Math.max(...found));
	return run ? restOf(run, name) : "";
}

/* What a run is over, in words: as the terminal says it, or what settings and counts tell. */
function aboutOf(run) {
	const settings = new Map(run.settings), source = settings.get("stream.source"), classes = run.facts.classes;
	if (run.facts["data.about"])
		return run.facts["data.about"];
	if (!source)
		return "";
	return source === "stdin" ?
		"A live stream, " + count(run.summary.samples) + " labels" + (run.ended ? "" : " so far") +
			(classes ? ", " + count(classes) + " classes" : "") :
		source.replace(/^.*\//, "") + (run.summary.samples ? ": " + count(run.summary.samples) + " samples" + (run.ended ? "" : " so far") : "");
}

function settingsOf(group) {
	return new Map(group.runs[0].settings);
}

function sameValue(a, b) {
	return a === b || (a !== "" && b !== "" && Number(a) === Number(b));
}
