/* The page's words and tables: what came out, what it cost, what it was made with. */

const summaryColumns = [
	{name: "kept, late (IR)", unit: "%, last quarter", of: (run) => run.summary.late_ir, format: percent, bar: true},
	{name: "kept (IR)", unit: "%, at the end", of: (run) => run.summary.ir, format: percent},
	{name: "… by the plain model", unit: "%, last quarter", of: (run) => run.summary.late_ir_sgd, format: percent},
	{name: "before the label (LE)", unit: "%", of: (run) => run.summary.le, format: percent},
	{name: "… of the last 1\u00a0000", unit: "%", of: (run) => run.summary.recent, format: percent},
	{name: "… on albums of others", unit: "%", of: (run) => run.summary.le_album, format: percent},
	{name: "… by guessing", unit: "%", of: (run) => run.summary.blind, format: percent},
	{name: "next, late (FT)", unit: "%, last quarter", of: (run) => run.summary.late_ft, format: percent},
	{name: "next (FT)", unit: "%, at the end", of: (run) => run.summary.ft, format: percent},
	{name: "drift alarms", unit: "", of: (run) => run.summary.alarms, format: short},
	{name: "cuts", unit: "of the rate", of: (run) => run.cuts.length, format: short},
	{name: "first cut", unit: "iteration", of: (run) => run.cuts.length ? run.cuts[0].iteration : null,
		format: (x) => count(Math.round(x))},
	{name: "rate", unit: "at the end", of: (run) => run.summary.lr, format: short, alone: true},
	{name: "iterations", unit: "", of: (run) => run.summary.iteration, format: (x) => count(Math.round(x))},
	{name: "samples kept", unit: "at the end", of: (run) => run.summary.kept, format: (x) => count(Math.round(x)), alone: true},
	{name: "cost", unit: "per iteration", of: (run) => run.summary.cost_per_iteration, format: (x) => x.toFixed(2)},
	{name: "time", unit: "s", of: (run) => run.summary.seconds, alone: true, format: (x) => count(Number(x.toFixed(x < 100 ? 1 : 0)))},
];

const ledgerColumns = [
	["iterations", "iterations"], ["train", "forward, training"], ["validate", "forward, validation"],
	["statistics", "forward, statistics"], ["backward", "backward"], ["updates", "updates"],
	["averages", "updates of averages"], ["predict", "forward, predicting"], ["evaluate", "forward, evaluating"],
	["kept_training", "samples kept to train on"], ["kept_validation", "… to validate on"],
];

function swatch(parent, group) {
	element("span", parent, undefined, "swatch").style.background = colour(group);
}

function drawHead() {
	const going = runs.filter((run) => !run.ended), notes = byId("notes");
	byId("many-cuts").hidden = !groups.some(manyCuts);
	document.title = (groups.length === 1 ? groups[0].name + " – " : "") + "retain report";
	byId("headline").textContent = headline();
	notes.replaceChildren();
	for (const run of going.slice(0, 8))
		element("p", notes, run.name + ": " + run.state + ", at iteration " + count(run.summary.iteration) + ".", "warning");
	if (going.length > 8)
		element("p", notes, "… and " + (going.length - 8) + " more that have not ended.", "warning");
	for (const sentence of data.left_out)
		element("p", notes, "Left out: " + sentence, "warning");
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

function head(table, first, columns) {
	const row = element("tr", element("thead", table));
	element("th", row, first);
	for (const column of columns) {
		const cell = element("th", row, column.name);
		if (column.unit !== undefined)
			element("small", cell, column.unit || "\u00a0");
	}
	return element("tbody", table);
}

function drawSummary() {
	const table = byId("summary");
	const spreads = summaryColumns.map((column) => groups.map((group) => spreadOf(group, column.of)));
	const used = summaryColumns.map((column, c) => c).filter((c) => spreads[c].some((one) => one.mean !== null));
	const most = Math.max(...spreads[0].map((one) => one.mean === null ? 0 : one.mean)) || 1;
	table.replaceChildren();
	const body = head(table, groups.length > 1 ? "method" : "run", used.map((c) => summaryColumns[c]));
	for (const g of ranked()) {
		const row = element("tr", body), name = element("td", row);
		swatch(name, g);
		name.append(" " + groups[g].name);
		for (const c of used) {
			const one = spreads[c][g], cell = element("td", row, one.mean === null ? "–" : summaryColumns[c].format(one.mean));
			cell.dataset.name = summaryColumns[c].name + (summaryColumns[c].unit ? ", " + summaryColumns[c].unit : "");
			if (one.mean !== null && one.deviation && !summaryColumns[c].alone)
				element("small", cell, "± " + summaryColumns[c].format(one.deviation));
			if (summaryColumns[c].bar && one.mean !== null && groups.length > 1) {
				cell.className = "bar";
				cell.style.setProperty("--share", 100 * one.mean / most + "%");
				cell.style.setProperty("--colour", colour(g));
			}
		}
	}
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
	placeDownload("classes", byId("classes-note"), () => [["class", "samples", "recognised", "said"]].concat(
		run.classes.map((one) => [one.name, one.seen, one.right, one.said])));
	classes.replaceChildren();
	confusions.replaceChildren();
	const body = head(classes, "class", [{name: "samples"}, {name: "recognised", unit: "%"}, {name: "right when said", unit: "%"}]);
	for (const one of run.classes) {
		const row = element("tr", body);
		for (const words of [one.name, count(one.seen), share(one.right, one.seen), share(one.right, one.said)])
			element("td", row, words);
	}
	if (!run.confusions.length)
		return;
	const pairs = head(confusions, "largest confusions", [{name: "taken for"}, {name: "times"}]);
	placeDownload("confusions", confusions.querySelector("th"), () => [["class", "taken_for", "times"]].concat(
		run.confusions.map((one) => [one.label, one.predicted, one.times])));
	for (const one of run.confusions) {
		const row = element("tr", pairs);
		for (const words of [one.label, one.predicted, count(one.times)])
			element("td", row, words);
	}
}

function drawLedger() {
	const table = byId("ledger"), with_ledger = groups.filter((group) => group.runs.some((run) => run.ledger));
	byId("ledger-section").hidden = !with_ledger.length;
	table.replaceChildren();
	const body = head(table, "passes over batches", ledgerColumns.map((one) => ({name: one[1]})));
	for (const group of with_ledger) {
		const row = element("tr", body);
		element("td", row, group.name);
		for (const one of ledgerColumns) {
			const value = mean(group.runs.filter((run) => run.ledger).map((run) => run.ledger[one[0]]));
			element("td", row, value === null || value === undefined ? "–" : count(Math.round(value)));
		}
	}
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
		element("td", row, key);
		for (const settings of all)
			element("td", row, settings.has(key) ? settings.get(key) : "–");
	}
}

function drawPaper() {
	const table = byId("paper"), all = groups.map(settingsOf);
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
		element("td", row, key);
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
