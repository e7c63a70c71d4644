#!/usr/bin/env python3
"""usage: tests/api/abi.py INCLUDE OLD VERSION CC...

Programs built with the headers of a release run with all of its patches: what OLD/header-MAJOR.MINOR declares is
declared in INCLUDE as it was, and structs have their sizes and offsets. Until 1.0 that binds releases of one minor
version only (docs/reference/compatibility.md), so before the first release of one there is nothing to compare, but
that changes which break programs are found. Prints TAP.
"""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../cli"))
import tap

INCLUDE, OLD, VERSION, CC = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
HEADERS = ["retain.h", "retain_parts.h"]


def plain(words):
    """Without comments, lines of the preprocessor and attributes."""
    words = re.sub(r"/\*.*?\*/", " ", words, flags=re.S)
    words = re.sub(r"(\\\n|[^\n])*", lambda line: "" if line[0].lstrip().startswith("#") else line[0], words)
    return " ".join(words.split())


def fields_of(body):
    """Names of a struct's fields, but for those in reserve."""
    for declaration in body.split(";"):
        pointer = re.search(r"\(\*(\w+)\)\s*\(", declaration)
        parts = [declaration] if pointer else declaration.split(",")
        for part in parts:
            name = pointer or re.search(r"(\w+)\s*(\[[^]]*\]\s*)*$", part)
            if name and not name[1].startswith("reserved"):
                yield name[1]


def facts_of(include):
    """Everything that a compiled program depends on: {what: value}."""
    words = " ".join(plain(open(os.path.join(include, name), encoding="utf-8").read()) for name in HEADERS)
    facts = {"function " + said[1]: said[0] for said in re.findall(r"RETAIN_API ([^;]*?\b(retain_\w+)\([^;]*);", words)}
    sizes, places, numbers = [], [], []
    for name, body in re.findall(r"\bstruct (retain_\w+) \{([^}]*)\}", words):
        sizes.append(name)
        places += [(name, field) for field in fields_of(body)]
    for body in re.findall(r"\benum(?: \w+)? \{([^}]*)\}", words):
        numbers += re.findall(r"(RETAIN_\w+)(?=\s*[,=]|\s*$)", body)
    rows = [f'say("struct {name}", sizeof(struct {name}))' for name in sizes]
    rows += [f'say("field {name}.{field}", offsetof(struct {name}, {field}))' for name, field in places]
    rows += [f'say("number {name}", {name})' for name in numbers]
    with tempfile.TemporaryDirectory() as work:
        with open(f"{work}/a.c", "w", encoding="utf-8") as file:
            file.write("#include <stddef.h>\n#include <stdio.h>\n#include <retain.h>\n"
                       '#define say(what, value) printf("%s=%lld\\n", what, (long long)(value))\n'
                       "int main(void) {\n" + ";\n".join(rows) + ";\nreturn 0; }\n")
        subprocess.run([*CC, "-w", "-I", include, f"{work}/a.c", "-o", f"{work}/a"], check=True)
        out = subprocess.run([f"{work}/a"], check=True, capture_output=True, text=True).stdout
    facts.update(line.split("=") for line in out.splitlines())
    return facts


def broken(before, now):
    return [f"{what}: was {before[what]}, is {now.get(what)}" for what in before if now.get(what) != before[what]]


def changed(change, work):
    """What the headers would break if one of them were changed so."""
    os.makedirs(work)
    for name in HEADERS:
        with open(os.path.join(INCLUDE, name), encoding="utf-8") as file, \
                open(os.path.join(work, name), "w", encoding="utf-8") as to:
            words = file.read()
            to.write(words.replace(*change) if name == "retain.h" else words)
            assert name != "retain.h" or words.count(change[0]) == 1, change
    return broken(now, facts_of(work))


now = facts_of(INCLUDE)
kinds = {kind: sum(what.startswith(kind) for what in now) for kind in ("function", "struct", "field", "number")}
tap.verdict(kinds["function"] > 80 and kinds["struct"] > 20 and kinds["field"] > 100 and kinds["number"] > 10,
            "the headers are understood", kinds)
with tempfile.TemporaryDirectory() as place:
    for name, change, breaks in (
            ("a function that is gone", ("RETAIN_API const char *retain_version(void);", ""), True),
            ("another argument", ("retain_version(void)", "retain_version(int n)"), True),
            ("a field before others", ("struct retain_key {", "struct retain_key { int first;"), True),
            ("a struct that grows", ("const void *reserved[4];\n};\n\n/* Keys", "const void *reserved[5];\n};\n\n/* Keys"), True),
            ("a field from the reserve", ("const void *reserved[4];\n};\n\n/* Keys",
                                          "const void *more;\n\tconst void *reserved[3];\n};\n\n/* Keys"), False),
            ("a number before others", ("RETAIN_TYPE_BOOL,", "RETAIN_TYPE_FIRST, RETAIN_TYPE_BOOL,"), True),
            ("a number after others", ("enum retain_type {", "enum { RETAIN_MORE = 9 };\nenum retain_type {"), False)):
        found = changed(change, os.path.join(place, name.replace(" ", "-")))
        tap.verdict(bool(found) == breaks, name + (" breaks programs" if breaks else " does not"), found)
minor = VERSION.split(".")[:1 if int(VERSION.split(".")[0]) else 2]
header = os.path.join(OLD, "header-" + ".".join(minor))
if os.path.isdir(header):
    found = broken(facts_of(header), now)
    tap.verdict(not found, "what %s declared is as it was" % os.path.basename(header), "\n".join(found))
sys.exit(tap.plan())
