#!/usr/bin/env python3
"""usage: tests/serve/dashboard.py RETAIN [PICTURES]

The dashboard of a service in Chromium: light, dark and on a phone; it follows the learner, and its
buttons work. With a folder PICTURES, pictures of it go there. Prints TAP.
"""
import json
import os
import shutil
import sys
import tempfile
import time

from service import Service
from tap import plan, skip, verdict

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "web"))
import browser  # noqa: E402

TILES = "Object.fromEntries([...document.querySelectorAll('.tile')].map(t => [...t.children].slice(0, 2).map(c => c.textContent)))"
WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def lines(first, count):
    return "".join(json.dumps({"id": first + i, "input": {"x": i % 3, "y": i % 7}, "label": "abc"[i % 3]}) + "\n"
                   for i in range(count))


def until(page, expression, seconds=20):
    """The value of an expression, once it is true; or its last one."""
    end = time.monotonic() + seconds
    got = page.run(expression)
    while not got and time.monotonic() < end:
        time.sleep(0.2)
        got = page.run(expression)
    return got


def click(page, name):
    x, y = page.run("(r => [r.x + r.width / 2, r.y + r.height / 2])(document.getElementById('%s').getBoundingClientRect())" % name)
    page.click(x, y)


def looks(page, service, pictures):
    for name, settings in (("light", {}), ("dark", {"dark": True}), ("phone", {"width": 390, "height": 800, "mobile": True})):
        page.open("http://127.0.0.1:%d/one/" % service.port, **settings)
        shown = until(page, "document.querySelectorAll('.tile-value').length >= 12 && "
                            "[...document.querySelectorAll('.tile-value')].some(t => t.textContent.includes('%'))")
        verdict(shown and not page.complaints(), "%s: tiles are filled in, nothing is complained about" % name, page.complaints())
        verdict(page.run(WIDE) <= 0, "%s: nothing is wider than the page" % name, page.run(WIDE))
        words = page.run("document.body.innerText")
        verdict("A live stream, " in words and "standard input" not in words, "%s: what comes over HTTP is called so" % name,
                words[:500])
        if pictures:
            page.picture(os.path.join(pictures, name + ".png"))
    ink = page.run("getComputedStyle(document.body).backgroundColor")
    page.open("http://127.0.0.1:%d/one/" % service.port, dark=True)
    verdict(page.run("getComputedStyle(document.body).backgroundColor") != ink, "dark is another colour", ink)


def contenders(page, retain, folder, pictures):
    """What answers and what is tried beside it, side by side."""
    service = Service(retain, "--out", os.path.join(folder, "duel"), "--listen", "127.0.0.1:0", "--set",
                      "serve.shadow=sgd+clr")
    try:
        service.ask("POST", "/v1/samples", lines(0, 300))
        page.open("http://127.0.0.1:%d/" % service.port)
        rows = until(page, "(rows => rows.length === 2 && rows.every(r => r[1] === '300') ? rows : null)("
                           "[...document.querySelectorAll('#service-contenders tbody tr')].map(r => "
                           "[...r.children].map(c => c.textContent)))")
        verdict(rows and rows[0][0] == "live, answers" and rows[1][0] == "sgd-clr" and "%" in rows[1][2] and
                not page.complaints(), "contenders side by side", rows, page.complaints())
        verdict(page.run(WIDE) <= 0, "and nothing is wider than the page", page.run(WIDE))
        if pictures:
            page.picture(os.path.join(pictures, "contenders.png"))
    finally:
        service.end()


def follows(page, service):
    page.open("http://127.0.0.1:%d/one/" % service.port)
    until(page, "document.querySelectorAll('.tile').length")
    tiles = page.run(TILES)
    verdict({"requests/s", "samples/s", "median time", "99 % within", "queue", "accuracy before the label", "of the last 1 000",
             "drift alarms", "warnings"} <= set(tiles), "what is shown", tiles)
    links = page.run("[...document.querySelectorAll('#service-learners a')].map(a => [a.textContent, a.getAttribute('href')])")
    verdict(links == [["one", "/one/"], ["two", "/two/"]], "another learner is a click away", links)
    click(page, "service-pause")
    verdict(until(page, "document.getElementById('service-state').textContent === 'paused'"), "pause pauses")
    verdict(json.loads(service.get("/one/v1/state")[1])["state"] == "paused" and
            json.loads(service.get("/two/v1/state")[1])["state"] != "paused", "this learner, and no other")
    click(page, "service-pause")
    verdict(until(page, "document.getElementById('service-state').textContent === 'learns'"), "resume resumes")
    click(page, "service-save")
    verdict(not page.complaints(), "save makes no noise", page.complaints())
    page.open("http://127.0.0.1:%d/two/" % service.port)
    verdict("waits for its first input" in page.run("document.body.textContent"), "one without an input says what to do")
    service.ask("POST", "/two/v1/samples", lines(0, 30))
    verdict(until(page, "document.querySelectorAll('.tile').length > 0"), "and becomes a dashboard by itself")


def main(retain, pictures):
    program = browser.find()
    if not program:
        skip("the dashboard", "Chromium is not installed")
        return plan()
    folder = tempfile.mkdtemp(prefix="retain-dashboard-")
    service = page = None
    try:
        config = os.path.join(folder, "two.ini")
        with open(config, "w") as file:
            file.write("[learner one]\neval.every = 50\n[learner two]\nstdin.per_step = 8\n")
        service = Service(retain, config, "--out", folder, "--listen", "127.0.0.1:0")
        service.ask("POST", "/one/v1/samples", lines(0, 300))
        page = browser.Browser(program)
        looks(page, service, pictures)
        follows(page, service)
        contenders(page, retain, folder, pictures)
        verdict(service.end() == 0, "it ends in good order", service.errors)
    finally:
        if page:
            page.close()
        if service:
            service.end()
        shutil.rmtree(folder, ignore_errors=True)
    return plan()


sys.exit(main(os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None))
