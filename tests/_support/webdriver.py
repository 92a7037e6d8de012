"""A browser without a window, driven over its own protocol: no package needed but the browser."""

import base64
import json
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import matplotlib

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    # WebGL without a graphics card.
    "--enable-unsafe-swiftshader",
)
# Letters of matplotlib, drawn as Debian does: what fonts a machine has, and how it likes them, does
# not matter.
FONTS = f"""<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
<dir>{Path(matplotlib.get_data_path()) / "fonts" / "ttf"}</dir>
<alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
<match target="pattern">
<edit name="family" mode="append_last"><string>DejaVu Sans</string></edit>
</match>
<cachedir prefix="xdg">fontconfig</cachedir>
<match target="pattern">
<edit name="antialias" mode="assign"><bool>true</bool></edit>
<edit name="hintstyle" mode="assign"><const>hintslight</const></edit>
<edit name="rgba" mode="assign"><const>none</const></edit>
</match>
</fontconfig>
"""


class NoBrowser(Exception):
    """The browser is installed and does not start."""


class Browser:
    """One headless window; a context manager that ends what it started."""

    def __init__(self, profile, width=1200, height=900, binary=CHROMIUM):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.home = f"http://127.0.0.1:{port}"
        fonts = Path(profile) / "fonts.conf"
        fonts.write_text(FONTS, encoding="utf-8")
        self.process = subprocess.Popen(
            [DRIVER, f"--port={port}"],
            env={**os.environ, "FONTCONFIG_FILE": str(fonts)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        options = {
            "binary": binary,
            "args": [*QUIET, f"--user-data-dir={profile}", f"--window-size={width},{height}"],
        }
        always = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        asked = {"capabilities": {"alwaysMatch": always}}
        try:
            self.session = self._started(asked)
        except BaseException:
            self._end()
            raise

    def _started(self, asked, tries=100):
        """Number of a session, as soon as the driver answers."""
        for _ in range(tries):
            try:
                return self._send("POST", "/session", asked)["sessionId"]
            except urllib.error.HTTPError as refused:
                said = json.load(refused)["value"]["message"]
                raise NoBrowser(said.partition("\n")[0]) from None
            except urllib.error.URLError:
                time.sleep(0.1)
        raise NoBrowser("chromedriver does not answer")

    def _end(self):
        self.process.terminate()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        try:
            self._send("DELETE", f"/session/{self.session}")
        finally:
            self._end()

    def _send(self, method, path, body=None):
        data = None if method != "POST" else json.dumps(body or {}).encode()
        request = urllib.request.Request(self.home + path, data, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def open(self, path):
        """Go to a file."""
        self._send("POST", f"/session/{self.session}/url", {"url": path.as_uri()})

    def run(self, script):
        """Value of a script that returns one."""
        body = {"script": script, "args": []}
        return self._send("POST", f"/session/{self.session}/execute/sync", body)

    def move(self, x, y):
        """Move the pointer to a place in the window."""
        step = {"type": "pointerMove", "duration": 0, "x": int(x), "y": int(y)}
        mouse = {"type": "pointer", "id": "mouse", "actions": [step]}
        self._send("POST", f"/session/{self.session}/actions", {"actions": [mouse]})

    def press_and_move(self, path):
        """Press the button at the first place of a path and let go at the last."""
        # Plotly looks for the point under the pointer once in 50 ms: no hand presses faster.
        steps = [
            {"type": "pointerMove", "duration": 100, "x": int(x), "y": int(y)} for x, y in path
        ]
        steps.insert(1, {"type": "pointerDown", "button": 0})
        steps.append({"type": "pointerUp", "button": 0})
        mouse = {"type": "pointer", "id": "mouse", "actions": steps}
        self._send("POST", f"/session/{self.session}/actions", {"actions": [mouse]})

    def press(self, key):
        """Press a key and let it go."""
        keys = [{"type": kind, "value": key} for kind in ("keyDown", "keyUp")]
        board = {"type": "key", "id": "keys", "actions": keys}
        self._send("POST", f"/session/{self.session}/actions", {"actions": [board]})

    def wait(self, script, seconds=30.0):
        """Value of a script, as soon as it is true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = self.run(script)
            if found:
                return found
            time.sleep(0.1)
        raise AssertionError(f"never true: {script}")

    def look(self, width, height=900, theme="light"):
        """Show pages in a window of a size, light or dark."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self._command("Emulation.setDeviceMetricsOverride", **size)
        wish = {"name": "prefers-color-scheme", "value": theme}
        self._command("Emulation.setEmulatedMedia", features=[wish])

    def picture(self):
        """PNG of the whole page."""
        size = self.run("return [innerWidth, document.documentElement.scrollHeight]")
        clip = {"x": 0, "y": 0, "width": size[0], "height": min(size[1], 8000), "scale": 1}
        wish = {"format": "png", "captureBeyondViewport": True, "clip": clip}
        return base64.b64decode(self._command("Page.captureScreenshot", **wish)["data"])

    def _command(self, name, **parameters):
        """Order of the browser's own protocol."""
        body = {"cmd": name, "params": parameters}
        return self._send("POST", f"/session/{self.session}/goog/cdp/execute", body)

    def click(self, selector):
        """Click the first element that a selector finds."""
        self.run(f"document.querySelector({json.dumps(selector)}).click()")

    def complaints(self):
        """What the console has complained about so far."""
        return self._send("POST", f"/session/{self.session}/se/log", {"type": "browser"})
