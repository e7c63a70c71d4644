/* Accuracy, or of numbers the share of variance explained, by model time and data time: a map per group, and ranges of data time at a chosen moment. */

const RANGES = 8; /* at most: eighths of the stream, or its tasks where these are fewer */
let moment = 1, rangesGraph = null;

function mix(ramp, share) {
	const at = Math.min(Math.max(share, 0), 1) * (ramp.length - 1);
	const low = Math.min(Math.floor(at), ramp.length - 2);
	const part = (hex, k) => parseInt(hex.substr(1 + 2 * k, 2), 16);
	return [0, 1, 2].map((k) =>
		Math.round(part(ramp[low], k) + (at - low) * (part(ramp[low + 1], k) - part(ramp[low], k))));
}

function bestCell(matrices) {
	let best = 0;
	for (const matrix of matrices)
		for (const row of matrix.cells)
			for (const value of row)
				best = Math.max(best, value === null ? 0 : value);
	return best || 1;
}

/* A picture with one point for each cell, stretched: far quicker than a rectangle each. */
function paintCells(draw, matrix, most, width, height) {
	const shades = Array.from({length: 256}, (one, i) => mix(ramps[theme()], i / 255));
	const small = document.createElement("canvas"), rows = matrix.cells.length;
	small.width = matrix.bins;
	small.height = rows;
	const points = small.getContext("2d"), image = points.createImageData(matrix.bins, rows);
	matrix.cells.forEach((row, r) => row.forEach((value, b) => {
		if (value !== null)
			image.data.set([...shades[Math.round(255 * Math.max(value, 0) / most)], 255], 4 * ((rows - 1 - r) * matrix.bins + b));
	}));
	points.putImageData(image, 0, 0);
	draw.imageSmoothingEnabled = false;
	draw.drawImage(small, 0, 0, width, height);
}

/* The line between past and future: for each row where its model stood. */
function traceNow(draw, matrix, width, height) {
	const rows = matrix.cells.length;
	matrix.seen.forEach((seen, r) => {
		draw.lineTo(seen * width, height * (1 - r / rows));
		draw.lineTo(seen * width, height * (1 - (r + 1) / rows));
	});
}

function paintFuture(draw, matrix, width, height, density) {
	const line = theme() === "dark" ? "#ffb066" : "#c94f00";
	draw.save();
	draw.beginPath();
	draw.moveTo(width, height);
	traceNow(draw, matrix, width, height);
	draw.lineTo(width, 0);
	draw.closePath();
	draw.clip();
	draw.strokeStyle = theme() === "dark" ? "rgba(255,255,255,0.2)" : "rgba(0,0,0,0.16)";
	draw.lineWidth = density;
	for (let x = -height; x < width; x += 9 * density) {
		draw.beginPath();
		draw.moveTo(x, height);
		draw.lineTo(x + height, 0);
		draw.stroke();
	}
	draw.restore();
	draw.beginPath();
	traceNow(draw, matrix, width, height);
	draw.strokeStyle = line;
	draw.lineWidth = 2 * density;
	draw.stroke();
	draw.font = 600 + " " + 12 * density + "px system-ui, sans-serif";
	draw.textAlign = "right";
	draw.lineWidth = 3 * density;
	draw.strokeStyle = theme() === "dark" ? "#16171a" : "#ffffff";
	draw.strokeText("still to come", width - 8 * density, height - 10 * density);
	draw.fillStyle = line;
	draw.fillText("still to come", width - 8 * density, height - 10 * density);
}

function paintMap(canvas, matrix, most) {
	const box = canvas.getBoundingClientRect(), density = window.devicePixelRatio || 1;
	const width = canvas.width = Math.max(1, Math.round(box.width * density));
	const height = canvas.height = Math.max(1, Math.round(box.height * density));
	const draw = canvas.getContext("2d");
	paintCells(draw, matrix, most, width, height);
	paintFuture(draw, matrix, width, height, density);
}

function matrixRows(group, matrix) {
	const rows = [["method", "seen", "from", "to", ofNumbers() ? "explained" : "accuracy"]];
	matrix.cells.forEach((row, r) => row.forEach((value, b) =>
		rows.push([group.name, matrix.seen[r], b / matrix.bins, (b + 1) / matrix.bins, value])));
	return rows;
}

function drawMap(group, matrix, parent, most) {
	const card = element("div", parent, undefined, "card");
	card.dataset.map = group.name;
	placeDownload("matrix", element("h3", card, group.name), () => matrixRows(group, matrix));
	const map = element("div", card, undefined, "map"), side = element("div", map, undefined, "side");
	element("span", side, "end");
	element("span", side, "when the model was taken", "turned");
	element("span", side, "begin");
	const canvas = element("canvas", map), below = element("div", map, undefined, "below");
	element("span", below, "begin");
	element("span", below, "time of the data");
	element("span", below, "end of the stream");
	const scale = element("div", card, undefined, "scale");
	element("span", scale, ofNumbers() ? "0 % or less" : "0 %");
	element("i", scale).style.background = "linear-gradient(to right, " + ramps[theme()].join() + ")";
	element("span", scale, percent(most) + (ofNumbers() ? " % explained" : " % right"));
	const place = element("div", card, undefined, "readout value");
	drawLater(card, () => paintMap(canvas, matrix, most));
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
}

function rangeCount(matrices) {
	return Math.min(RANGES, ...matrices.map((matrix) => matrix.bins));
}

/* The mean over the bins of each range, for the last model up to a moment. */
function rangesOf(matrix, parts) {
	let row = 0;
	matrix.seen.forEach((seen, r) => {
		if (seen <= moment + 1e-9)
			row = r;
	});
	const ranges = [];
	for (let k = 0; k < parts; k++) {
		const first = Math.round(k * matrix.bins / parts), end = Math.round((k + 1) * matrix.bins / parts);
		ranges.push(mean(matrix.cells[row].slice(first, end)));
	}
	return {seen: matrix.seen[row], ranges: ranges};
}

/* Tenths of the stream, or fifths or halves where there is no room for them. */
function shareTicks(least, most, pixels) {
	const step = pixels > 600 ? 10 : pixels > 300 ? 20 : 50, ticks = [];
	for (let x = 0; x <= 100; x += step)
		ticks.push({v: x, label: x + " %"});
	return ticks;
}

/* Of the models at the chosen moment. */
function rangesRows() {
	const rows = [["method", "from", "to", ofNumbers() ? "explained" : "accuracy"]];
	for (const group of groups.filter((one) => one.shown && matrixOf(one))) {
		const parts = rangeCount([matrixOf(group)]);
		rangesOf(matrixOf(group), parts).ranges.forEach((value, k) => rows.push([group.name, k / parts, (k + 1) / parts, value]));
	}
	return rows;
}

function drawRanges() {
	const shown = groups.map((group, g) => ({group: g, matrix: group.shown ? matrixOf(group) : null})).filter((one) => one.matrix);
	const place = byId("ranges-value");
	if (rangesGraph)
		rangesGraph.destroy();
	rangesGraph = null;
	place.replaceChildren();
	if (!shown.length)
		return;
	const parts = rangeCount(shown.map((one) => one.matrix));
	const read = shown.map((one) => rangesOf(one.matrix, parts)), crowd = crowded();
	const table = [];
	for (let k = 0; k < parts; k++)
		table.push([100 * (k + 0.5) / parts].concat(read.map((one) => one.ranges[k] === null ? null : 100 * one.ranges[k])));
	byId("ranges-moment").textContent = "models at " + (100 * read[0].seen).toFixed(0) + " % of the stream";
	rangesGraph = new Dygraph(byId("ranges-plot"), table, {
		labels: ["x"].concat(shown.map((one) => String(one.group))),
		colors: shown.map((one) => colour(one.group)),
		legend: "never", strokeWidth: 2, drawPoints: true, pointSize: crowd ? 3 : 4, highlightCircleSize: crowd ? 0 : 6,
		highlightSeriesOpts: crowd ? {strokeWidth: 3, highlightCircleSize: 6} : null,
		animateBackgroundFade: false,
		highlightSeriesBackgroundColor: theme() === "dark" ? "#1f2125" : "#ffffff",
		dateWindow: [-0.5, 100.5], /* what lies on the very edge gets no label */
		valueRange: [1.06 * Math.min(0, ...table.map((row) => Math.min(...row.slice(1)))), 1.06 * Math.max(10, ...table.map((row) => Math.max(...row.slice(1))))],
		rightGap: 12, axes: {x: {ticker: shareTicks}, y: {axisLabelWidth: 40, ticker: valueTicks({least: -100, most: 100})}},
		xlabel: "time of the data, % of the stream", ylabel: ofNumbers() ? "variance explained, %" : "accuracy, %",
		xLabelHeight: 18, yLabelWidth: 16, axisLabelFontSize: 12,
		axisLineColor: theme() === "dark" ? "#6b6f78" : "#9c9c96",
		gridLineColor: theme() === "dark" ? "#363940" : "#dededa",
		underlayCallback: (canvas, area, graph) => {
			const x = graph.toDomXCoord(100 * read[0].seen);
			canvas.save();
			canvas.fillStyle = theme() === "dark" ? "rgba(255,255,255,0.07)" : "rgba(0,0,0,0.06)";
			canvas.fillRect(x, area.y, Math.max(0, area.x + area.w - x), area.h);
			canvas.fillStyle = theme() === "dark" ? "#ffb066" : "#c94f00";
			canvas.fillRect(x - 1, area.y, 2, area.h);
			canvas.restore();
		},
		highlightCallback: (event, x, points, row, name) => {
			place.replaceChildren();
			element("b", place, "data from " + (x - 50 / parts).toFixed(1) + " to " + (x + 50 / parts).toFixed(1) + " %");
			for (const point of points.filter((one) => !crowd || one.name === name)) {
				place.append(" · ");
				element("b", place, groups[Number(point.name)].name).style.color = colour(Number(point.name));
				place.append(" " + point.yval.toFixed(2) + " %");
			}
		},
	});
}

function drawMaps() {
	const maps = byId("matrices");
	const mapped = groups.map((group) => ({group: group, matrix: matrixOf(group)})).filter((one) => one.matrix);
	maps.replaceChildren();
	byId("matrix-section").hidden = byId("ranges-section").hidden = !mapped.length;
	for (const word of document.querySelectorAll(".worth"))
		word.textContent = ofNumbers() ? "Variance explained" : "Accuracy";
	const most = bestCell(mapped.map((one) => one.matrix));
	for (const one of mapped)
		drawMap(one.group, one.matrix, maps, most);
	const few = mapped.length ? groupRest(mapped[0].group, "ir") : "";
	byId("ranges-rest").textContent = few ? "Measured on " + few + " in all." : "";
	drawLater(byId("ranges"), drawRanges);
}
