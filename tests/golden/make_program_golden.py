#!/usr/bin/env python3
"""usage: tests/golden/make_program_golden.py RETAIN FOLDER

Makes programs' folders for tests of later versions by the build that RETAIN is of: tests/api/test_old.c says what they
are, and opens them.
"""
import os
import subprocess
import sys

from make_live_golden import tidy


def main(retain, folder):
    subprocess.run([os.path.join(os.path.dirname(retain), "tests/test_api_old"), folder], check=True)
    for name in "closed", "killed":
        tidy(f"{folder}/{name}")


if __name__ == "__main__":
    main(*sys.argv[1:])
