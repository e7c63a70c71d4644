"""usage: tap.py [ROOM [ARGUMENT...]]

Runs the tests of this folder (pytest) and prints what became of each as TAP. Room torch is what test_torch* have,
python the rest; files of the other are not even imported.
"""

import os
import sys

import pytest


class Tap:
    def __init__(self):
        self.count = 0

    def say(self, report, verdict, reason=""):
        self.count += 1
        print(f"\n{verdict} {self.count} - {report.nodeid}{reason}", flush=True)

    def pytest_runtest_logreport(self, report):
        if report.skipped:
            why = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.wasxfail
            self.say(report, "ok", f" # SKIP {why}")
        elif report.failed:
            self.say(report, "not ok")
        elif report.when == "call":
            self.say(report, "ok")

    def pytest_collectreport(self, report):
        if report.skipped:
            self.say(report, "ok", f" # SKIP {report.longrepr[2]}")


def main():
    tap = Tap()
    here = os.path.dirname(os.path.abspath(__file__))
    room, more = (sys.argv[1:] + [""])[0], sys.argv[2:]
    names = sorted(name for name in os.listdir(here) if name.startswith("test_") and name.endswith(".py"))
    files = [os.path.join(here, name) for name in names if room in ("", "torch" if name.startswith("test_torch") else "python")]
    code = pytest.main(["-q", "-p", "no:cacheprovider", "--no-header", *files, *more], plugins=[tap])
    print(f"1..{tap.count}")
    return int(code)


# Processes that tests spawn import this file.
if __name__ == "__main__":
    sys.exit(main())
