/* What a page of `retain serve` has beyond a report: how the service is, second by second. */

const SERVICE_KEPT = 120;
const serviceRows = [
	["requests/s", (now, before, seconds) => (now.requests - before.requests) / seconds, (x) => x.toFixed(0)],
	["samples/s", (now, before, seconds) => (now.samples - before.samples) / seconds, (x) => x.toFixed(0)],
	["iterations/s", (now, before, seconds) => (now.iteration - before.iteration) / seconds, (x) => x.toFixed(0)],
	["median time", (now) => now.median_s, milliseconds],
	["99 % within", (now) => now.p99_s, milliseconds],
	["queue", (now) => now.queue, (x, now) => `${x} of ${now.queue_most}`],
	["wait for labels", (now) => now.waiting, (x) => x.toLocaleString("en")],
	["connections", (now) => now.connections, (x) => x.toFixed(0)],
	["right before the label", (now) => now.le, shareWords],
	["right on held-out", (now) => now.val, shareWords],
];
const serviceSeries = serviceRows.map(() => []);
let serviceBefore = null;

function milliseconds(x) {
	return `≤ ${Number((1000 * x).toPrecision(3))} ms`;
}

function shareWords(x) {
	return `${(100 * x).toFixed(1)} %`;
}

/* A line over the last two minutes, from 0 to the most there was. */
function drawSpark(parent, values) {
	const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
	const line = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
	const most = Math.max(...values.filter((x) => x !== null), 1e-9);
	const points = values.map((x, i) => [i + SERVICE_KEPT - values.length, 24 - 22 * (x || 0) / most]);
	svg.setAttribute("viewBox", `0 0 ${SERVICE_KEPT - 1} 25`);
	svg.setAttribute("preserveAspectRatio", "none");
	svg.setAttribute("aria-hidden", "true");
	line.setAttribute("points", points.map((p) => p.map((x) => x.toFixed(2)).join(",")).join(" "));
	svg.appendChild(line);
	parent.appendChild(svg);
}

function drawService(now, seconds) {
	const tiles = byId("service-tiles");
	tiles.replaceChildren();
	serviceRows.forEach(([name, value, words], i) => {
		const x = serviceBefore ? value(now, serviceBefore, seconds) : null;
		const known = typeof x === "number" && Number.isFinite(x);
		const tile = element("div", tiles, undefined, "tile");
		serviceSeries[i].push(known ? x : null);
		serviceSeries[i] = serviceSeries[i].slice(-SERVICE_KEPT);
		element("div", tile, name, "tile-name");
		element("div", tile, known ? words(x, now) : "–", "tile-value");
		drawSpark(tile, serviceSeries[i]);
	});
	byId("service-state").textContent = now.failure ? `${now.state}: ${now.failure}` : now.state;
	byId("service-pause").textContent = now.state === "paused" ? "resume" : "pause";
	byId("service-pause").dataset.wish = now.state === "paused" ? "v1/resume" : "v1/pause";
	for (const id of ["service-pause", "service-save"])
		byId(id).hidden = now.reader || now.state === "fixed";
}

function watchService() {
	const asked = performance.now();
	fetch("v1/state").then((answer) => answer.json()).then((now) => {
		if (now.state === "page")
			return;
		byId("service").hidden = false;
		drawService(now, serviceBefore ? (asked - serviceBefore.asked) / 1000 : 1);
		serviceBefore = Object.assign(now, {asked});
		window.setTimeout(watchService, 1000);
	}).catch(() => {
		byId("service-state").textContent = "does not answer";
		window.setTimeout(watchService, 3000);
	});
}

for (const id of ["service-pause", "service-save"])
	byId(id).addEventListener("click", (event) => fetch(event.target.dataset.wish, {method: "POST"}));
if (data.watch)
	watchService();
