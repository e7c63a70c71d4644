#!/usr/bin/env python3
"""usage: tests/golden/make_backup_golden.py RETAIN FOLDER

Makes a backup for tests of later versions: FOLDER/copy.tar.gz, of a live run that was killed, with the
lines that the run was sent and its answers (make_live_golden.py). tests/cli/old.py restores it.
"""
import os
import shutil
import subprocess
import sys
import tempfile

import make_live_golden


def main(retain, folder):
    os.makedirs(folder)
    with tempfile.TemporaryDirectory() as work:
        make_live_golden.main(retain, f"{work}/live")
        for name in "lines.ndjson", "answers.ndjson":
            shutil.copy(f"{work}/live/{name}", folder)
        subprocess.run([retain, "backup", "--quiet", f"{work}/live/run", f"{work}/copy"], check=True)
        shutil.make_archive(f"{folder}/copy", "gztar", f"{work}/copy")  # most of it is a journal's room to spare


if __name__ == "__main__":
    main(*sys.argv[1:])
