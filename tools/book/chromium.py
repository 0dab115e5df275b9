"""A headless Chromium and the site's own server, for looking at pages as a reader does.

Chromium is asked over its debugging pipe (file descriptors 3 and 4, JSON ended by a zero byte), so no package
is needed.
"""

import base64
import functools
import http.server
import json
import os
import select
import shutil
import subprocess
import tempfile
import threading
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


class BrowserError(Exception):
    """Chromium did not answer, or refused a command."""


class PageLeft(BrowserError):
    """The page gave way to another one before it had answered."""


def chromium_here():
    """The path of a Chromium, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Server:
    """Serves a folder on this machine, at `address`."""

    def __init__(self, folder):
        handler = functools.partial(_Quiet, directory=str(folder))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class Browser:
    """One tab. `errors` collects what the console of the page says that is an error."""

    def __init__(self, program, patience=60):
        self.patience = patience
        self.folder = tempfile.mkdtemp(prefix="palmette-chromium-")
        self.waiting = b""
        self.number = 0
        self.events = []
        self.errors = []
        self.session = None
        options = ["--headless=new", "--remote-debugging-pipe", "--disable-gpu", "--hide-scrollbars"]
        options += ["--no-first-run", "--disable-background-networking", "--disable-component-update"]
        options += [f"--user-data-dir={self.folder}"]
        if os.geteuid() == 0:
            options.append("--no-sandbox")  # Chromium refuses its sandbox to root
        self._start([program, *options, "about:blank"])

    def _start(self, command):
        to_read, self.to_browser = os.pipe()
        self.from_browser, to_write = os.pipe()

        def place_pipes():
            high = [os.dup(to_read), os.dup(to_write)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            command,
            preexec_fn=place_pipes,
            pass_fds=(3, 4),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(to_write)

    def __enter__(self):
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        for end in (self.to_browser, self.from_browser):
            os.close(end)
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def ask(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to_browser, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + self.patience
        while True:
            answer = self._message(end, method)
            if answer.get("id") == self.number:
                if "error" in answer:
                    text = answer["error"]["message"]
                    raise (PageLeft if "navigated" in text else BrowserError)(f"{method}: {text}")
                return answer["result"]
            self._note(answer)

    def _message(self, end, what):
        while b"\0" not in self.waiting:
            if not select.select([self.from_browser], [], [], max(0, end - time.monotonic()))[0]:
                raise BrowserError(f"{what}: no answer within {self.patience} s")
            piece = os.read(self.from_browser, 1 << 20)
            if not piece:
                raise BrowserError(f"{what}: Chromium has ended")
            self.waiting += piece
        first, _, self.waiting = self.waiting.partition(b"\0")
        return json.loads(first)

    def _note(self, event):
        method, told = event.get("method"), event.get("params", {})
        self.events.append(method)
        if method == "Runtime.exceptionThrown":
            details = told["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and told["type"] in ("error", "assert"):
            self.errors.append(
                " ".join(str(value.get("value", value.get("description"))) for value in told["args"])
            )
        elif method == "Log.entryAdded" and told["entry"]["level"] == "error":
            self.errors.append(f"{told['entry']['text']} {told['entry'].get('url', '')}")

    def set_width(self, width, height=900, dark=False):
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, address):
        """Loads a page to the end."""
        self.events.clear()
        refused = self.ask("Page.navigate", url=address).get("errorText")
        if refused:
            raise BrowserError(f"{address}: {refused}")
        end = time.monotonic() + self.patience
        while "Page.loadEventFired" not in self.events:
            self._note(self._message(end, address))

    def value(self, expression):
        """The value of an expression of JavaScript in the page."""
        told = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in told:
            raise BrowserError(f"{expression}: {told['exceptionDetails']['text']}")
        return told["result"].get("value")

    def wait_for(self, expression):
        """Until the expression is true, in this page or the one that follows; its value."""
        end = time.monotonic() + self.patience
        while time.monotonic() <= end:
            try:
                if value := self.value(expression):
                    return value
            except PageLeft:
                pass
            time.sleep(0.05)
        raise BrowserError(f"{expression} was not true within {self.patience} s")

    def picture(self, whole_page=False):
        """What is seen, as PNG."""
        return base64.b64decode(self.ask("Page.captureScreenshot", captureBeyondViewport=whole_page)["data"])
