/* What a reader should know after five seconds, and by what methods are ranked. */

/* Late retention, or, on streams without evaluation data, learning efficacy. `samples`: what it was measured on. */
function judge() {
	const kept = runs.some((run) => run.summary.late_ir !== null);
	if (ofNumbers())
		return errorBefore;
	return kept ? {of: (run) => run.summary.late_ir, samples: (run) => run.rests.ir || run.facts["data.evaluation_samples"],
		by: "Ranked by what is kept: retention (IR), mean of the last quarter of evaluations."} :
		{of: (run) => run.summary.le, samples: (run) => run.summary.samples,
			by: "Ranked by what was right before the label (LE)."};
}

/* Groups by that, the best one first; those without any last. */
function ranked() {
	const late = groups.map((group) => spreadOf(group, judge().of).mean);
	return groups.map((group, g) => g).sort((a, b) => (late[b] === null ? -Infinity : late[b]) - (late[a] === null ? -Infinity : late[a]) || 0);
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
	if (words.chance)
		return words.chance(a.runs[0], b.runs[0]);
	const samples = words.samples(a.runs[0]), p = (left.mean + right.mean) / 2;
	return samples > 0 ? 2 * Math.sqrt(2 * p * (1 - p) / samples) : 0;
}

function cutsInWords(group) {
	const cuts = group.runs.map((run) => run.cuts.length);
	if (Math.max(...cuts) === 0)
		return "";
	const first = group.runs.filter((run) => run.cuts.length).map((run) => run.cuts[0].iteration);
	const many = mean(cuts);
	return "Its rate was cut " + (Number.isInteger(many) ? many : "about " + many.toFixed(1)) +
		(many === 1 ? " time" : " times") + ", first " + (first.length > 1 ? "around" : "at") + " iteration " +
		count(Math.round(mean(first))) + ". ";
}

function alarmsInWords(group) {
	const alarms = mean(group.runs.map((run) => run.summary.alarms));
	return alarms ? (Number.isInteger(alarms) ? alarms : "About " + alarms.toFixed(1)) + " drift alarm" + (alarms === 1 ? "." : "s.") : "";
}

const beforeLabel = {of: (run) => run.summary.le, samples: (run) => run.summary.samples};

/* " (of 13 samples)" */
function few(rest) {
	return rest ? " (of " + rest + ")" : "";
}

/* How one method did on what came next, beside guessing; by chance a share of n samples is off by this much. */
function aloneInWords(group) {
	const le = spreadOf(group, beforeLabel.of).mean, blind = spreadOf(group, (run) => run.summary.blind).mean;
	if (le === null)
		return "";
	const samples = beforeLabel.samples(group.runs[0]), p = blind === null ? 0 : (le + blind) / 2;
	const chance = samples > 0 ? 2 * Math.sqrt(2 * p * (1 - p) / samples) : 0;
	const said = "It predicted " + percent(le) + " % of the labels correctly before it saw them" + few(groupRest(group, "le"));
	if (blind === null)
		return said + ". ";
	return said + (Math.abs(le - blind) <= chance ? ": no clear difference from guessing by the last labels, " :
		le < blind ? ": worse than guessing by the last labels, " : "; guessing by the last labels: ") + percent(blind) + " %. ";
}

/* What one method keeps, at the end. */
function keptInWords(group) {
	const kept = spreadOf(group, (run) => run.summary.ir).mean, held = spreadOf(group, (run) => run.summary.held_out).mean;
	if (kept !== null)
		return "At the end it is right on " + percent(kept) + " % of held-out samples from all the past" + few(groupRest(group, "ir")) + ". ";
	return held === null ? "" : "It is right on " + percent(held) + " % of held-out samples" + few(groupRest(group, "held_out")) + ". ";
}

/* Of two groups at the top of a list: who is ahead and by how much, or that nobody can say. */
function raceInWords(order, words, opening, end) {
	const [first, second] = order.map((group) => spreadOf(group, words.of).mean);
	if (second !== null && second !== undefined && first - second <= byChance(order[0], order[1], words))
		return opening + ": no clear difference between " + order[0].name + " (" + percent(first) + " %) and " +
			order[1].name + " (" + percent(second) + " %)" + end + ". ";
	return opening + ": " + order[0].name + ", " + percent(first) + " %" +
		(second === null || second === undefined ? "" : ", " + (100 * (first - second)).toFixed(1) + " points more than " + order[1].name) + end + ". ";
}

/* Who is right most often before the label, beside guessing. */
function aheadInWords() {
	const known = groups.filter((group) => spreadOf(group, beforeLabel.of).mean !== null);
	const order = known.sort((a, b) => spreadOf(b, beforeLabel.of).mean - spreadOf(a, beforeLabel.of).mean);
	const blind = mean(runs.map((run) => run.summary.blind));
	return !order.length ? "" : raceInWords(order, beforeLabel, "Right most often before the label",
		(blind === null ? "" : "; guessing by the last labels: " + percent(blind) + " %") + few(groupRest(order[0], "le")));
}

function headline() {
	const order = ranked().map((g) => groups[g]), words = judge();
	if (!runs.length || !groups.some((group) => [words.of, beforeLabel.of].some((of) => spreadOf(group, of).mean !== null)))
		return runs.some((run) => !run.ended) ? "Nothing was evaluated yet. Numbers come with the first evaluation." : "Nothing was evaluated.";
	if (ofNumbers())
		return (groups.length > 1 ? closestInWords() :
			errorInWords(order[0]) + explainsInWords(order[0]) + cutsInWords(order[0]) + alarmsInWords(order[0])).trim();
	if (groups.length === 1)
		return (aloneInWords(order[0]) + keptInWords(order[0]) + cutsInWords(order[0]) + alarmsInWords(order[0])).trim();
	return (aheadInWords() + (runs.some((run) => run.summary.late_ir !== null) ?
		raceInWords(order, words, "Keeps most of what was seen", few(groupRest(order[0], "late_ir"))) : "")).trim();
}

/* What a comparison is by. */
function rankedBy() {
	return groups.length < 2 ? "" : judge().by + (runs.length === groups.length ? " One seed each: small differences may be chance." : "");
}
