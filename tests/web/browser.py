"""Chromium without a window, spoken to over a pipe (its DevTools protocol), with Python's own library only."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAMS = "chromium", "chromium-browser", "google-chrome"


def find():
    """The path of a Chromium, or None."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Browser:
    def __init__(self, program):
        self.profile = tempfile.mkdtemp(prefix="retain-browser-")
        to_read, self.write_fd = os.pipe()
        self.read_fd, to_write = os.pipe()

        def descriptors():
            # Chromium reads from 3 and writes to 4; both go up first, lest one overwrite the other.
            high_read, high_write = os.dup2(to_read, 103), os.dup2(to_write, 104)
            os.dup2(high_read, 3)
            os.dup2(high_write, 4)

        command = [program, "--headless", "--remote-debugging-pipe", "--disable-gpu", "--no-first-run",
                   "--disable-extensions", "--disable-background-networking", "--disable-component-update",
                   "--hide-scrollbars", f"--user-data-dir={self.profile}", "about:blank"]
        if os.geteuid() == 0:
            command.insert(1, "--no-sandbox")
        self.process = subprocess.Popen(command, preexec_fn=descriptors, pass_fds=(3, 4, to_read, to_write),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.buffer, self.events, self.number, self.session, self.target = b"", [], 0, None, None

    def close(self):
        try:
            self.send("Browser.close", session=False)
            self.process.wait(10)
        except Exception:
            self.process.kill()
            self.process.wait()
        os.close(self.read_fd)
        os.close(self.write_fd)
        shutil.rmtree(self.profile, ignore_errors=True)

    def message(self, timeout):
        end = time.monotonic() + timeout
        while b"\0" not in self.buffer:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.read_fd], [], [], left)[0]:
                raise TimeoutError("the browser says nothing")
            got = os.read(self.read_fd, 1 << 20)
            if not got:
                raise EOFError("the browser is gone")
            self.buffer += got
        line, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(line)

    def send(self, method, session=True, timeout=60, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if session and self.session:
            request["sessionId"] = self.session
        data = json.dumps(request).encode() + b"\0"
        while data:
            data = data[os.write(self.write_fd, data):]
        while True:
            answer = self.message(timeout)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def wait(self, method, timeout=60):
        """The next event of a kind; events that came before it stay in self.events."""
        for event in self.events:
            if event.get("method") == method and not event.get("seen"):
                event["seen"] = True
                return event
        while True:
            event = self.message(timeout)
            self.events.append(event)
            if event.get("method") == method:
                event["seen"] = True
                return event

    def open(self, url, width=1280, height=900, mobile=False, dark=False, scale=1):
        """A fresh page; returns how many seconds of a processor its thread took to load."""
        left, self.target = self.target, self.send("Target.createTarget", session=False, url="about:blank")["targetId"]
        if left:
            self.send("Target.closeTarget", session=False, targetId=left)
        self.session = self.send("Target.attachToTarget", session=False, targetId=self.target,
                                 flatten=True)["sessionId"]
        self.events = []
        for domain in "Page", "Runtime", "Log", "Network":
            self.send(domain + ".enable")
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale,
                  mobile=mobile)
        self.send("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.send("Performance.enable", timeDomain="threadTicks")
        self.send("Page.navigate", url=url)
        self.wait("Page.loadEventFired")
        metrics = self.send("Performance.getMetrics")["metrics"]
        return next(one["value"] for one in metrics if one["name"] == "TaskDuration")

    def run(self, expression):
        """The value of some JavaScript, as JSON has it."""
        result = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    def mouse(self, kind, x, y, **more):
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y, count=1):
        for kind in "mousePressed", "mouseReleased":
            self.mouse(kind, x, y, button="left", clickCount=count)

    def drag(self, x0, y0, x1, y1):
        self.mouse("mouseMoved", x0, y0)
        self.mouse("mousePressed", x0, y0, button="left", buttons=1, clickCount=1)
        for share in 0.3, 0.7, 1:
            self.mouse("mouseMoved", x0 + share * (x1 - x0), y0 + share * (y1 - y0), button="left", buttons=1)
        self.mouse("mouseReleased", x1, y1, button="left", clickCount=1)

    def complaints(self):
        """What a user would find in the console."""
        found = []
        for event in self.events:
            method, params = event.get("method"), event.get("params", {})
            if event.get("sessionId") != self.session:
                continue
            if method == "Runtime.exceptionThrown":
                found.append(params["exceptionDetails"].get("exception", {}).get("description", "exception"))
            elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                found.append(" ".join(filter(None, (params["entry"]["text"], params["entry"].get("url")))))
            elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
                found.append(str([arg.get("value") for arg in params["args"]]))
        return found

    def requests(self):
        """Addresses that the page asked for."""
        return [event["params"]["request"]["url"] for event in self.events
                if event.get("method") == "Network.requestWillBeSent"]

    def picture(self, path, whole=True):
        data = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
