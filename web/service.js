/* What a page of `retain serve` has beyond a report: how the service is, second by second. */

const SERVICE_KEPT = 120;
/* A name, the value, its words; and its name where the target is a number. */
const serviceRows = [
	["requests/s", (now, before, seconds) => (now.requests - before.requests) / seconds, (x) => x.toFixed(0)],
	["samples/s", (now, before, seconds) => (now.samples - before.samples) / seconds, (x) => x.toFixed(0)],
	["iterations/s", (now, before, seconds) => (now.iteration - before.iteration) / seconds, (x) => x.toFixed(0)],
	["median time", (now) => now.median_s, milliseconds],
	["99 % within", (now) => now.p99_s, milliseconds],
	["queue", (now) => now.queue, (x, now) => `${x} of ${now.queue_most}`],
	["waiting for labels", (now) => now.waiting, (x) => x.toLocaleString("en")],
	["accuracy before the label", (now) => now.le, percentWords, "variance explained"],
	["of the last 1 000", (now) => now.samples > data.recent ? now.recent : null, percentWords],
	["balanced accuracy", (now) => now.balanced, percentWords],
	["AUC", (now) => now.auc, (x) => x.toFixed(3)],
	["right on held-out samples", (now) => now.val, percentWords, "explained, held-out samples"],
	["drift alarms", (now) => now.alarms, (x) => x.toLocaleString("en")],
	["warnings", (now) => now.warnings, (x) => x.toLocaleString("en")],
];
const serviceSeries = serviceRows.map(() => []);
let serviceBefore = null;

function milliseconds(x) {
	return `≤ ${Number((1000 * x).toPrecision(3))} ms`;
}

function percentWords(x) {
	return percent(x) + " %";
}

/* As the rest of the page asks: a report that nobody serves has nothing in it that fetches. */
function askService(method, path, done, failed) {
	const request = new XMLHttpRequest();
	request.open(method, path);
	request.addEventListener("load", () => done(request));
	request.addEventListener("error", failed);
	request.send();
}

/* A line over the last two minutes, from 0 to the most there was. */
function spark(parent, values) {
	const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
	const line = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
	const most = Math.max(...values.filter((x) => x !== null), 1e-9);
	const points = values.map((x, i) => [i + SERVICE_KEPT - values.length, 24 - 22 * x / most])
		.filter((point, i) => values[i] !== null);
	svg.setAttribute("viewBox", `0 0 ${SERVICE_KEPT - 1} 25`);
	svg.setAttribute("preserveAspectRatio", "none");
	svg.setAttribute("aria-hidden", "true");
	line.setAttribute("points", points.map((p) => p.map((x) => x.toFixed(2)).join(",")).join(" "));
	svg.appendChild(line);
	parent.appendChild(svg);
}

/* Where several are served: their names, which lead to their pages. */
function drawLearners(now) {
	const list = byId("service-learners");
	list.hidden = now.learners.length < 2;
	if (list.childElementCount === now.learners.length)
		return;
	list.replaceChildren();
	for (const name of now.learners) {
		const link = element("a", list, name);
		link.href = `/${name}/`;
		if (name === now.learner)
			link.setAttribute("aria-current", "page");
	}
}

/* What answers, and what is tried beside it on the same labels. */
function drawContenders(now) {
	const table = byId("service-contenders");
	const list = now.contenders || [];
	const share = (x) => x === null ? "–" : percentWords(x);
	table.hidden = !list.length;
	table.replaceChildren();
	if (table.hidden)
		return;
	const head = element("tr", element("thead", table));
	for (const name of ["contender", "labels", ofNumbers() ? "mean error" : "accuracy", "of the last 1 000", "points ahead", "p"])
		element("th", head, name);
	const body = element("tbody", table);
	for (const one of list) {
		const row = element("tr", body, undefined, one.serves ? "serves" : "");
		element("td", row, one.serves ? `${one.name}, answers` : one.name);
		element("td", row, one.labels.toLocaleString("en"));
		element("td", row, one.score !== null && ofNumbers() ? String(Number(one.score.toPrecision(4))) : share(one.score));
		element("td", row, share(one.labels > data.recent ? one.recent : null));
		element("td", row, one.ahead === null ? "–" : one.ahead.toFixed(1));
		element("td", row, one.p === null ? "–" : String(Number(one.p.toPrecision(2))));
	}
}

function drawService(now, seconds) {
	drawLearners(now);
	drawContenders(now);
	const tiles = byId("service-tiles");
	tiles.replaceChildren();
	serviceRows.forEach(([name, value, words, ofNumber], i) => {
		const x = serviceBefore ? value(now, serviceBefore, seconds) : null;
		const known = typeof x === "number" && Number.isFinite(x);
		const tile = element("div", tiles, undefined, "tile");
		serviceSeries[i].push(known ? x : null);
		serviceSeries[i] = serviceSeries[i].slice(-SERVICE_KEPT);
		element("div", tile, ofNumber && ofNumbers() ? ofNumber : name, "tile-name");
		element("div", tile, known ? words(x, now) : "–", "tile-value");
		spark(tile, serviceSeries[i]);
	});
	byId("service-state").textContent = now.failure ? `${now.state}: ${now.failure}` : now.state;
	byId("service-pause").textContent = now.state === "paused" ? "resume" : "pause";
	byId("service-pause").dataset.wish = now.state === "paused" ? "v1/resume" : "v1/pause";
	for (const id of ["service-pause", "service-save"])
		byId(id).hidden = now.reader || now.state === "fixed";
}

function watchService() {
	const asked = performance.now();
	const silent = () => {
		byId("service-state").textContent = "does not answer";
		window.setTimeout(watchService, 3000);
	};
	askService("GET", "v1/state", (request) => {
		let now;
		try {
			now = JSON.parse(request.responseText);
		} catch (error) {
			silent();
			return;
		}
		if (now.state === "page")
			return;
		byId("service").hidden = false;
		drawService(now, serviceBefore ? (asked - serviceBefore.asked) / 1000 : 1);
		serviceBefore = Object.assign(now, {asked});
		window.setTimeout(watchService, 1000);
	}, silent);
}

for (const id of ["service-pause", "service-save"])
	byId(id).addEventListener("click", (event) => askService("POST", event.target.dataset.wish, () => {}, () => {}));
if (data.watch)
	watchService();
