#!/usr/bin/env python3
"""The pages of `live --web`, `preview --web` and `web` in a real browser: what is seen, how late, and what viewers and attackers cost.

    tests/media/live/browser/web.py [--program PROGRAM] [--browser chromium|firefox] [--seconds N] [--keep FOLDER] [see|wall|file|noise|work|newcomers|play|texts|late|viewers|attack|soak]...

Chromium is driven by ChromeDriver (Debian's packages chromium, chromium-driver), Firefox by geckodriver (Debian's package
firefox-esr, `cargo install geckodriver`). What is seen: original and equalized picture
on the two sides of the divider are those that the program gives as files, on a wide screen and on a telephone, where nothing
sticks out; a look that is chosen is on the picture. Wall: three cameras that move and one that is away, opened by mouse and
keyboard, in the dark and in the light. File: the same of a file, and the command that is copied makes what was
shown. Noise: a picture comes with its noise first, and a part of it shows what goes. Play: a result and its original are
played, and what the browser does not play says so. Work: from a folder to a result with a divider, a queue, files that are dropped and downloaded, keys alone, names of
all controls, contrast of all texts, how soon a picture is there. Newcomers: what they lost their way by, on three screens. Texts: names that are markup. How late: each picture of a camera of 1280x720 at 30 frames a second has the
clock in it, and the page tells how old it is when it is painted. Viewers: twenty that come, go, sleep and stop reading.
Attack: connections that stay half open, and requests of noise. Soak, only if it is named: all of that for N seconds. Prints Markdown; screenshots go to FOLDER.
"""

import argparse
import base64
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[4]
WIDTH, HEIGHT, RATE = 1280, 720, 30
# The clock: milliseconds, a cell for each bit, at the upper left.
BITS, CELL = 32, 16
CHROMIUM = ["headless=new", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking",
            "disable-component-update", "disable-sync", "autoplay-policy=no-user-gesture-required", "window-size=1280,860"]


# No proxy is between this machine and itself.
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Camera(threading.Thread):
    """Pictures with the clock in them, for the stdin of a process."""

    def __init__(self, pipe):
        super().__init__(daemon=True)
        self.pipe = pipe

    def run(self):
        # A dark slope, which equalization lights up.
        row = bytes(16 + x * 60 // WIDTH for x in range(WIDTH))
        rest = row * (HEIGHT - CELL) + bytes([128]) * (WIDTH * HEIGHT // 2)
        begin, count = time.monotonic(), 0
        try:
            self.pipe.write(f"YUV4MPEG2 W{WIDTH} H{HEIGHT} F{RATE}:1 Ip A1:1 C420jpeg\n".encode())
            while True:
                time.sleep(max(0, begin + count / RATE - time.monotonic()))
                stamp = int(time.time() * 1000) & (1 << BITS) - 1
                cells = b"".join(bytes([235 if stamp >> bit & 1 else 16]) * CELL for bit in range(BITS))
                self.pipe.write(b"FRAME\n" + (cells + row[len(cells):]) * CELL + rest)
                self.pipe.flush()
                count += 1
        except (BrokenPipeError, ValueError):
            pass


class Run:
    """A run of the program with a view."""

    def __init__(self, program, *options):
        self.process = subprocess.Popen([program, *options], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        if options[-1] == "-":
            Camera(self.process.stdin).start()
        self.said = b""
        while b"in a browser: " not in self.said:
            line = self.process.stderr.readline()
            assert line, self.said.decode()
            self.said += line
        self.url = re.search(r"in a browser: (\S+)", self.said.decode())[1]
        self.port = int(self.url.rsplit(":", 1)[1].strip("/"))
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def until_frames(self):
        while not (self.ask("/api/sources") or [{"frames": 0}])[0]["frames"]:
            time.sleep(0.1)

    def get(self, path):
        with DIRECT.open(self.url + path.lstrip("/"), timeout=20) as answer:
            return answer.read()

    def ask(self, path):
        return json.loads(self.get(path))

    def change(self, path, what, method):
        request = urllib.request.Request(self.url + path.lstrip("/"), json.dumps(what).encode(), {"Content-Type": "application/json"}, method=method)
        with DIRECT.open(request, timeout=20) as answer:
            return json.loads(answer.read())

    def cpu(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self):
        return int(re.search(r"RssAnon:\s+(\d+)", pathlib.Path(f"/proc/{self.process.pid}/status").read_text())[1]) / 1024

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(30) == 0, "the run failed"


def live_run(program, *options, source=None):
    """A run of `live`, which has frames."""
    run = Run(program, "live", "--backend", "cpu", "--web=0", *options, *(source or ["-f", "yuv4mpegpipe", "-"]))
    run.until_frames()
    return run


class Browser:
    """A browser by WebDriver (https://www.w3.org/TR/webdriver2/)."""

    def __init__(self):
        self.profile = tempfile.mkdtemp()
        self.driver = subprocess.Popen(self.DRIVER, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.driver.stdout:
            if found := re.search(self.LISTENS, line):
                self.address = f"http://127.0.0.1:{found[1]}"
                break
        answer = self.call("/session", {"capabilities": {"alwaysMatch": self.capabilities()}})
        self.session = f"/session/{answer['sessionId']}"
        self.call(f"{self.session}/timeouts", {"script": 100_000})

    def call(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"})
        try:
            with DIRECT.open(request, timeout=120) as answer:
                return json.loads(answer.read())["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()[:1000]) from error

    def open(self, url):
        self.call(f"{self.session}/url", {"url": url})

    def run(self, script, *values):
        """What the script returns; it may await."""
        text = f"const end = arguments[arguments.length - 1]; (async (...values) => {{ {script} }})(...arguments).then(end, (e) => end('FAILED ' + e));"
        answer = self.call(f"{self.session}/execute/async", {"script": text, "args": list(values)})
        assert not str(answer).startswith("FAILED"), answer
        return answer

    def click(self, selector):
        found = self.call(f"{self.session}/element", {"using": "css selector", "value": selector})
        self.call(f"{self.session}/element/{next(iter(found.values()))}/click", {})

    def back(self):
        self.call(f"{self.session}/back", {})

    def until_at(self, path):
        """Waits until the page is one whose address begins so."""
        deadline = time.time() + 30
        while not self.call(f"{self.session}/url").split("/", 3)[3].startswith(path.lstrip("/")):
            assert time.time() < deadline, f"never at {path}"
            time.sleep(0.05)

    def follow(self, link, path):
        """Clicks a link, and waits for the page that it leads to. A script would not outlive that."""
        self.run("document.querySelector(values[0]).click();", link)
        self.until_at(path)

    def press(self, *keys):
        """Presses keys one after the other."""
        steps = [{"type": kind, "value": key} for key in keys for kind in ["keyDown", "keyUp"]]
        self.call(f"{self.session}/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": steps}]})

    def tab_to(self, what):
        """Tab until the control that `what` finds has the focus."""
        self.focus_page()
        for _ in range(120):
            if self.run("return Boolean(document.activeElement?.matches(values[0]));", what):
                return
            self.press(TAB)
        raise AssertionError(f"Tab never comes to {what}")

    def focus_page(self):
        """Has Tab begin at the first control of the page."""

    def screenshot(self, file):
        file.write_bytes(base64.b64decode(self.call(f"{self.session}/screenshot")))

    def close(self):
        self.driver.kill()
        subprocess.run(["pkill", "-f", self.profile])
        time.sleep(0.5)
        shutil.rmtree(self.profile, ignore_errors=True)


class Chromium(Browser):
    DRIVER, LISTENS = ["chromedriver", "--port=0"], r"successfully on port (\d+)"

    def capabilities(self):
        return {"goog:chromeOptions": {"args": [*CHROMIUM, f"user-data-dir={self.profile}"]}, "goog:loggingPrefs": {"browser": "ALL"}}

    def cdp(self, command, **values):
        return self.call(f"{self.session}/goog/cdp/execute", {"cmd": command, "params": values})

    def resize(self, width, height, is_phone):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if is_phone else 1, mobile=is_phone)

    def light(self, scheme):
        self.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def save_to(self, folder):
        self.cdp("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))

    def roles(self):
        """The role and the name of each thing that a screen reader finds, and the levels of headings."""
        nodes = [node for node in self.cdp("Accessibility.getFullAXTree")["nodes"] if not node.get("ignored")]
        levels = [at["value"]["value"] for node in nodes for at in node.get("properties", []) if at["name"] == "level"]
        return [(node.get("role", {}).get("value"), str(node.get("name", {}).get("value", ""))) for node in nodes], levels

    def complaints(self):
        """What the page or the browser said on its console."""
        entries = self.call(f"{self.session}/se/log", {"type": "browser"})
        # This test reads the canvas, about which Chromium has advice.
        return [entry["message"] for entry in entries if "willReadFrequently" not in entry["message"]]


class Firefox(Browser):
    DRIVER, LISTENS = ["geckodriver", "--port=0", "--allow-system-access"], r"Listening on 127.0.0.1:(\d+)"
    # Where nobody answers, a download would wait; a film begins with its sound as in Chromium above.
    SETTINGS = {"browser.download.folderList": 2, "browser.download.alwaysOpenPanel": False, "media.autoplay.default": 0}

    def capabilities(self):
        return {"moz:firefoxOptions": {"args": ["-headless", "-profile", self.profile], "binary": shutil.which("firefox-esr"), "prefs": self.SETTINGS}}

    def inside(self, script, *values):
        """Runs a script as the browser itself, which has no page's limits."""
        self.call(f"{self.session}/moz/context", {"context": "chrome"})
        try:
            return self.call(f"{self.session}/execute/sync", {"script": script, "args": list(values)})
        finally:
            self.call(f"{self.session}/moz/context", {"context": "content"})

    def resize(self, width, height, is_phone):
        # A window has a least width, and the page in it has none.
        self.call(f"{self.session}/window/rect", {"width": 1400, "height": 1000})
        self.inside("const { style } = gBrowser.selectedBrowser; style.flex = 'none'; [style.width, style.height] = arguments;", f"{width}px", f"{height}px")
        deadline = time.time() + 10
        while self.run("return [innerWidth, innerHeight];") != [width, height]:
            assert time.time() < deadline, self.run("return [innerWidth, innerHeight];")

    def focus_page(self):
        # Behind the last control Firefox goes on among its own.
        self.run("[...document.querySelectorAll('a, button, input')].find((one) => one.checkVisibility()).focus();")

    def light(self, scheme):
        self.inside("gBrowser.selectedBrowser.browsingContext.top.prefersColorSchemeOverride = arguments[0];", scheme)

    def save_to(self, folder):
        self.inside("Services.prefs.setStringPref('browser.download.dir', arguments[0]);", str(folder))

    def roles(self):
        """As with Chromium, of what can be used."""
        found = self.call(f"{self.session}/elements", {"using": "css selector", "value": "a, button, input, select, textarea, progress"})
        shown = [f"{self.session}/element/{next(iter(one.values()))}" for one in found]
        shown = [one for one in shown if self.call(f"{one}/displayed")]
        levels = self.run("return [...document.querySelectorAll('h1')].filter((one) => one.checkVisibility()).map(() => 1);")
        return [(self.call(f"{one}/computedrole"), self.call(f"{one}/computedlabel")) for one in shown], levels

    def complaints(self):
        """What the page or the browser said about it."""
        script = ("return Services.console.getMessageArray().filter((one) => one instanceof Ci.nsIScriptError && /127.0.0.1/.test(one.sourceName))"
                  ".map((one) => `${one.sourceName}:${one.lineNumber} ${one.errorMessage}`);")
        return self.inside(script)


# Mean differences of the canvas, left and right of the divider, to the pictures that the program gives as files.
DIFFERENCES = """
    const [path] = values, canvas = document.getElementById("picture"), width = canvas.width, height = canvas.height;
    const samples = async (of) => {
      const image = new Image();
      image.src = `${path}&of=${of}&n=${Math.random()}`;
      await image.decode();
      const other = new OffscreenCanvas(width, height), to = other.getContext("2d");
      to.drawImage(image, 0, 0, width, height);
      return to.getImageData(0, 0, width, height).data;
    };
    const now = canvas.getContext("2d").getImageData(0, 0, width, height).data;
    const difference = (other, from, to) => {
      let sum = 0, count = 0;
      for (let y = 40; y < height; y += 4) for (let x = from; x < to; x += 4) for (let c = 0; c < 3; c++) {
        sum += Math.abs(now[(y * width + x) * 4 + c] - other[(y * width + x) * 4 + c]);
        count++;
      }
      return sum / count;
    };
    const [original, equalized] = [await samples("original"), await samples("equalized")], half = width / 2;
    return { original: difference(original, 8, half - 8), equalized: difference(equalized, half + 8, width - 8),
             apart: difference(original, half + 8, width - 8), size: [width, height] };
"""

FITS = "return document.documentElement.scrollWidth <= innerWidth && document.getElementById('side').getBoundingClientRect().right <= innerWidth;"

AGES = """
    const [count] = values, canvas = document.getElementById("picture"), from = canvas.getContext("2d");
    const ages = [];
    let last = -1;
    while (ages.length < count) {
      await new Promise((next) => requestAnimationFrame(next));
      const cell = %d, cells = from.getImageData(0, 0, %d * cell, cell).data, row = %d * cell * (cell / 2);
      let stamp = 0;
      for (let bit = 0; bit < %d; bit++) stamp += (cells[(row + bit * cell + cell / 2) * 4] > 126 ? 1 : 0) * 2 ** bit;
      if (stamp === last) continue;
      last = stamp;
      ages.push(Date.now() %% 2 ** %d - stamp);
    }
    return ages;
""" % (CELL, BITS, BITS, BITS, BITS)


def see(given):
    """Both sides of the divider, wide and on a telephone."""
    clip = ["-f", "lavfi", "testsrc2=s=640x360:r=15,eq=brightness=-0.3:contrast=0.4,noise=alls=2,loop=-1:1,setpts=N/15/TB,realtime"]
    live = live_run(given.program, "--segment", "5s", "--record", f"{given.keep}/cam-%s.mp4", source=clip)
    browser = given.browser()
    try:
        for name, size in [("wide", (1280, 800, False)), ("phone", (390, 844, True))]:
            browser.resize(*size)
            browser.open(live.url)
            browser.run("while (document.getElementById('picture').width !== 640) await new Promise((next) => setTimeout(next, 50));"
                        "await new Promise((next) => setTimeout(next, 3000));")
            browser.screenshot(given.keep / f"{name}.png")
            found = browser.run(DIFFERENCES, "/api/sources/1/picture.jpg?")
            assert found["size"] == [640, 360], found
            assert found["original"] < 3 and found["equalized"] < 3 < found["apart"], found
            assert browser.run(FITS), f"{name}: something sticks out"
            print(f"{name}: left of the divider {found['original']:.2f} levels off the original, right of it "
                  f"{found['equalized']:.2f} off the equalized picture and {found['apart']:.1f} off the original")
        # By hand: a look, less of it, no recording.
        browser.run("const look = document.getElementById('look'); look.value = 'exact'; look.dispatchEvent(new Event('change'));"
                    "const strength = document.getElementById('strength'); strength.value = 40;"
                    "strength.dispatchEvent(new Event('change')); document.getElementById('record').click();")
        deadline = time.time() + 10
        wanted = {"look": "exact", "strength": 0.4, "recording": False}
        while wanted != (state := {key: live.ask("/api/sources/1")[key] for key in wanted}):
            assert time.time() < deadline, state
            time.sleep(0.1)
        time.sleep(2)
        found = browser.run(DIFFERENCES, "/api/sources/1/picture.jpg?")
        assert found["original"] < 3 and found["equalized"] < 5, found
        played = browser.run("document.getElementById('recordings').open = true; await new Promise((next) => setTimeout(next, 1000));"
                             "document.querySelector('#list li:nth-child(2) button').click();"
                             "const player = document.getElementById('player');"
                             "for (let n = 0; n < 100 && !(player.videoWidth && player.currentTime > 0.5); n++)"
                             " await new Promise((next) => setTimeout(next, 100));"
                             "return [player.videoWidth, player.currentTime];")
        assert played[0] == 640 and played[1] > 0.5, f"a recording does not play: {played}"
        browser.screenshot(given.keep / "changed.png")
        complaints = browser.complaints()
        assert not complaints, complaints
        print("look, strength and recording changed by the page; a recording played in it; nothing on the console")
    finally:
        browser.close()
        live.end()


WAIT = "while (!(%s)) await new Promise((next) => setTimeout(next, 50));"
SHOWN = WAIT % "document.getElementById('stage').dataset.whole?.includes(values[0]) && document.getElementById('message').hidden"
TAB, ENTER, ESCAPE = "\ue004", "\ue007", "\ue00c"

# Of each tile: its texts, and how many different pictures it shows, among 12 in three seconds.
TILES = """
    const tiles = [...document.querySelectorAll(".tile")], seen = tiles.map(() => new Set());
    for (let n = 0; n < 12; n++) {
      await new Promise((next) => setTimeout(next, 250));
      tiles.forEach((tile, index) => {
        const { width, height } = tile.querySelector("canvas");
        const pixels = tile.querySelector("canvas").getContext("2d").getImageData(0, 0, width, height).data;
        seen[index].add(pixels.reduce((sum, value, place) => (sum * 31 + value * (place % 4 < 3)) % 1000003, 0));
      });
    }
    return tiles.map((tile, index) => ({ name: tile.querySelector("b").textContent, doing: tile.querySelector(".hint").textContent,
      pictures: seen[index].size, size: [tile.querySelector("canvas").width, tile.querySelector("canvas").height] }));
"""

# What the page asked for in two seconds: pictures, and their bytes.
ASKED = """
    performance.clearResourceTimings();
    await new Promise((next) => setTimeout(next, 2000));
    const pictures = performance.getEntriesByType("resource").filter(({ name }) => name.includes("picture.jpg"));
    return [pictures.length, pictures.reduce((sum, { transferSize }) => sum + transferSize, 0)];
"""

# The least contrast (WCAG 2) of texts to the tiles behind them.
CONTRAST = """
    const light = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map((value) => value / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
      .reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0);
    return Math.min(...[...document.querySelectorAll(".tile b, .tile .hint")].map((text) => {
      const pair = [getComputedStyle(text).color, getComputedStyle(text.parentElement).backgroundColor].map(light);
      return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    }));
"""


def wall(given):
    """All cameras on one page."""
    config = given.keep / "wall.toml"
    sizes = {"gate": (640, 360), "yard": (320, 240), "dock": (180, 320)}
    films = [f'[camera.{name}]\nsource = "testsrc2=s={width}x{height}:r=10,realtime"\nformat = "lavfi"\n'
             for name, (width, height) in sizes.items()]
    config.write_text("".join(films) + '[camera.roof]\nsource = "tcp://127.0.0.1:9"\n')
    run = Run(given.program, "live", "--backend", "cpu", "--no-preview", "--web=0", "--config", config)
    browser = given.browser()
    all_move = WAIT % "[...document.querySelectorAll('.tile:not(.away) canvas')].filter(({ width }) => width !== 300).length === 3"
    is_wall = WAIT % "!document.getElementById('wall').hidden && document.querySelectorAll('.tile').length === 4"
    is_open = WAIT % ("document.getElementById('wall').hidden && document.getElementById('picture').width === values[0] &&"
                      " document.getElementById('message').hidden")
    try:
        for name, size in [("wall-wide", (1280, 800, False)), ("wall-phone", (390, 844, True))]:
            browser.resize(*size)
            browser.open(run.url)
            browser.run(is_wall + all_move)
            found = {tile["name"]: tile for tile in browser.run(TILES)}
            assert list(found) == [*sizes, "roof"], found
            for camera, (width, height) in sizes.items():
                tile = found[camera]
                assert tile["pictures"] >= 3 and "frames/s" in tile["doing"], tile
                assert abs(tile["size"][0] / tile["size"][1] - width / height) < 0.03, tile
            assert found["roof"]["doing"] == "away" and found["roof"]["pictures"] == 1, found["roof"]
            assert browser.run(FITS), f"{name}: something sticks out"
            fits = browser.run("return document.documentElement.scrollHeight <= innerHeight;")
            assert fits or name == "wall-phone", "not all cameras are seen at once"
            count, sent = browser.run(ASKED)
            assert 3 <= count <= 40 and sent < 2_000_000, (count, sent)
            for scheme in ["light", "dark"]:
                browser.light(scheme)
                contrast = browser.run(CONTRAST)
                assert contrast >= 4.5, f"{scheme}: {contrast}"
                browser.screenshot(given.keep / f"{name}-{scheme}.png")
            moved = ", ".join(f"{found[camera]['pictures']} of 12 of {camera}" for camera in sizes)
            print(f"{name}: pictures that differ: {moved}; the camera that is away says so; {count / 2:.0f} pictures and "
                  f"{sent / 2000:.0f} kB a second")
        # By the keyboard alone, and back.
        browser.resize(1280, 800, False)
        browser.open(run.url)
        browser.run(is_wall + all_move)
        for _ in range(10):
            browser.press(TAB)
            if browser.run("return document.activeElement.dataset.source ?? null;") == "2":
                break
        browser.press(ENTER)
        browser.run(is_open, sizes["yard"][0])
        assert browser.run("return location.hash;") == "#camera=2"
        count, _ = browser.run(ASKED)
        assert count == 0, f"{count} pictures of cameras that nobody sees"
        browser.press(ESCAPE)
        browser.run(is_wall + all_move)
        assert browser.run("return document.activeElement.dataset.source;") == "2", "the keyboard is elsewhere"
        # By the mouse, and back as browsers go back.
        browser.click('.tile[data-source="1"]')
        browser.run(is_open, sizes["gate"][0])
        browser.back()
        browser.run(is_wall + all_move)
        # A bookmark of a camera, and the button.
        browser.open(run.url + "#camera=3")
        browser.run(is_open, sizes["dock"][0])
        browser.click("#all")
        browser.run(is_wall + all_move)
        complaints = browser.complaints()
        assert not complaints, complaints
        # What stands still because the program has gone is not taken for what a camera sees.
        run.end()
        browser.run(WAIT % "[...document.querySelectorAll('.tile .hint')].every((text) => text.textContent === 'no connection')")
        print("a camera opened by key, by mouse and by its address, and all of them again; no picture is asked for that is not "
              "seen; nothing on the console; the end of the program is seen")
    finally:
        browser.close()
        if run.process.poll() is None:
            run.end()


def file(given):
    """A file, wide and on a telephone; its command, and its film."""
    clip, made = given.keep / "clip.mkv", given.keep / "made.mkv"
    dark = ["-f", "lavfi", "-i", "testsrc2=s=640x360:r=15:d=4", "-vf", "eq=brightness=-0.3:contrast=0.4,noise=alls=2", "-c:v", "ffv1"]
    subprocess.run(["ffmpeg", "-v", "error", "-y", *dark, clip], check=True)
    run = Run(given.program, "preview", "--web=0", clip)
    browser = given.browser()
    try:
        for name, size in [("file-wide", (1280, 900, False)), ("file-phone", (390, 1400, True))]:
            browser.resize(*size)
            begin = time.monotonic()
            browser.open(run.url)
            browser.run(SHOWN, "look=natural")
            shown = time.monotonic() - begin
            browser.run(WAIT % "[...document.querySelectorAll('.strip img')].every((image) => image.naturalWidth)")
            found = browser.run(DIFFERENCES, "/api/file/frame.jpg?at=0&look=natural")
            assert found["size"] == [640, 360], found
            assert found["original"] < 3 and found["equalized"] < 3 < found["apart"], found
            assert browser.run(FITS), f"{name}: something sticks out"
            browser.screenshot(given.keep / f"{name}.png")
            print(f"{name}: shown after {shown:.1f} s, all small pictures after {time.monotonic() - begin:.1f} s; left of the divider "
                  f"{found['original']:.2f} levels off the original, right of it {found['equalized']:.2f} off the equalized picture")
        # By hand: a look of the strip, less of it, another time.
        browser.run("document.querySelector('#by-look [data-look=haze]').click();" + SHOWN, "look=haze")
        browser.run("document.querySelector('#by-strength [data-strength=\"0.5\"]').click();" + SHOWN, "strength=0.5")
        browser.run("const seek = document.getElementById('seek'); seek.value = 2000; seek.dispatchEvent(new Event('input'));"
                    + WAIT % "document.getElementById('time').textContent === '0:02.00 / 0:04.00'")
        command = browser.run("return document.getElementById('command').value;").split()
        assert command[1:5] == ["--look", "haze", "--strength", "0.5"] and command[5] == str(clip), command
        subprocess.run([given.program, "-q", "-y", "--backend", "cpu", *command[1:-1], made], check=True)
        levels = []
        for source in [made, "shown.jpg"]:
            if source == "shown.jpg":
                source = given.keep / source
                source.write_bytes(run.get("/api/file/frame.jpg?at=2&look=haze&strength=0.5"))
            frame = ["-ss", "2"] if source == made else []
            rgb = ["-frames:v", "1", "-pix_fmt", "rgb24", "-f", "rawvideo", "-"]
            levels.append(subprocess.run(["ffmpeg", "-v", "error", *frame, "-i", source, *rgb], check=True, capture_output=True).stdout)
        off = sum(abs(a - b) for a, b in zip(*levels)) / len(levels[0])
        assert len(levels[0]) == len(levels[1]) == 640 * 360 * 3 and off < 2, off
        # What is saved is what is seen.
        save = "const link = document.getElementById('snapshot'); document.querySelector('[data-view=\"%s\"]').click();" \
               "link.addEventListener('click', (event) => event.preventDefault(), { once: true }); link.click(); return [link.href, link.download];"
        saved = {side: browser.run(save % view) for side, view in [("original", 1000), ("haze", 0)]}
        assert all(name.endswith(f"-0.02.00-{side}.jpg") for side, (_, name) in saved.items()), saved
        path = saved["original"][0].partition("/api/")[2]
        assert run.get(f"/api/{path}") == run.get("/api/file/frame.jpg?at=2&of=original"), saved
        begin = time.monotonic()
        sums = browser.run("document.getElementById('play').click();"
                           + WAIT % "document.getElementById('message').hidden && document.getElementById('seek').value > 2000" +
                           "const canvas = document.getElementById('picture'), seen = [performance.now()];"
                           "for (let n = 0; n < 20; n++) {"
                           "  await new Promise((next) => setTimeout(next, 100));"
                           "  seen.push(canvas.getContext('2d').getImageData(0, 0, 640, 360).data.reduce((sum, value) => sum + value, 0));"
                           "} return seen;")
        assert len(set(sums[1:])) > 8, f"the film stands still: {sums}"
        browser.screenshot(given.keep / "file-film.png")
        browser.run("document.getElementById('play').click();" + WAIT % "document.getElementById('play').textContent === 'Play'")
        complaints = browser.complaints()
        assert not complaints, complaints
        print(f"look, strength and time changed by the page; the command makes what it shows, {off:.2f} levels off; a film of it plays; "
              "nothing on the console")
    finally:
        browser.close()
        run.end()


TAB, SPACE, ENTER, LEFT, UP, RIGHT, DOWN = "\ue004", " ", "\ue007", "\ue012", "\ue013", "\ue014", "\ue015"

# Texts with less contrast than 4.5 to 1: their words, and the contrast.
FAINT = """
    const rgb = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number), light = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    const luminance = ([r, g, b]) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
    const behind = (element) => {
      for (; element; element = element.parentElement) {
        const [r, g, b, alpha = 1] = rgb(getComputedStyle(element).backgroundColor);
        if (alpha > 0.5) return [r, g, b];
      }
      return [255, 255, 255];
    };
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const element = walker.currentNode.parentElement, text = walker.currentNode.data.trim();
      if (!text || !element.checkVisibility() || ["SCRIPT", "STYLE"].includes(element.tagName)) continue;
      const [a, b] = [luminance(rgb(getComputedStyle(element).color)), luminance(behind(element))].sort((a, b) => b - a);
      const contrast = (a + 0.05) / (b + 0.05);
      if (contrast < 4.5) found.push([text, contrast.toFixed(2)]);
    }
    return found;
"""

CONTROLS = {"button", "link", "checkbox", "radio", "slider", "combobox", "textbox", "progressbar"}


def check_view(browser, name):
    """Nothing sticks out, the page has a title, all controls have names, all texts can be read, in dark and light."""
    assert browser.run("return document.documentElement.scrollWidth <= innerWidth;"), f"{name}: something sticks out"
    roles, levels = browser.roles()
    assert 1 in levels, f"{name}: no heading of the first level: {levels}"
    assert any(role in CONTROLS for role, _ in roles), f"{name}: {roles}"
    for role, named in roles:
        assert role not in CONTROLS or named.strip(), f"{name}: a {role} without a name: {roles}"
    for scheme in ["light", "dark"]:
        browser.light(scheme)
        faint = browser.run(FAINT)
        assert not faint, f"{name}, {scheme}: {faint}"


def give(browser, file):
    """Drops a file on the page."""
    browser.run("const bytes = Uint8Array.from(atob(values[1]), (letter) => letter.charCodeAt(0)), dropped = new DataTransfer();"
                "dropped.items.add(new File([bytes], values[0]));"
                "document.getElementById('drop').dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: dropped }));",
                file.name, base64.b64encode(file.read_bytes()).decode())


DONE = WAIT % "document.querySelectorAll('#ended .is-done').length === values[0]"
SEEN = WAIT % "document.getElementById('message').hidden && document.getElementById('picture').width === values[0]"


def work(given):
    """The page that does the work: from a folder to a result, by mouse, by keys, and with a file of one's own; a telephone both ways."""
    dark = ["-vf", "eq=brightness=-0.3:contrast=0.4", "-c:v", "libx264", "-preset", "ultrafast"]
    for name, size in [("wide", (1280, 800, False)), ("phone", (390, 844, True)), ("lying", (844, 390, True))]:
        folder = given.keep / f"work-{name}"
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "holiday").mkdir(parents=True)
        for clip, source in [("dive.mp4", "testsrc2=s=640x360:r=15:d=3"), ("garden.mp4", "smptehdbars=s=640x360:r=15:d=2"),
                             ("street.mp4", "mandelbrot=s=640x360:r=15"), ("../own.mp4", "testsrc=s=640x360:r=15:d=2")]:
            end = ["-t", "2"] if "d=" not in source else []
            subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", source, *end, *dark, folder / "holiday" / clip], check=True)
        run = Run(given.program, "web", "--no-browser", "--web=0", folder / "holiday")
        browser = given.browser()
        try:
            browser.resize(*size)
            browser.open(run.url)
            browser.run(WAIT % "document.querySelectorAll('#films img').length === 3"
                        + WAIT % "[...document.querySelectorAll('#films img')].every((image) => image.naturalWidth || image.getBoundingClientRect().top > innerHeight)")
            check_view(browser, f"{name}, folder")
            browser.screenshot(given.keep / f"work-{name}-folder.png")
            # A film, its look, Make it, and the result beside it.
            browser.follow("#films a", "/file/")
            browser.run(SEEN, 640)
            browser.run(WAIT % "[...document.querySelectorAll('.strip img')].every((image) => image.naturalWidth)")
            browser.run("document.querySelector('#by-look [data-look=night]').click();" + SHOWN, "look=night")
            check_view(browser, f"{name}, file")
            browser.screenshot(given.keep / f"work-{name}-file.png")
            browser.run("document.getElementById('go').click();" + DONE, 1)
            browser.follow("#ended .first", "/result/")
            browser.run(SEEN, 640)
            found = browser.run(DIFFERENCES, "/api/work/jobs/1/frame.jpg?at=0")
            assert found["original"] < 3 and found["equalized"] < 3 < found["apart"], found
            check_view(browser, f"{name}, result")
            browser.screenshot(given.keep / f"work-{name}-result.png")
            made = folder / "holiday/dive-equalized.mp4"
            line = [given.program, "-q", "-y", "--look", "night", folder / "holiday/dive.mp4", folder / "beside.mp4"]
            subprocess.run(line, check=True)
            frames = [subprocess.run(["ffmpeg", "-v", "error", "-i", file, "-f", "md5", "-"], check=True, capture_output=True).stdout
                      for file in [made, folder / "beside.mp4"]]
            assert frames[0] == frames[1], "the page and the command line make different films"
            # Three as a queue; the page is closed meanwhile.
            browser.open(run.url)
            browser.run(WAIT % "document.querySelectorAll('#films img').length === 4" + "document.getElementById('pick-all').click();"
                        "document.querySelector('#goals [value=web]').click(); document.getElementById('go').click();"
                        + WAIT % "document.querySelectorAll('.jobs li').length === 4")
            browser.screenshot(given.keep / f"work-{name}-queue.png")
            browser.open("about:blank")
            while any(job["state"] in ("waiting", "working") for job in run.ask("/api/work/jobs")["jobs"]):
                time.sleep(0.1)
            jobs = run.ask("/api/work/jobs")["jobs"]
            assert [job["state"] for job in jobs] == ["done"] * 4, jobs
            assert all(job["chosen"] == {"look": "night", "strength": None, "goal": "web"} for job in jobs[1:]), jobs
            # A file of one's own, by the page, and back.
            browser.open(run.url)
            browser.run(WAIT % "document.querySelectorAll('#films img').length === 7")
            give(browser, folder / "own.mp4")
            browser.run(WAIT % "document.querySelectorAll('#films img').length === 8 && !document.getElementById('go').disabled"
                        "&& document.querySelectorAll('#ended li').length === 4" + "document.getElementById('go').click();" + DONE, 5)
            saved = folder / "saved"
            saved.mkdir()
            browser.save_to(saved)
            browser.run("document.querySelector('#ended li a[download]').click();")
            deadline = time.time() + 20
            while not (saved / "own-equalized.mp4").exists():
                assert time.time() < deadline, list(saved.iterdir())
                time.sleep(0.1)
            check_view(browser, f"{name}, done")
            browser.screenshot(given.keep / f"work-{name}-done.png")
            # Keys alone: a film is chosen, made, and seen.
            browser.open(run.url)
            browser.run(WAIT % "document.querySelectorAll('#films img').length === 8")
            browser.tab_to("#films li:nth-child(2) input")
            browser.press(SPACE)
            browser.tab_to("#goals input")
            browser.press(DOWN)
            browser.tab_to("#go")
            browser.press(ENTER)
            browser.run(DONE, 6)
            browser.tab_to("#ended .first")
            browser.press(ENTER)
            browser.until_at("/result/")
            browser.run(SEEN, 640)
            browser.tab_to("#divider")
            browser.press(LEFT)
            assert browser.run("return document.getElementById('divider').value;") == "490"
            complaints = browser.complaints()
            assert not complaints, complaints
            print(f"{name}: a film of a folder made and compared, {found['equalized']:.2f} levels off its file; a queue of three that went on "
                  "without the page; a dropped file made and downloaded; all of it by keys; names, contrast and width hold; nothing on the console")
        finally:
            browser.close()
            run.end()
    soon(given)


# The control that has the focus, where it is not seen whole: outside of the window, or under what stays in its place.
HIDDEN = """
    const focused = document.activeElement, box = focused.getBoundingClientRect(), bar = document.getElementById("make");
    const bottom = getComputedStyle(bar).position === "fixed" && !bar.contains(focused) ? bar.getBoundingClientRect().top : innerHeight;
    const isSeen = focused === document.body || box.height > bottom || box.top >= -1 && box.bottom <= bottom + 1;
    return isSeen ? null : [focused.outerHTML.slice(0, 120), box.top, box.bottom, bottom];
"""


def newcomers(given):
    """The focus is never under the bar, a film that is played is seen, arrows go by frames, all that is refused is told, and so is a pause."""
    folder = given.keep / "newcomers"
    for name, size in [("wide", (1280, 800, False)), ("phone", (390, 844, True)), ("lying", (844, 390, True))]:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for clip, shape in [("film.mp4", "640x360"), ("tall.mp4", "360x640")]:
            subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", f"testsrc2=s={shape}:r=10:d=3", "-vf", "eq=brightness=-0.3:contrast=0.4",
                            "-c:v", "libx264", "-pix_fmt", "yuv420p", "-preset", "ultrafast", folder / clip], check=True)
        (folder / "broken.mp4").write_bytes(b"no film" * 100)
        run = Run(given.program, "web", "--no-browser", "--web=0", folder)
        numbers = {entry["name"]: entry["number"] for entry in run.ask("/api/work/folder")["entries"]}
        browser = given.browser()
        try:
            browser.resize(*size)
            # A film: each control is seen that has the focus, and the line of time below a film on end.
            browser.open(f"{run.url}file/{numbers['tall.mp4']}")
            browser.run(SEEN, 360)
            below = browser.run("const bar = document.getElementById('make');"
                                "const end = getComputedStyle(bar).position === 'fixed' ? bar.getBoundingClientRect().top : innerHeight;"
                                "return [document.getElementById('timeline').getBoundingClientRect().bottom, end, document.getElementById('seek').clientWidth];")
            assert below[0] <= below[1] and below[2] >= 240, f"{name}: the line of time: {below}"
            for _ in range(40):
                browser.press(TAB)
                hidden = browser.run(HIDDEN)
                assert not hidden, f"{name}: {hidden}"
            browser.run("document.activeElement.blur();")
            browser.tab_to("#seek")
            browser.press(RIGHT, RIGHT, RIGHT, LEFT, UP)
            assert abs(int(browser.run("return document.getElementById('seek').value;")) - 1200) <= 2, f"{name}: the slider does not go by frames and seconds"
            # What is played is seen.
            browser.run("document.getElementById('go').click();" + DONE, 1)
            browser.open(f"{run.url}result/1")
            browser.run(SEEN, 360)
            played = browser.run("document.querySelector('#plays button').click(); const player = document.getElementById('player');"
                                 + WAIT % "player.videoWidth && player.currentTime > 0.2" + "const { top, bottom } = player.getBoundingClientRect();"
                                 "return [top, bottom, innerHeight];")
            assert played[0] >= 0 and played[1] <= played[2] + 1, f"{name}: the player is not seen: {played}"
            # What cannot be shown has nothing to press that makes it.
            browser.open(f"{run.url}file/{numbers['broken.mp4']}")
            browser.run(WAIT % "document.body.textContent.includes('cannot be shown')" + WAIT % "!document.getElementById('jobs').hidden")
            check_view(browser, f"{name}, broken")
            assert browser.run("return !document.getElementById('go').checkVisibility();"), f"{name}: what cannot be shown is made"
            browser.open(f"{run.url}folder/99")
            browser.run(WAIT % "document.getElementById('line').textContent === 'there is no such file'" + WAIT % "document.getElementById('up').checkVisibility()")
            check_view(browser, f"{name}, no folder")
            # Of several that are dropped, all that are refused are told.
            browser.open(run.url)
            browser.run(WAIT % "document.querySelectorAll('#films li').length === 4")
            told = browser.run("const dropped = new DataTransfer();"
                               "for (const name of ['letter.pdf', 'own.mp4', 'table.xls']) dropped.items.add(new File(['\\0\\0\\0 ftypisom and more'.slice(0, name === 'own.mp4' ? 99 : 3)], name));"
                               "document.getElementById('drop').dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: dropped }));"
                               + WAIT % "document.getElementById('drop-now').textContent.includes('table.xls: this')" + "return document.getElementById('drop-now').textContent;")
            assert "letter.pdf" in told and "own.mp4" not in told, f"{name}: {told}"
            # A queue that is paused says so, also to who comes back; what is cancelled is told.
            run.change("/api/work/jobs", {"paused": True}, "PATCH")
            run.change("/api/work/jobs", {"files": [numbers["film.mp4"]] * 2, "chosen": {"look": "natural", "goal": "keep"}}, "POST")
            browser.open(run.url)
            browser.run(WAIT % "document.getElementById('now').textContent.includes('paused')"
                        + "document.querySelector('#queue button').click();" + WAIT % "document.getElementById('said').textContent.includes('cancelled')")
            print(f"{name}: no focus out of sight, a slider of {below[2]} pixels that goes by frames, a film that is seen; refusals, a pause and an end are told")
        finally:
            browser.close()
            run.end()


def noisy_clip(file, width, height):
    """Two seconds at a fifth of their light, with noise."""
    filters = f"scale={width}:{height},format=yuv420p,lutyuv=y=16+(val-16)*0.2,noise=alls=9:allf=t"
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-ss", "1", "-t", "2", "-i", ROOT / "samples/parking-lot.mp4", "-an", "-vf", filters,
                    "-c:v", "libx264", "-preset", "ultrafast", "-crf", "16", file], check=True)


# The mean of what pixels differ by from those beside them: of the halves of the part, and right of the divider on the stage.
GRAIN = """
    const grain = (image, left, top, width, height) => {
      const canvas = new OffscreenCanvas(width, height), to = canvas.getContext("2d");
      to.drawImage(image, left, top, width, height, 0, 0, width, height);
      const pixels = to.getImageData(0, 0, width, height).data;
      let sum = 0;
      for (let at = 0; at + 4 < pixels.length; at += 4) sum += Math.abs(pixels[at + 1] - pixels[at + 5]);
      return (4 * sum) / pixels.length;
    };
    const part = document.getElementById("part"), stage = document.getElementById("picture"), image = new Image();
    image.src = part.currentSrc;
    await image.decode();
    const { naturalWidth: width, naturalHeight: height } = image, half = stage.width / 2;
    return { above: grain(image, 0, 0, width, height / 2), below: grain(image, 0, height / 2, width, height / 2),
             stage: grain(stage, half + 8, 40, half - 16, stage.height - 80), size: [width, height] };
"""


def noise(given):
    """A dark film with noise: its picture is seen with the noise first, a part shows what goes, where one points."""
    clips = given.keep / "noise"
    clips.mkdir(exist_ok=True)
    noisy_clip(clips / "night.mp4", 1280, 720)
    run = Run(given.program, "web", "--no-browser", "--web=0", clips)
    browser = given.browser()
    part_is_there = WAIT % "!document.getElementById('noise').hidden && document.getElementById('part').naturalWidth"
    try:
        number = run.ask("/api/work/folder")["entries"][0]["number"]
        for name, size in [("noise-wide", (1280, 900, False)), ("noise-phone", (390, 844, True))]:
            browser.resize(*size)
            browser.open("about:blank")
            browser.open(f"{run.url}file/{number}")
            # What is on the stage while the whole is being made.
            noisy = browser.run(part_is_there + "const isWhole = Boolean(document.getElementById('stage').dataset.whole);" + GRAIN.replace("return {", "return { isWhole,"))
            browser.run(SHOWN, "look=")
            found = browser.run(GRAIN)
            assert found["above"] > 1.5 * found["below"], found
            assert noisy["isWhole"] or noisy["stage"] > 1.2 * found["stage"], (noisy, found)
            wide, high = found["size"]
            assert 64 <= wide <= 960 and abs(2 * high - wide) <= 4, found
            assert browser.run("return document.documentElement.scrollWidth <= innerWidth;"), f"{name}: something sticks out"
            check_view(browser, name)
            # Where one points, there is another part.
            pointed = browser.run("const part = document.getElementById('part'), before = part.currentSrc;"
                                  "const { left, top, width, height } = document.getElementById('stage').getBoundingClientRect();"
                                  "document.getElementById('stage').dispatchEvent(new PointerEvent('pointermove',"
                                  "  { clientX: left + width * 0.9, clientY: top + height * 0.9, bubbles: true }));"
                                  + WAIT % "part.complete && part.currentSrc !== before" + "return part.currentSrc;")
            assert re.search(r"[?&]x=(0\.[89]|1&)", pointed), pointed
            browser.screenshot(given.keep / f"{name}.png")
            complaints = browser.complaints()
            assert not complaints, complaints
            print(f"{name}: a part of {wide}x{high // 2}, whose noise goes from {found['above']:.1f} to {found['below']:.1f} levels")
    finally:
        browser.close()
        run.end()


def play(given):
    """A result and its original are played; where the browser has not the codec, it says so."""
    clips = given.keep / "play"
    shutil.rmtree(clips, ignore_errors=True)
    clips.mkdir()
    source = ["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=s=640x360:r=15:d=6", "-vf", "eq=brightness=-0.3:contrast=0.4"]
    subprocess.run([*source, "-c:v", "libx264", "-pix_fmt", "yuv420p", "-preset", "ultrafast", clips / "film.mp4"], check=True)
    subprocess.run([*source, "-c:v", "ffv1", clips / "scan.mkv"], check=True)
    run = Run(given.program, "web", "--no-browser", "--web=0", clips)
    browser = given.browser()
    try:
        files = [entry["number"] for entry in run.ask("/api/work/folder")["entries"]]
        order = json.dumps({"files": files, "chosen": {"look": "natural", "goal": "keep"}}).encode()
        request = urllib.request.Request(run.url + "api/work/jobs", order, {"Content-Type": "application/json"}, method="POST")
        film, scan = json.loads(DIRECT.open(request, timeout=20).read())["jobs"]
        while any(job["state"] in ("waiting", "working") for job in run.ask("/api/work/jobs")["jobs"]):
            time.sleep(0.1)
        for name, size in [("play-wide", (1280, 900, False)), ("play-phone", (390, 844, True))]:
            browser.resize(*size)
            browser.open(f"{run.url}result/{film}")
            browser.run(SEEN, 640)
            for which in [1, 2]:
                played = browser.run("document.querySelector(`#plays button:nth-child(${values[0]})`).click();"
                                     "const player = document.getElementById('player'), from = player.currentTime;"
                                     + WAIT % "player.readyState > 1 && player.currentTime > from + 0.3"
                                     + "player.pause(); return [player.videoWidth, player.currentTime, player.src];", which)
                assert played[0] == 640 and played[2].split("#")[0].endswith("/play"), played
            assert browser.run("const player = document.getElementById('player'); player.currentTime = 5;"
                               + WAIT % "!player.seeking" + "return player.currentTime;") == 5, "it cannot be seeked"
            check_view(browser, name)
            browser.screenshot(given.keep / f"{name}.png")
            browser.open(f"{run.url}result/{scan}")
            browser.run(SEEN, 640)
            ways = browser.run("document.querySelector('#plays button').click();" + WAIT % "!document.getElementById('unplayable').hidden"
                               + "return [document.getElementById('player').hidden, document.getElementById('save').download,"
                               " document.getElementById('open').pathname];")
            assert ways == [True, "scan-equalized.mkv", f"/api/work/jobs/{scan}/play"], ways
            check_view(browser, f"{name}, unplayable")
            print(f"{name}: a result and its original play, from the same place on; what the browser does not play has ways out")
    finally:
        browser.close()
        run.end()


def soon(given):
    """How soon a picture is there: of 4K, and after a change of the look; with its noise, in a part without, and whole."""
    clips = given.keep / "soon"
    clips.mkdir(exist_ok=True)
    for width, height in [(1920, 1080), (3840, 2160)]:
        noisy_clip(clips / f"{height}.mp4", width, height)
    run = Run(given.program, "web", "--no-browser", "--web=0", clips)
    browser = given.browser()
    print("| film | first picture | first whole picture | picture after a change of the look, median | part without noise | whole |\n"
          "|---|---:|---:|---:|---:|---:|")
    try:
        browser.resize(1280, 800, False)
        for entry in run.ask("/api/work/folder")["entries"]:
            begin = time.monotonic()
            browser.open(f"{run.url}file/{entry['number']}")
            browser.run(WAIT % "document.getElementById('stage').dataset.of === location.hash.slice(1)")
            first = time.monotonic() - begin
            browser.run(SHOWN, "look=natural")
            whole = time.monotonic() - begin
            spent = browser.run("const spent = [];"
                                "for (const look of ['night', 'haze', 'underwater', 'faithful', 'natural']) {"
                                "  const begin = performance.now();"
                                "  document.querySelector(`#by-look [data-look=${look}]`).click();"
                                "  const stage = document.getElementById('stage'), part = document.getElementById('part');"
                                "  const until = async (is) => {"
                                "    while (!is()) await new Promise((next) => setTimeout(next, 5));"
                                "    return performance.now() - begin;"
                                "  };"
                                "  spent.push([await until(() => stage.dataset.of?.includes(`look=${look}`)),"
                                "    await until(() => part.complete && part.currentSrc.includes(`look=${look}`) || stage.dataset.whole?.includes(`look=${look}`)),"
                                "    await until(() => stage.dataset.whole?.includes(`look=${look}`))]);"
                                "} return spent;")
            seen, part, done = (statistics.median(times) for times in zip(*spent))
            print(f"| {entry['name']} | {first:.2f} s | {whole:.2f} s | {seen:.0f} ms | {part:.0f} ms | {done:.0f} ms |", flush=True)
    finally:
        browser.close()
        run.end()


def texts(given):
    """Names of files and cameras, addresses and metadata that are markup: all pages show them as they are."""
    markup = "<img src=x onerror='window.harm=1'><script>window.harm=2<\u2215script>\u202e&lt;b\">"
    clip = given.keep / f"{markup}.mkv"
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=s=64x48:r=10:d=60", "-metadata", f"title={markup}", clip],
                   check=True)
    config = given.keep / "cameras.toml"
    cameras = [(f"{markup}1", str(clip)), (f"{markup}2", f"http://127.0.0.1:9/{markup}")]
    config.write_text("".join(f"[camera.{json.dumps(name)}]\nsource = {json.dumps(source)}\n" for name, source in cameras))
    for name, line in [(clip.name, ["preview", "--web=0", clip]), (cameras[0][0], ["live", "--no-preview", "--web=0", "--config", config]),
                       (clip.name, ["web", "--no-browser", "--web=0", clip])]:
        run = Run(given.program, *line)
        browser = given.browser()
        try:
            browser.open(run.url)
            browser.run(WAIT % "document.body.textContent.includes(values[0])", name)
            if line[0] == "live":
                browser.run(WAIT % "document.getElementById('tiles').textContent.includes(values[0])", cameras[1][0])
                browser.click('.tile[data-source="1"]')
            browser.run(WAIT % ("document.querySelector('#films img')?.naturalWidth" if line[0] == "web" else "document.getElementById('picture').width === 64"))
            time.sleep(1)
            found = browser.run("return [window.harm ?? 0, document.querySelectorAll('[onerror], script:not([src])').length];")
            assert found == [0, 0], found
            complaints = browser.complaints()
            assert not complaints, complaints
            print(f"{line[0]}: a name that is markup is text, runs nothing and loads nothing")
        finally:
            browser.close()
            run.end()


def late(given):
    """The age of pictures when they are painted."""
    live = live_run(given.program)
    browser = given.browser()
    try:
        browser.open(live.url)
        browser.run("while (document.getElementById('picture').width !== values[0]) await new Promise((next) => setTimeout(next, 50));"
                    "await new Promise((next) => setTimeout(next, 3000));", WIDTH)
        before, begin = live.cpu(), time.monotonic()
        ages = browser.run(AGES, int(given.seconds * RATE * 0.8))
        cores = (live.cpu() - before) / (time.monotonic() - begin)
        state = live.ask("/api/sources/1")
        print(f"| pictures painted | a second | age, median | 95th percentile | most | cores of the program | dropped |\n"
              f"|---:|---:|---:|---:|---:|---:|---:|\n"
              f"| {len(ages)} | {len(ages) / (time.monotonic() - begin):.1f} | {statistics.median(ages):.0f} ms "
              f"| {statistics.quantiles(ages, n=20)[-1]:.0f} ms | {max(ages)} ms | {cores:.2f} | {state['dropped']} of {state['frames']} |")
    finally:
        browser.close()
        live.end()


def watch(live):
    """A connection that has asked for the video."""
    connection = socket.create_connection(("127.0.0.1", live.port))
    key = base64.b64encode(random.randbytes(16)).decode()
    connection.sendall(f"GET /api/sources/1/video HTTP/1.1\r\nHost: 127.0.0.1:{live.port}\r\nConnection: Upgrade\r\n"
                       f"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode())
    return connection


def viewer(live, kind, until):
    """Reads all, or comes and goes, or sleeps, or stops reading."""
    while time.monotonic() < until:
        connection = watch(live)
        connection.settimeout(1)
        leave = min(until, time.monotonic() + (1 if kind == "goes" else 1e9))
        while time.monotonic() < leave:
            try:
                if kind == "stops" or not connection.recv(1 << 16):
                    time.sleep(0.2)
            except TimeoutError:
                pass
            except OSError:
                break
            if kind == "sleeps":
                time.sleep(random.random() * 3)
        connection.close()


def viewers(given):
    """What the run costs without viewers, with one, and with twenty."""
    print("| viewers | frames a second | dropped | cores of the program | memory |\n|---|---:|---:|---:|---:|")
    live = live_run(given.program)
    kinds = ["reads", "goes", "sleeps", "stops"]
    try:
        for name, all_kinds in [("none", []), ("one", ["reads"]), ("20: five read all, five come and go, five sleep, five stop reading", kinds * 5)]:
            until = time.monotonic() + given.seconds + 3
            threads = [threading.Thread(target=viewer, args=(live, kind, until), daemon=True) for kind in all_kinds]
            [thread.start() for thread in threads]
            time.sleep(3)
            before, state, begin = live.cpu(), live.ask("/api/sources/1"), time.monotonic()
            time.sleep(given.seconds - 1)
            after, spent, time_spent = live.ask("/api/sources/1"), live.cpu() - before, time.monotonic() - begin
            print(f"| {name} | {(after['frames'] - state['frames']) / time_spent:.1f} | {after['dropped'] - state['dropped']} "
                  f"| {spent / time_spent:.2f} | {live.memory():.0f} MiB |", flush=True)
            [thread.join() for thread in threads]
    finally:
        live.end()


def attack(given):
    """50 connections that stay half open, and 10,000 requests of noise."""
    live = live_run(given.program)
    try:
        before, memory = live.ask("/api/sources/1"), live.memory()
        begin = time.monotonic()
        half_open = []
        for _ in range(50):
            half_open.append(socket.create_connection(("127.0.0.1", live.port)))
            half_open[-1].sendall(b"GET /api/sources HTTP/1.1\r\nHo")
        words = [b"GET", b"PATCH", b"POST", b" ", b"/", b"api", b"sources", b"1", b"video", b"recordings", b"..", b"%2e", b"HTTP/1.1",
                 b"\r\n", b"Host: 127.0.0.1:%d" % live.port, b"Content-Length: ", b"99999999999", b"-1", b"Upgrade: websocket",
                 b"Sec-WebSocket-Key: x", b"Transfer-Encoding: chunked", b"\0", b"\xff\xfe", b"token=", b"Range: bytes=5-1"]
        statuses = {}
        rng = random.Random(1)
        for number in range(10_000):
            noise = b"".join(rng.choice(words) + rng.choice([b"", b" ", b"\r\n"]) for _ in range(rng.randrange(1, 24)))
            try:
                connection = socket.create_connection(("127.0.0.1", live.port), timeout=5)
                connection.sendall(noise + (b"\r\n\r\n" if number % 3 else b""))
                if number % 3:
                    connection.settimeout(0.05)
                    status = connection.recv(64).split(b" ")[1:2]
                    statuses[b"".join(status).decode(errors="replace")[:3]] = statuses.get(b"".join(status).decode(errors="replace")[:3], 0) + 1
                connection.close()
            except OSError:
                pass
        spent = time.monotonic() - begin
        after = live.ask("/api/sources/1")
        assert after["dropped"] - before["dropped"] <= 0.02 * (after["frames"] - before["frames"]), (before, after)
        assert live.get("/health") == b"ok\n"
        print(f"50 half-open connections and 10,000 requests of noise in {spent:.0f} s: {after['frames'] - before['frames']} frames, "
              f"{after['dropped'] - before['dropped']} dropped, memory {memory:.0f} -> {live.memory():.0f} MiB; answers: {dict(sorted(statuses.items()))}")
    finally:
        live.end()


def soak(given):
    """Viewers that come, go, sleep and stop reading for a long time, while settings change and pictures are saved."""
    live = live_run(given.program)
    begin = time.monotonic()
    until = begin + given.seconds
    threads = [threading.Thread(target=viewer, args=(live, kind, until), daemon=True) for kind in ["reads", "goes", "sleeps", "stops"] * 5]
    [thread.start() for thread in threads]
    print("| minutes | frames a second | dropped | memory | threads | descriptors |\n|---:|---:|---:|---:|---:|---:|")
    before, last, rows = live.ask("/api/sources/1"), begin, 0
    try:
        while time.monotonic() < until:
            look, strength = random.choice(["natural", "night", "haze", "exact"]), random.random()
            change = json.dumps({"look": look, "strength": round(strength, 2)}).encode()
            request = urllib.request.Request(live.url + "api/sources/1", change, {"Content-Type": "application/json"}, method="PATCH")
            DIRECT.open(request, timeout=20).read()
            assert live.get("/api/sources/1/picture.jpg?of=both")[:2] == b"\xff\xd8"
            time.sleep(2)
            if time.monotonic() >= begin + rows * given.seconds / 8:
                after, now = live.ask("/api/sources/1"), time.monotonic()
                place = pathlib.Path(f"/proc/{live.process.pid}")
                print(f"| {(now - begin) / 60:.1f} | {(after['frames'] - before['frames']) / (now - last):.1f} "
                      f"| {after['dropped'] - before['dropped']} | {live.memory():.0f} MiB | {len(list((place / 'task').iterdir()))} "
                      f"| {len(list((place / 'fd').iterdir()))} |", flush=True)
                before, last, rows = after, now, rows + 1
    finally:
        live.end()


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--program", default=ROOT / "target/debug/histeq-video", type=pathlib.Path)
    options.add_argument("--browser", default="chromium", choices=["chromium", "firefox"])
    options.add_argument("--seconds", type=float, default=20)
    options.add_argument("--keep", type=pathlib.Path)
    options.add_argument("what", nargs="*", default=[],
                         choices=["see", "wall", "file", "noise", "work", "newcomers", "play", "texts", "late", "viewers", "attack", "soak", []])
    given = options.parse_args()
    given.browser = {"chromium": Chromium, "firefox": Firefox}[given.browser]
    kept, given.keep = given.keep, (given.keep or pathlib.Path(tempfile.mkdtemp())).resolve()
    given.keep.mkdir(exist_ok=True)
    try:
        for what in given.what or ["see", "wall", "file", "noise", "work", "newcomers", "play", "texts", "late", "viewers", "attack"]:
            print(f"\n## {what}", flush=True)
            globals()[what](given)
    finally:
        if kept is None:
            shutil.rmtree(given.keep, ignore_errors=True)


main()
