/* Marks on the lines of charts: cuts of the rate, and drift alarms. */
const MARKS_MOST = 400;

/* The height of a line at x: that of the last point up to there, or between two. */
function heightAt(chart, series, x) {
	const at = series.x.findIndex((one) => one >= x);
	if (at < 0)
		return series.mean[series.mean.length - 1];
	if (at === 0 || series.x[at] === x || chart.step)
		return series.mean[at];
	const share = (x - series.x[at - 1]) / (series.x[at] - series.x[at - 1]);
	return series.mean[at - 1] + share * (series.mean[at] - series.mean[at - 1]);
}

/* A small button over the plot: it can be pointed at, touched, and reached by keys; it says its words in `place`. */
function placeMark(mark, chart, graph, layer, place) {
	const area = graph.getArea(), window = graph.xAxisRange();
	if (mark.iteration < window[0] || mark.iteration > window[1])
		return;
	const button = element("button", layer, mark.sign, mark.className);
	button.type = "button";
	if (mark.skip)
		button.tabIndex = -1;
	button.style.left = graph.toDomXCoord(mark.iteration) + "px";
	button.style.top = Math.min(area.y + area.h, Math.max(area.y + 8, graph.toDomYCoord(mark.value))) + "px";
	button.style.color = colour(mark.group);
	button.title = (runs.length > 1 ? mark.run.name + ": " : "") + mark.words;
	const show = () => {
		place.replaceChildren();
		if (runs.length > 1)
			element("b", place, mark.run.name + ": ").style.color = colour(mark.group);
		place.append(mark.words);
	};
	for (const event of ["mouseenter", "focus", "click"])
		button.addEventListener(event, show);
}

/* Where there are too many of a kind they would hide the lines. */
function tooMany(kind) {
	return runs.reduce((sum, run) => sum + run[kind].length, 0) > MARKS_MOST;
}

function placeCuts(chart, line, group, g, graph, layer, place) {
	if (!chart.cuts || (crowded() && chart.id !== "lr") || tooMany("cuts"))
		return;
	for (const run of group.runs)
		for (const cut of chart.id !== "lr" && manyCuts(group) ? run.cuts.slice(0, 1) : run.cuts)
			placeMark({
				run: run, group: g, sign: "▼", className: manyCuts(group) ? "cut small" : "cut", iteration: cut.iteration,
				value: chart.id === "lr" && cut.before > 0 && cut.after > 0 ? Math.sqrt(cut.before * cut.after) : heightAt(chart, line, cut.iteration),
				skip: chart.id !== "lr", words: "iteration " + count(cut.iteration) + ": " + cut.text,
			}, chart, graph, layer, place);
}

function placeAlarms(chart, line, group, g, graph, layer, place) {
	if (!chart.alarms || crowded() || tooMany("alarms"))
		return;
	for (const run of group.runs)
		for (const alarm of run.alarms)
			placeMark({
				run: run, group: g, sign: "◆", className: "cut alarm", iteration: alarm.iteration,
				value: heightAt(chart, line, alarm.iteration), skip: chart.id !== (ofNumbers() ? "error" : "le"),
				words: "drift alarm at iteration " + count(alarm.iteration) + ", " + alarm.text,
			}, chart, graph, layer, place);
}

function placeMarks(chart, series, graph, layer, place) {
	layer.replaceChildren();
	groups.forEach((group, g) => {
		const line = series.find((one) => one.group === g && one.kind === "solid");
		if (!group.shown || !line)
			return;
		placeCuts(chart, line, group, g, graph, layer, place);
		placeAlarms(chart, line, group, g, graph, layer, place);
	});
}
