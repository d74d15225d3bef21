"""Firefox without a window, driven by its Marionette protocol; needs no package of Python and no other driver."""

import base64
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

PREFERENCES = {
    "marionette.port": 0,  # any, which it writes into its profile
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "app.update.disabledForTesting": True,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "browser.dom.window.dump.enabled": True,
    "devtools.console.stdout.content": True,
}


def program():
    """The browser, or nothing where there is none."""
    names = [os.environ.get("FIREFOX", ""), "firefox-esr", "firefox"]
    return next((path for path in map(shutil.which, filter(None, names)) if path), None)


class Firefox:
    def __init__(self, width=1440, height=900):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        folder = Path(self.profile.name)
        (folder / "user.js").write_text("".join(f'user_pref("{name}", {json.dumps(value)});\n' for name, value in PREFERENCES.items()))
        self.log = folder / "log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([program(), "--headless", "--marionette", "--no-remote", "--profile", str(folder)],
                                            env={**os.environ, "HOME": str(folder), "XDG_CACHE_HOME": str(folder)}, stdout=log, stderr=log)
        self.connection = socket.create_connection(("127.0.0.1", self.port()), timeout=60)
        self.rest, self.number, self.opened = b"", 0, 0
        self.receive()  # how it introduces itself
        self.send("WebDriver:NewSession", {})
        self.send("WebDriver:SetWindowRect", {"width": width, "height": height})

    def port(self, seconds=60):
        """That it listens on, which it writes down when it does."""
        end = time.monotonic() + seconds
        while not (found := re.search(r"Listening on port (\d+)", self.log.read_text(errors="replace"))):
            if self.process.poll() is not None:
                raise RuntimeError("Firefox ends: " + self.log.read_text(errors="replace"))
            if time.monotonic() > end:
                raise TimeoutError("Firefox does not listen")
            os.sched_yield()
        return int(found[1])

    def close(self):
        self.connection.close()
        self.process.terminate()
        self.process.wait()
        self.lines = self.log.read_text(errors="replace").splitlines()
        self.profile.cleanup()

    def receive(self):
        """A message: its length, a colon, JSON."""
        while True:
            head, colon, body = self.rest.partition(b":")
            if colon and len(body) >= int(head):
                self.rest = body[int(head) :]
                return json.loads(body[: int(head)])
            data = self.connection.recv(1 << 20)
            if not data:
                raise RuntimeError("Firefox has ended")
            self.rest += data

    def send(self, command, parameters):
        self.number += 1
        message = json.dumps([0, self.number, command, parameters]).encode()
        self.connection.sendall(str(len(message)).encode() + b":" + message)
        _, _, error, result = self.receive()
        if error:
            raise RuntimeError(f"{command}: {error['message']}")
        return result

    def open(self, path, fragment=""):
        """Opens a file anew."""
        self.opened += 1
        self.send("WebDriver:Navigate", {"url": f"file://{os.path.abspath(path)}?{self.opened}{fragment}"})

    def run(self, expression):
        """What a JavaScript expression gives; one that throws raises."""
        return self.send("WebDriver:ExecuteScript", {"script": f"return ({expression});", "args": [], "sandbox": None})["value"]

    def frame(self):
        """Waits until what was asked for is drawn."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0))))")

    def screenshot(self):
        """A PNG of what is seen."""
        return base64.b64decode(self.send("WebDriver:TakeScreenshot", {"full": False})["value"])

    def complaints(self):
        """Errors of pages that it has written; only after it is closed."""
        return [line for line in self.lines if line.startswith("JavaScript error: file:") or "Content-Security-Policy" in line]
