"""Chromium without a window, driven over a pipe by its DevTools protocol; needs no package of Python."""

import base64
import importlib.util
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time


def program():
    """The browser, or nothing where there is none."""
    names = [os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome"]
    return next((path for path in map(shutil.which, filter(None, names)) if path), None)


def skip_without(*packages):
    """Ends the test as skipped, and says why, where there is no Chromium or a Python package is missing."""
    for name in packages:
        if importlib.util.find_spec(name) is None:
            print(f"Skipped: there is no Python package {name}")
            sys.exit(77)
    if program() is None:
        print("Skipped: there is no chromium (apt-get install --no-install-recommends chromium)")
        sys.exit(77)


class Browser:
    def __init__(self, width=1440, height=900):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_child, self.output = os.pipe()
        self.input, from_child = os.pipe()
        command = [program(), "--headless=new", "--remote-debugging-pipe", "--disable-gpu", "--no-first-run", "--disable-extensions",
                   "--hide-scrollbars", "--disable-dev-shm-usage", "--force-color-profile=srgb", f"--user-data-dir={self.folder.name}"]
        if os.geteuid() == 0:
            command.append("--no-sandbox")
        self.log = open(os.path.join(self.folder.name, "log"), "wb")
        # The child reads commands from file 3 and writes answers to file 4.
        shell = f"exec {' '.join(map(repr, command))} about:blank 3<&{to_child} 4>&{from_child}"
        self.process = subprocess.Popen(["bash", "-c", shell], pass_fds=(to_child, from_child), stdout=self.log, stderr=self.log)
        os.close(to_child)
        os.close(from_child)
        self.number, self.opened, self.rest, self.events = 0, 0, b"", []
        self.session = None
        targets = self.send("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        self.session = self.send("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.send("Page.setLifecycleEventsEnabled", enabled=True)
        self.size(width, height)

    def close(self):
        self.process.terminate()
        self.process.wait()
        for file in (self.input, self.output):
            os.close(file)
        self.log.close()
        self.folder.cleanup()

    def send(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def event(self, method, **parameters):
        """Waits for an event with these parameters, also one that has come already, and answers all of them."""
        def is_it(event):
            return event.get("method") == method and parameters.items() <= event["params"].items()
        found = next(filter(is_it, self.events), None)
        while found is None:
            self.events.append(self.receive())
            found = self.events[-1] if is_it(self.events[-1]) else None
        self.events.remove(found)
        return found["params"]

    def receive(self, seconds=60):
        end = time.monotonic() + seconds
        while b"\0" not in self.rest:
            if not select.select([self.input], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            data = os.read(self.input, 1 << 20)
            if not data:
                raise RuntimeError("the browser has ended")
            self.rest += data
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def size(self, width, height, scale=1):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)

    def open(self, path, fragment=""):
        """Opens a file anew; answers after how many seconds it has loaded, with its script run."""
        begin = time.monotonic()
        self.opened += 1  # a question before the fragment, else another fragment would be the same document
        loader = self.send("Page.navigate", url=f"file://{os.path.abspath(path)}?{self.opened}{fragment}")["loaderId"]
        self.event("Page.lifecycleEvent", loaderId=loader, name="load")
        return time.monotonic() - begin

    def run(self, expression):
        """What a JavaScript expression gives; one that throws raises."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def frame(self):
        """Waits until what was asked for is drawn."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0))))")

    def key(self, key, shift=False):
        text = key if len(key) == 1 else {"Enter": "\r"}.get(key)
        codes = {"Enter": 13, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Escape": 27, "Tab": 9, "Home": 36, "End": 35, "Backspace": 8}
        code = codes.get(key, ord(key[0].upper()) if len(key) == 1 else 0)
        common = {"key": key, "windowsVirtualKeyCode": code, "modifiers": 8 if shift else 0}
        down = {"type": "keyDown", "text": text, **common} if text else {"type": "rawKeyDown", **common}
        self.send("Input.dispatchKeyEvent", **down)
        self.send("Input.dispatchKeyEvent", type="keyUp", **common)
        self.frame()

    def click(self, x, y):
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="none" if kind == "mouseMoved" else "left", clickCount=1)
        self.frame()

    def screenshot(self, clip=None):
        """A PNG of what is seen, or of a rectangle of the page."""
        image = self.send("Page.captureScreenshot", format="png", **({"clip": clip, "captureBeyondViewport": True} if clip else {}))
        return base64.b64decode(image["data"])

    def complaints(self):
        """Errors of the console, exceptions, and requests to anywhere but the file, since the last time."""
        self.run("0")
        found = []
        for event in self.events:
            method, about = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                details = about["exceptionDetails"]
                found.append(details.get("exception", {}).get("description", details["text"]))
            elif method == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
                found.append(about["entry"]["text"])
            elif method == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning", "assert"):
                found.append(str(about["args"]))
            elif method == "Network.requestWillBeSent" and not about["request"]["url"].startswith(("file:", "about:", "data:", "blob:")):
                found.append("asks for " + about["request"]["url"])
        self.events = []
        return found
