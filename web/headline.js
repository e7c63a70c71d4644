/* What a reader should know after five seconds, and by what methods are ranked. */

/* Late retention, or, on streams without evaluation data, learning efficacy. `samples`: what it was measured on. */
function judge() {
	const kept = runs.some((run) => run.summary.late_ir !== null);
	return kept ? {of: (run) => run.summary.late_ir, samples: (run) => run.facts["data.evaluation_samples"], most: " keeps most: ",
		alone: " keeps ", alike: "what they keep", end: " % of what it has seen. ",
		by: "Ranked by retention (IR), mean of the last quarter of evaluations."} :
		{of: (run) => run.summary.le, samples: (run) => run.summary.samples, most: " is right most often before the label: ",
			alone: " gets ", alike: "what they get right before the label", end: " % right before the label is seen. ",
			by: "Ranked by what was right before the label (LE)."};
}

/* Groups by that, the best one first; those without any last. */
function ranked() {
	const late = groups.map((group) => spreadOf(group, judge().of).mean);
	return groups.map((group, g) => g).sort((a, b) => (late[b] === null ? -1 : late[b]) - (late[a] === null ? -1 : late[a]));
}

/* Student's t for 95 %, by degrees of freedom; beyond the list 2. */
const tValues = [null, 12.71, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23];

/*
 * How far apart two groups may lie by chance: seed by seed where they share at least two,
 * by the spread of each where both have some, else by the number of samples in question.
 */
function byChance(a, b, words) {
	const pairs = a.runs.map((run) => [run, b.runs.find((other) => other.seed === run.seed)])
		.filter((pair) => pair[1] && words.of(pair[0]) !== null && words.of(pair[1]) !== null);
	if (pairs.length > 1)
		return (tValues[pairs.length - 1] || 2) * deviation(pairs.map((pair) => words.of(pair[0]) - words.of(pair[1]))) / Math.sqrt(pairs.length);
	const left = spreadOf(a, words.of), right = spreadOf(b, words.of);
	if (left.deviation !== null && right.deviation !== null)
		return (tValues[Math.min(a.runs.length, b.runs.length) - 1] || 2) *
			Math.sqrt(left.deviation * left.deviation / a.runs.length + right.deviation * right.deviation / b.runs.length);
	const samples = words.samples(a.runs[0]), p = (left.mean + right.mean) / 2;
	return samples > 0 ? 2 * Math.sqrt(2 * p * (1 - p) / samples) : 0;
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

function alarmsInWords(group) {
	const alarms = mean(group.runs.map((run) => run.summary.alarms));
	return alarms ? " " + (Number.isInteger(alarms) ? alarms : "About " + alarms.toFixed(1)) + " drift alarm" + (alarms === 1 ? "." : "s.") : "";
}

/* Who is right most often before the label, where that is clear and is not what all are ranked by. */
function aheadInWords() {
	const now = {of: (run) => run.summary.le, samples: (run) => run.summary.samples};
	const known = groups.filter((group) => spreadOf(group, now.of).mean !== null);
	const order = known.sort((a, b) => spreadOf(b, now.of).mean - spreadOf(a, now.of).mean);
	if (order.length < 2 || !runs.some((run) => run.summary.late_ir !== null))
		return "";
	const [first, second] = order.map((group) => spreadOf(group, now.of).mean);
	return first - second <= byChance(order[0], order[1], now) ? "" :
		"Before the label, " + order[0].name + " is right most often: " + percent(first) + " %. ";
}

function headline() {
	const order = ranked(), best = groups[order[0]], words = judge();
	const late = (g) => spreadOf(groups[g], words.of).mean, first = runs.length ? late(order[0]) : null;
	if (first === null)
		return runs.some((run) => !run.ended) ? "Nothing was evaluated yet. Numbers come with the first evaluation." : "Nothing was evaluated.";
	if (groups.length === 1)
		return best.name + words.alone + percent(first) + words.end + cutsInWords(best) + alarmsInWords(best);
	const second = late(order[1]), other = groups[order[1]];
	if (second !== null && first - second <= byChance(best, other, words))
		return "No clear difference between " + best.name + " (" + percent(first) + " %) and " + other.name + " (" +
			percent(second) + " %) in " + words.alike + ". " + aheadInWords() + words.by;
	return best.name + words.most + percent(first) + " %" +
		(second === null ? ". " : ", " + (100 * (first - second)).toFixed(1) + " points more than " + other.name + ". ") +
		aheadInWords() + words.by + (best.runs.length === 1 ? " One seed each: small differences may be chance." : "");
}
