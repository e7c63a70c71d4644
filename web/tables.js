/* The page's words and tables: what came out, what it cost, what it was made with. */

const summaryColumns = [
	{name: "IR, late", unit: "%, last quarter", of: (run) => run.summary.late_ir, format: percent, bar: true},
	{name: "IR", unit: "%, at the end", of: (run) => run.summary.ir, format: percent},
	{name: "IR, plain", unit: "%, last quarter", of: (run) => run.summary.late_ir_sgd, format: percent},
	{name: "LE", unit: "%", of: (run) => run.summary.le, format: percent},
	{name: "blind", unit: "%", of: (run) => run.summary.blind, format: percent},
	{name: "FT, late", unit: "%, last quarter", of: (run) => run.summary.late_ft, format: percent},
	{name: "FT", unit: "%, at the end", of: (run) => run.summary.ft, format: percent},
	{name: "cuts", unit: "of the rate", of: (run) => run.cuts.length, format: short},
	{name: "first cut", unit: "iteration", of: (run) => run.cuts.length ? run.cuts[0].iteration : null,
		format: (x) => count(Math.round(x))},
	{name: "rate", unit: "at the end", of: (run) => run.summary.lr, format: short, alone: true},
	{name: "iterations", unit: "", of: (run) => run.summary.iteration, format: (x) => count(Math.round(x))},
	{name: "cost", unit: "per iteration", of: (run) => run.summary.cost_per_iteration, format: (x) => x.toFixed(3)},
	{name: "time", unit: "s", of: (run) => run.summary.seconds, alone: true, format: (x) => count(Number(x.toFixed(x < 100 ? 1 : 0)))},
];

const ledgerColumns = [
	["iterations", "iterations"], ["train", "forward, training"], ["validate", "forward, validation"],
	["statistics", "forward, statistics"], ["backward", "backward"], ["updates", "updates"],
	["averages", "updates of averages"], ["predict", "forward, predicting"], ["evaluate", "forward, evaluating"],
];

function swatch(parent, group) {
	element("span", parent, undefined, "swatch").style.background = colour(group);
}

/* What methods are judged by: late retention, or, on streams without evaluation data, learning efficacy. */
function judge() {
	const kept = runs.some((run) => run.summary.late_ir !== null);
	return kept ? {of: (run) => run.summary.late_ir, most: " retains most: ", alone: " keeps ", end: " % of what it has seen. "} :
		{of: (run) => run.summary.le, most: " adapts best: ", alone: " gets ", end: " % right before the label is seen. "};
}

/* Groups by that, the best one first; those without any last. */
function ranked() {
	const late = groups.map((group) => spreadOf(group, judge().of).mean);
	return groups.map((group, g) => g).sort((a, b) => (late[b] === null ? -1 : late[b]) - (late[a] === null ? -1 : late[a]));
}

function cutsInWords(group) {
	const cuts = group.runs.map((run) => run.cuts.length);
	if (Math.max(...cuts) === 0)
		return "Its rate was never cut.";
	const first = group.runs.filter((run) => run.cuts.length).map((run) => run.cuts[0].iteration);
	const many = mean(cuts);
	return "Its rate was cut " + (Number.isInteger(many) ? many : "about " + many.toFixed(1)) +
		(many === 1 ? " time" : " times") + ", first " + (first.length > 1 ? "around" : "at") + " iteration " +
		count(Math.round(mean(first))) + ".";
}

/* What a reader should know after five seconds. */
function headline() {
	const order = ranked(), best = groups[order[0]];
	const words = judge(), late = (g) => spreadOf(groups[g], words.of).mean;
	if (!runs.length || late(order[0]) === null)
		return "Nothing was evaluated yet.";
	if (groups.length === 1)
		return best.name + words.alone + percent(late(order[0])) + words.end + cutsInWords(best);
	return best.name + words.most + percent(late(order[0])) + " %, " +
		(late(order[1]) === null ? "" : (100 * (late(order[0]) - late(order[1]))).toFixed(1) +
		" points more than " + groups[order[1]].name + ". ") + cutsInWords(best);
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
			element("summary", details, run.name + ": " + run.cuts.length + (run.cuts.length === 1 ? " cut" : " cuts") + " of the rate");
			const table = element("table", element("div", details, undefined, "wide"), undefined, "events");
			for (const cut of run.cuts) {
				const row = element("tr", table);
				element("td", row, "iteration " + count(cut.iteration));
				element("td", row, cut.text);
			}
		}
		const details = element("details", place);
		element("summary", details, run.name + ": configuration");
		element("pre", details, iniOf(run.settings));
	}
}
