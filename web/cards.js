/*
 * Pictures are drawn when they come near the window, so that opening a page takes as
 * long as what can be seen of it: a card stands in its place, with its words and in its
 * size, and waits. Those in sight are drawn at once, lest a page that is drawn again
 * flickers; printing draws all.
 */
const waiting = new Map();
const near = new IntersectionObserver((entries) => {
	for (const entry of entries)
		if (entry.isIntersecting)
			drawCard(entry.target);
}, {rootMargin: "50% 0px"});

function drawLater(card, draw) {
	waiting.set(card, draw);
	near.observe(card);
}

function drawCard(card) {
	const draw = waiting.get(card);
	if (!draw)
		return;
	waiting.delete(card);
	near.unobserve(card);
	draw();
}

function drawAllCards() {
	Array.from(waiting.keys()).forEach(drawCard);
}

/* All places are read before anything is drawn: each reading after a change is a layout. */
function drawCardsInSight() {
	Array.from(waiting.keys()).filter((card) => {
		const box = card.getBoundingClientRect();
		return box.bottom > 0 && box.top < window.innerHeight;
	}).forEach(drawCard);
}

function forgetCards() {
	waiting.clear();
	near.disconnect();
}

function csvOf(rows) {
	const cell = (value) => value === null || value === undefined ? "" :
		/[",\n]/.test(value) ? '"' + String(value).replace(/"/g, '""') + '"' : value;
	return rows.map((row) => row.map(cell).join(",")).join("\n") + "\n";
}

/* A link that gives the rows, as they are when it is clicked, to other programs. */
function placeDownload(name, parent, rows) {
	const link = element("a", parent, "CSV", "csv");
	link.download = name + ".csv";
	link.href = "#";
	link.title = "these numbers as a table";
	link.addEventListener("click", () => {
		link.href = "data:text/csv;charset=utf-8," + encodeURIComponent(csvOf(rows()));
	});
}
