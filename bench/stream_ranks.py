"""Ranks over streams: Friedman's test over all, then Wilcoxon's of the first against each other, by Holm's procedure."""


def ranks_of(row):
    """1 is the best; equals share the mean of their ranks."""
    best = sorted(row, reverse=True)
    return [(2 * best.index(x) + best.count(x) + 1) / 2 for x in row]


def table(results, first):
    """`results`: by stream, accuracy by learner; only streams that every learner finished count."""
    names = sorted(set().union(*results.values()), key=lambda name: name != first)
    rows = [[row[name] for name in names] for row in results.values() if set(row) == set(names)]
    if len(rows) < 5 or len(names) < 3:
        return ["ranks: %d streams that all of %d learners finished are too few" % (len(rows), len(names))]
    from scipy import stats
    ranks = list(zip(*map(ranks_of, rows)))
    said = ["ranks over %d streams that all finished; Friedman p = %.2g" %
        (len(rows), stats.friedmanchisquare(*zip(*rows)).pvalue)]
    others = []
    for i, name in enumerate(names[1:], 1):
        apart = [row[0] - row[i] for row in rows]
        others.append((stats.wilcoxon(apart).pvalue if any(apart) else 1.0, i, sum(a > 0 for a in apart),
            sum(a < 0 for a in apart), sum(apart) / len(apart)))
    said.append("%-9s %5s %6s %5s %6s %9s" % ("", "rank", "ahead", "wins", "losses", "p (Holm)"))
    said.append("%-9s %5.2f" % (first, sum(ranks[0]) / len(rows)))
    holm, largest = {}, 0.0
    for k, (p, i, *_) in enumerate(sorted(others)):
        largest = holm[i] = max(largest, min(1.0, p * (len(others) - k)))
    for _, i, wins, losses, mean in sorted(others, key=lambda other: sum(ranks[other[1]])):
        said.append("%-9s %5.2f %+6.1f %5d %6d %9.2g" % (names[i], sum(ranks[i]) / len(rows), mean, wins, losses, holm[i]))
    return said
