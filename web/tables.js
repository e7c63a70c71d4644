/* The page's words and tables: what came out, what it cost, what it was made with. */

/* `single`: too much for a table of several methods. `rest`: by what name `rests` has the samples that it was measured on. `means`: what the words say in short. */
const summaryColumns = [
	{name: "accuracy (LE)", unit: "%", of: (run) => run.summary.le, format: percent, rest: "le",
		means: "learning efficacy: accuracy on each time step's samples, predicted before their labels were seen"},
	{name: "… of the last 1\u00a0000", unit: "%", of: (run) => measured(run, run.summary.recent, "recent"), format: percent,
		means: "the same, of the latest 1\u00a0000 predictions only"},
	{name: "… on albums of others", unit: "%", of: (run) => run.summary.le_album, format: percent,
		means: "the same, on the first album of each time step by another user"},
	{name: "… by guessing", unit: "%", of: (run) => run.summary.blind, format: percent, rest: "blind",
		means: "the same for always saying the most frequent recent label, whatever the input"},
	{name: "… same as the last", unit: "%", single: true, of: (run) => run.summary.same, format: percent, rest: "same",
		means: "the same for always saying the last label before each time step"},
	{name: "… most frequent", unit: "%", single: true, of: (run) => run.summary.most, format: percent, rest: "most",
		means: "the same for always saying the most frequent label so far"},
	{name: "… by the order of labels", unit: "%", single: true, of: (run) => run.summary.chain, format: percent, rest: "chain",
		means: "the same for a model of the last two labels that sees no input: what their order alone tells"},
	{name: "… kappa temporal", unit: "", single: true, of: (run) => run.summary.kappa, format: (x) => x.toFixed(2),
		means: "0: no better than repeating the last label; 1: always right"},
	{name: "balanced accuracy", unit: "%", of: (run) => run.summary.balanced, format: percent,
		means: "for uneven classes: the share recognised before the label, averaged over classes"},
	{name: "F1, mean of classes", unit: "%", single: true, of: (run) => run.summary.f1, format: percent,
		means: "F1 of a class is the harmonic mean of its precision and recall before the label"},
	{name: "… of the rarer class", unit: "%", single: true, of: (run) => run.summary.f1_rare, format: percent,
		means: "F1 of the rarer of two classes"},
	{name: "AUC", unit: "", of: (run) => run.summary.auc, format: (x) => x.toFixed(3),
		means: "the chance that a sample of the rarer class gets a higher probability of it than one of the other, latest 10\u00a0000 predictions"},
	{name: "recall at a budget", unit: "%", of: (run) => run.summary.alert_recall, format: percent,
		means: "share of the rarer class caught if eval.alerts of the samples raise an alert, by default as many as there are of that class; latest 10\u00a0000"},
	{name: "retention (IR)", unit: "%, at the end", of: (run) => measured(run, run.summary.ir, "ir"), format: percent, rest: "ir",
		means: "information retention: accuracy on evaluation data from all the past, which is never trained on"},
	{name: "retention, late (IR)", unit: "%, last quarter", of: (run) => measured(run, run.summary.late_ir, "late_ir"), format: percent, bar: true, rest: "late_ir", upTo: true,
		means: "mean of “retention” over the last quarter of evaluations"},
	{name: "… by the plain model", unit: "%, last quarter", of: (run) => run.averaged ? run.summary.late_ir_sgd : null, format: percent,
		means: "“retention, late” of the SGD model inside the same run, without its average"},
	{name: "right on held-out samples", unit: "%", of: (run) => run.summary.ir === null ? run.summary.held_out : null, format: percent, rest: "held_out",
		means: "validation accuracy, mean of the latest window, on samples of the stream that are held out from training"},
	{name: "next (FT)", unit: "%, at the end", of: (run) => measured(run, run.summary.ft, "ft"), format: percent, rest: "ft",
		means: "forward transfer: accuracy on evaluation data still to come, the last that could be measured"},
	{name: "next, late (FT)", unit: "%, last quarter", of: (run) => measured(run, run.summary.late_ft, "late_ft"), format: percent, rest: "late_ft", upTo: true,
		means: "mean of “next” over the last quarter of evaluations that have it"},
	{name: "drift alarms", unit: "", of: (run) => run.summary.alarms, format: short,
		means: "how often predictions became clearly worse than before"},
	{name: "cost", unit: "per iteration", of: (run) => run.summary.cost_per_iteration, format: (x) => x.toFixed(2),
		means: "compute for learning; 1 is plain SGD"},
	{name: "time", unit: "s", of: (run) => run.summary.seconds, alone: true, format: (x) => count(Number(x < 1 ? x.toPrecision(1) : x.toFixed(x < 100 ? 1 : 0))),
		means: "of the whole run, in seconds"},
];

const whole = (x) => count(Math.round(x));

function ledgerOf(name) {
	return (run) => run.ledger && run.ledger[name] !== undefined ? run.ledger[name] : null;
}

/* What it took: settings that changed on the way, and passes over batches. */
const costRows = [
	{name: "iterations", of: (run) => run.summary.iteration, format: whole},
	{name: "learning rate at the end", of: (run) => run.summary.lr, format: short},
	{name: "cuts of the rate", of: (run) => run.cuts.length || null, format: short},
	{name: "first cut, iteration", of: (run) => run.cuts.length ? run.cuts[0].iteration : null, format: whole},
	{name: "forward passes, training", of: ledgerOf("train"), format: whole},
	{name: "forward passes, validation", of: ledgerOf("validate"), format: whole},
	{name: "forward passes, statistics of averages", of: ledgerOf("statistics"), format: whole},
	{name: "backward passes", of: ledgerOf("backward"), format: whole},
	{name: "updates", of: ledgerOf("updates"), format: whole},
	{name: "updates of averages", of: ledgerOf("averages"), format: whole},
	{name: "forward passes, predicting", of: ledgerOf("predict"), format: whole},
	{name: "forward passes, evaluating", of: ledgerOf("evaluate"), format: whole},
	{name: "samples kept, to train and validate on", of: (run) => run.summary.kept, format: whole},
	{name: "… of them to validate on", of: ledgerOf("kept_validation"), format: whole},
];

function swatch(parent, group) {
	element("span", parent, undefined, "swatch").style.background = colour(group);
}

function drawHead() {
	const going = runs.filter((run) => !run.ended), notes = byId("notes");
	byId("many-cuts").hidden = !groups.some(manyCuts);
	document.title = (groups.length === 1 ? [aboutOf(runs[0]).split(": ")[0], groups[0].name].filter((words) => words).join(", ") + " – " : "") +
		"retain report";
	byId("headline").textContent = headline();
	drawAbout();
	notes.replaceChildren();
	for (const run of going.slice(0, 8))
		element("p", notes, run.name + ": " + run.state + ", at iteration " + count(run.summary.iteration) + ".", "warning");
	if (going.length > 8)
		element("p", notes, "… and " + (going.length - 8) + " more that have not ended.", "warning");
	for (const sentence of data.left_out)
		element("p", notes, "Left out: " + sentence, "warning");
}

/* The data, once where all runs are over the same; of a single method also what was chosen. */
function drawAbout() {
	const place = byId("about"), said = new Set();
	place.replaceChildren();
	for (const run of runs) {
		const words = aboutOf(run);
		if (words && !said.has(words) && said.size < 4)
			element("p", place, words);
		said.add(words);
	}
	if (groups.length === 1 && runs.length && runs[0].facts.choice)
		element("p", place, runs[0].facts.choice, "note");
}

function drawNames() {
	const names = byId("names");
	names.replaceChildren();
	groups.forEach((group, g) => {
		const button = element("button", names);
		button.type = "button";
		button.setAttribute("aria-pressed", String(group.shown));
		swatch(button, g);
		element("span", button, group.name + (group.runs.length > 1 ? " (" + group.runs.length + " seeds)" : ""));
		button.addEventListener("click", () => {
			group.shown = !group.shown;
			button.setAttribute("aria-pressed", String(group.shown));
			drawFigures();
		});
		for (const event of ["mouseenter", "focus"])
			button.addEventListener(event, () => singleOut(g));
		for (const event of ["mouseleave", "blur"])
			button.addEventListener(event, () => singleOut(null));
	});
}

/* Names of keys and methods may go on in the next line after a dot or a plus. */
function breakable(cell, name) {
	for (const part of name.split(/(?<=[.+])/)) {
		cell.append(part);
		element("wbr", cell);
	}
	return cell;
}

function head(table, first, columns) {
	const row = element("tr", element("thead", table));
	element("th", row, first);
	for (const column of columns) {
		const cell = breakable(element("th", row), column.name);
		if (column.unit !== undefined)
			element("small", cell, column.unit || "\u00a0");
	}
	return element("tbody", table);
}

function valueOf(column, one, rest) {
	if (one.mean === null)
		return "–";
	const unit = /^(%|s$)/.exec(column.unit);
	return column.format(one.mean) + (unit ? "\u00a0" + unit[0] : "") +
		(rest ? " (of " + (column.upTo ? "up to " : "") + rest + ")" : "");
}

/* One method: a number a line, with what it says. */
function drawNumbers(table, used) {
	for (const column of used) {
		const row = element("tr", table), one = spreadOf(groups[0], column.of);
		element("th", row, column.name).scope = "row";
		const cell = element("td", row, valueOf(column, one, column.rest ? groupRest(groups[0], column.rest) : ""));
		if (one.deviation && !column.alone)
			element("small", cell, "± " + column.format(one.deviation));
		element("td", row, column.means, "means");
	}
}

function drawMethods(table, used) {
	const most = Math.max(...groups.map((group) => spreadOf(group, judge().of).mean || 0)) || 1;
	const body = head(table, "method", used);
	for (const g of ranked()) {
		const row = element("tr", body), name = element("td", row);
		swatch(name, g);
		name.append(" " + groups[g].name);
		for (const column of used) {
			const one = spreadOf(groups[g], column.of), cell = element("td", row, one.mean === null ? "–" : column.format(one.mean));
			const rest = column.rest && one.mean !== null ? groupRest(groups[g], column.rest) : "";
			cell.dataset.name = column.name + (column.unit ? ", " + column.unit : "");
			if (one.mean !== null && one.deviation && !column.alone)
				element("small", cell, "± " + column.format(one.deviation));
			if (rest)
				element("small", cell, "of " + (column.upTo ? "up to " : "") + rest);
			if (column.bar && one.mean !== null) {
				cell.className = "bar";
				cell.style.setProperty("--share", 100 * one.mean / most + "%");
				cell.style.setProperty("--colour", colour(g));
			}
		}
	}
}

function sentence(words) {
	return words[0].toUpperCase() + words.slice(1) + ".";
}

/* Of numbers the first few are errors; what the others have in percent is the share of variance explained. */
function columnsOfKind() {
	return ofNumbers() ? numberColumns.concat(summaryColumns.slice(summaryColumns.findIndex((column) => column.rest === "ir")).map((column) => ({
		...column, bar: false, name: column.name.replace("right on held-out", "explained on held-out"),
		means: column.means.replace(/(validation )?accuracy/, "variance explained"),
	}))) : summaryColumns;
}

function drawSummary() {
	const table = byId("summary"), used = columnsOfKind().filter((column) => runs.some((run) => {
		const value = column.of(run);
		return value !== null && value !== undefined && !(column.single && groups.length > 1);
	}));
	table.replaceChildren();
	table.className = groups.length === 1 ? "numbers" : "stack";
	if (groups.length === 1)
		drawNumbers(element("tbody", table), used);
	else
		drawMethods(table, used);
	byId("summary-note").textContent = groups.length === 1 ? (runs.length > 1 ? "Mean of " + runs.length + " seeds ± standard deviation." : "") :
		rankedBy() + " " + used.filter((column) => column.name[0] !== "…" || column.name.includes("guess"))
			.map((column) => sentence(column.name.replace("… ", "") + ": " + column.means)).join(" ") +
			(runs.length > groups.length ? " ±: standard deviation over seeds." : "");
}

/* Of one run, the first of the shown method that is best: how classes were recognised, and what they were taken for. */
function drawClasses() {
	const order = ranked().filter((g) => groups[g].shown), g = order.find((one) => groups[one].runs.some((run) => run.classes.length));
	byId("classes-section").hidden = g === undefined;
	if (g === undefined)
		return;
	const run = groups[g].runs.find((one) => one.classes.length), classes = byId("classes"), confusions = byId("confusions");
	const share = (part, whole) => whole ? percent(part / whole) : "–";
	byId("classes-note").textContent = run.name + ": of predictions that were made before the label. Recognised: of the class's samples, " +
		"how many it was said for (recall). Right when said: precision." +
		(run.class_count > run.classes.length ? " The " + run.classes.length + " most frequent of " + count(run.class_count) + " classes." : "");
	byId("classes-title").replaceChildren("How they were recognised");
	placeDownload("classes", byId("classes-title"), () => [["class", "samples", "recognised", "said"]].concat(
		run.classes.map((one) => [one.name, one.seen, one.right, one.said])));
	classes.replaceChildren();
	confusions.replaceChildren();
	const body = head(classes, "class", [{name: "samples"}, {name: "recognised", unit: "%"}, {name: "right when said", unit: "%"}]);
	for (const one of run.classes) {
		const row = element("tr", body);
		for (const words of [one.name, count(one.seen), share(one.right, one.seen), share(one.right, one.said)])
			element("td", row, words);
	}
	byId("confusions-title").hidden = !run.confusions.length;
	if (!run.confusions.length)
		return;
	const pairs = head(confusions, "class", [{name: "taken for"}, {name: "times"}]);
	byId("confusions-title").replaceChildren("Largest confusions");
	placeDownload("confusions", byId("confusions-title"), () => [["class", "taken_for", "times"]].concat(
		run.confusions.map((one) => [one.label, one.predicted, one.times])));
	for (const one of run.confusions) {
		const row = element("tr", pairs);
		for (const words of [one.label, one.predicted, count(one.times)])
			element("td", row, words);
	}
}

/* What columns are worth, of the best shown run that retain explain was asked about. */
function drawExplained() {
	const run = ranked().filter((g) => groups[g].shown).flatMap((g) => groups[g].runs).find((one) => one.explained);
	byId("explained-section").hidden = !run;
	if (!run)
		return;
	const all = run.explained, table = byId("explained"), points = run.target === "class";
	const worth = (value) => value === null ? "–" : points ? (100 * value).toFixed(1) : quantity(value);
	const times = all.loss.map((_, i) => all.loss.length === 1 ? "now" : i + 1 + " of " + all.loss.length);
	byId("explained-note").textContent = run.name + ": how " + (points ? "many points accuracy falls" : "much the mean absolute error rises") +
		" when a column takes another row's value; before the label, on " + count(all.rows) + " rows. Now is the last " +
		"part of the stream; ± its standard error." +
		(all.column_count > all.columns.length ? " The first " + all.columns.length + " of " + count(all.column_count) + " columns." : "");
	byId("explained-title").replaceChildren("By column, now and over time");
	placeDownload("columns", byId("explained-title"), () => [["column", "now", "now_error", "all"].concat(times)].concat(
		all.columns.map((one) => [one.name, one.now, one.now_error, one.all].concat(one.ranges))));
	table.replaceChildren();
	const body = head(table, "column", [{name: "now"}, {name: "±"}, {name: "all"}].concat(times.map((name) => ({name}))));
	for (const one of all.columns) {
		const row = element("tr", body);
		for (const words of [one.name, worth(one.now), worth(one.now_error), worth(one.all)].concat(one.ranges.map(worth)))
			element("td", row, words);
	}
}

/* A method a column: there are fewer of them than of rows. */
function drawLedger() {
	const table = byId("ledger");
	byId("ledger-section").hidden = !runs.length;
	table.replaceChildren();
	const body = head(table, "", groups.map((group) => ({name: group.name})));
	for (const line of costRows) {
		const values = groups.map((group) => spreadOf(group, line.of).mean);
		if (values.every((value) => !value))
			continue;
		const row = element("tr", body);
		element("td", row, line.name);
		for (const value of values)
			element("td", row, value === null ? "–" : line.format(value));
	}
	byId("ledger-note").textContent = (runs.length > groups.length ? "Mean over the seeds. " : "") +
		(runs.some((run) => run.ledger) ? "A pass is over a batch. Predicting and evaluating are not part of the cost of learning." :
			"Passes are counted when a run ends.");
}

/* Keys in which not all groups agree. */
function drawDifferences() {
	const table = byId("differences"), all = groups.map(settingsOf), keys = new Set();
	for (const settings of all)
		for (const key of settings.keys())
			if (key !== "run.seed" && all.some((other) => other.get(key) !== settings.get(key)))
				keys.add(key);
	byId("differences-section").hidden = !keys.size;
	table.replaceChildren();
	const body = head(table, "key", groups.map((group) => ({name: group.name})));
	for (const key of keys) {
		const row = element("tr", body);
		breakable(element("td", row), key);
		for (const settings of all)
			element("td", row, settings.has(key) ? settings.get(key) : "–");
	}
}

/* run.iterations as it was made, where another key decides. */
function madeOf(group) {
	const settings = settingsOf(group), run = group.runs[0];
	if (["run.step_epochs", "run.budget"].some((key) => Number(settings.get(key)) > 0) && run.summary.step > 0)
		settings.set("run.iterations", String(Number((run.summary.iteration / run.summary.step).toPrecision(3))));
	return settings;
}

function drawPaper() {
	const table = byId("paper"), all = groups.map(madeOf);
	byId("paper-section").hidden = !data.paper.length;
	const different = data.paper.filter(([key, value]) =>
		all.some((settings) => settings.has(key) && !sameValue(settings.get(key), value)));
	table.replaceChildren();
	byId("paper-note").textContent = different.length ?
		"Keys in which a run differs from the paper's experiment on CLOC (39 million photos, ResNet-50). " +
		"Keys that the paper leaves open are not listed." :
		"All keys that the paper names are as in its experiment on CLOC.";
	const body = head(table, "key", [{name: "the paper"}].concat(groups.map((group) => ({name: group.name}))));
	for (const [key, value] of different) {
		const row = element("tr", body);
		breakable(element("td", row), key);
		element("td", row, value);
		for (const settings of all) {
			const own = settings.has(key) ? settings.get(key) : "–";
			element("td", row, own, sameValue(own, value) ? "faint" : "");
		}
	}
}

function drawOrigins() {
	const table = byId("origins");
	const facts = [["version", "version"], ["isa", "instructions"], ["threads", "threads"],
		["data.samples", "samples"], ["data.evaluation_samples", "evaluation"], ["data.classes", "classes"],
		["data.digest", "data digest"]].filter((fact) => runs.some((run) => run.facts[fact[0]] !== undefined));
	table.replaceChildren();
	table.className = "settings stack";
	const titles = ["run", "seed", "state"].concat(facts.map((fact) => fact[1]), "folder");
	const body = head(table, "run", [{name: "seed"}, {name: "state"}].concat(facts.map((fact) => ({name: fact[1]}))).concat({name: "folder"}));
	for (const run of runs) {
		const row = element("tr", body);
		element("td", row, run.name);
		element("td", row, run.seed);
		element("td", row, run.state);
		for (const fact of facts) {
			const value = run.facts[fact[0]];
			element("td", row, value === undefined || value === null ? "–" : typeof value === "number" ? count(value) : value);
		}
		element("td", row, run.folder, "path");
		titles.forEach((title, i) => {
			row.children[i].dataset.name = title;
		});
	}
}

function iniOf(settings) {
	let section = null, text = "";
	for (const [key, value] of settings) {
		const dot = key.indexOf("."), name = key.slice(0, dot);
		if (name !== section)
			text += (section === null ? "[" : "\n[") + name + "]\n";
		section = name;
		text += key.slice(dot + 1) + " = " + value + "\n";
	}
	return text;
}

function drawRuns() {
	const place = byId("runs");
	place.replaceChildren();
	for (const run of runs) {
		if (run.cuts.length) {
			const details = element("details", place);
			const line = element("summary", details, run.name + ": " + run.cuts.length + (run.cuts.length === 1 ? " cut" : " cuts") + " of the rate");
			placeDownload("cuts", line, () => [["iteration", "before", "after"]].concat(
				run.cuts.map((one) => [one.iteration, one.before, one.after])));
			const table = element("table", element("div", details, undefined, "wide"), undefined, "events");
			for (const cut of run.cuts) {
				const row = element("tr", table);
				element("td", row, "iteration " + count(cut.iteration));
				element("td", row, cut.text);
			}
		}
		if (run.alarms.length) {
			const details = element("details", place);
			const line = element("summary", details, run.name + ": " + run.alarms.length + " drift alarm" + (run.alarms.length === 1 ? "" : "s"));
			placeDownload("alarms", line, () => [["iteration", "sample", "error_before", "error_after"]].concat(
				run.alarms.map((one) => [one.iteration, one.sample, one.before, one.after])));
			const table = element("table", element("div", details, undefined, "wide"), undefined, "events");
			for (const alarm of run.alarms) {
				const row = element("tr", table);
				element("td", row, "iteration " + count(alarm.iteration));
				element("td", row, alarm.text);
			}
		}
		const details = element("details", place);
		element("summary", details, run.name + ": configuration");
		element("pre", details, iniOf(run.settings));
	}
}
