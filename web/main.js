/* Puts the page together, again when colours or data change. */

function drawFigures() {
	forgetCards();
	byId("crowd").hidden = !crowded();
	byId("seeds").hidden = runs.length === groups.length;
	byId("hide").hidden = groups.length < 2;
	drawCharts();
	drawMaps();
	drawPairs();
	drawCardsInSight();
}

function drawPictures() {
	drawNames();
	drawSummary();
	drawClasses();
	drawExplained();
	drawFigures();
}

function drawAll() {
	drawHead();
	drawPictures();
	drawLedger();
	drawDifferences();
	drawPaper();
	drawOrigins();
	drawRuns();
}

function setTheme(name) {
	chosenTheme = name;
	document.documentElement.dataset.theme = name;
	drawPictures();
}

/* A page that is served asks for what is new; a file has nobody to ask. */
function watch() {
	const request = new XMLHttpRequest();
	request.open("GET", "data.json");
	request.addEventListener("load", () => {
		if (request.status === 200 && request.responseText !== watch.last) {
			watch.last = request.responseText;
			readData(watch.last);
			drawAll();
		}
		byId("live").textContent = "live";
		window.setTimeout(watch, 2000);
	});
	request.addEventListener("error", () => {
		byId("live").textContent = "no longer served";
		window.setTimeout(watch, 5000);
	});
	request.send();
}

readData(byId("data").textContent);
drawAll();
placeDownload("predictions", byId("pairs-section").querySelector("h2"), pairsRows);
placeDownload("ranges", byId("ranges-section").querySelector("h2"), rangesRows);
byId("number").addEventListener("change", (event) => {
	chosenNumber = event.target.value;
	drawPairs();
});
byId("moment").addEventListener("input", (event) => {
	moment = Number(event.target.value) / 100;
	drawRanges();
});
byId("theme").addEventListener("click", () => setTheme(theme() === "dark" ? "light" : "dark"));
dark.addEventListener("change", drawPictures);
window.addEventListener("beforeprint", () => {
	printing = true;
	drawPictures();
	drawAllCards();
});
window.addEventListener("afterprint", () => {
	printing = false;
	drawPictures();
});
if (data.watch) {
	byId("live").hidden = false;
	watch.last = byId("data").textContent;
	window.setTimeout(watch, 2000);
}
