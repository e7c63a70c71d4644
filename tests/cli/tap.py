"""What the tests here that are Python say: a line of TAP per case, and the plan at the end."""
cases = 0
failures = 0


def verdict(good, name, *facts):
    """A case; the facts are told where it fails."""
    global cases, failures
    cases += 1
    print("%s %d - %s" % ("ok" if good else "not ok", cases, name), flush=True)
    if not good:
        failures += 1
        for fact in facts:
            print("# " + str(fact)[:600].replace("\n", "\n# "), flush=True)


def skip(name, why):
    global cases
    cases += 1
    print("ok %d - %s # SKIP %s" % (cases, name, why), flush=True)


def plan():
    """After the last case; returns whether any failed."""
    print("1..%d" % cases)
    return failures > 0
