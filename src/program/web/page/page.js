// The page of the view: draws the video of a source, of which the upper half is the original and the lower half the equalized
// picture, and changes its settings. No other address is asked for anything.

const $ = (id) => document.getElementById(id);
const picture = $("picture"), draw = picture.getContext("2d", { alpha: false });

/// The picture may be this many seconds old before it is played faster, and before what lies between is left out.
const LATE = 0.25, TOO_LATE = 1.0;
/// Seconds of the video that are kept.
const KEPT = 6;

let looks = [], states = [], number = 0, shown = null, busy = false;

// The address that has the token has done its work: the cookie has it now.
if (location.search) history.replaceState(null, "", "/");

async function ask(path, change) {
  const how = change ? { method: "PATCH", headers: { "Content-Type": "application/json" }, body: JSON.stringify(change) } : {};
  const answer = await fetch(path, how);
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.error);
  return said;
}

function say(text) {
  $("message").textContent = text;
  $("message").hidden = !text;
}

// ---- The video -------------------------------------------------------------------------------------------------------------

/// Plays the video of a source. `stop` ends it.
function play(source) {
  let over = false, socket = null, again = null, pictures = null;
  const video = document.createElement("video");
  video.muted = true;
  video.playsInline = true;
  video.disableRemotePlayback = true;

  const stop = () => {
    over = true;
    clearTimeout(again);
    if (socket) socket.close();
    if (pictures) pictures.removeAttribute("src");
    video.removeAttribute("src");
    video.load();
  };

  /// Browsers without Media Source Extensions, or without the codec, get pictures one by one.
  const fallBack = () => {
    pictures = new Image();
    pictures.src = `/api/sources/${source}/pictures.mjpeg`;
    const paint = () => {
      if (over) return;
      if (pictures.naturalWidth) paintPair(pictures, pictures.naturalWidth, pictures.naturalHeight);
      requestAnimationFrame(paint);
    };
    paint();
  };

  const Source = window.ManagedMediaSource || window.MediaSource;
  const begin = () => {
    if (over) return;
    let media = null, buffer = null, queue = [], header = null;
    socket = new WebSocket(`ws://${location.host}/api/sources/${source}/video`);
    socket.binaryType = "arraybuffer";

    const feed = () => {
      if (!buffer || buffer.updating || over) return;
      try {
        const ranges = buffer.buffered;
        if (ranges.length && video.currentTime - ranges.start(0) > 2 * KEPT) {
          buffer.remove(0, video.currentTime - KEPT);
          return;
        }
        if (queue.length) buffer.appendBuffer(queue.length > 1 ? join(queue.splice(0)) : queue.shift());
      } catch (error) {
        // A full or broken buffer: begin anew, with the next key frame.
        socket.close();
      }
    };

    const follow = () => {
      const ranges = video.buffered;
      if (!ranges.length) return;
      const end = ranges.end(ranges.length - 1), late = end - video.currentTime;
      if (late > TOO_LATE || late < 0 || video.currentTime < ranges.start(ranges.length - 1)) video.currentTime = Math.max(0, end - 0.03);
      video.playbackRate = late > LATE ? 1.1 : 1;
      if (video.paused) video.play().catch(() => {});
    };

    const open = (codec) => {
      const type = `video/mp4; codecs="${codec}"`;
      if (!Source || !Source.isTypeSupported(type)) {
        socket.onclose = null;
        socket.close();
        fallBack();
        return;
      }
      media = new Source();
      buffer = null;
      media.addEventListener("sourceopen", () => {
        buffer = media.addSourceBuffer(type);
        buffer.mode = "segments";
        buffer.addEventListener("updateend", () => { follow(); feed(); });
        buffer.addEventListener("error", () => socket.close());
        feed();
      }, { once: true });
      if (video.src) URL.revokeObjectURL(video.src);
      video.src = URL.createObjectURL(media);
    };

    socket.onmessage = ({ data }) => {
      if (typeof data !== "string") {
        queue.push(data);
        feed();
        return;
      }
      const said = JSON.parse(data);
      if (said.codec) { queue = []; open(said.codec); }
      if (said.error) { say(said.error); fallBack(); socket.onclose = null; socket.close(); }
      if (said.state) { show(said.state); chart(said.histogram, said.curve); }
    };
    socket.onclose = () => {
      if (over) return;
      say("no connection to the program; trying again");
      again = setTimeout(begin, 1000);
    };
  };

  const onPicture = () => {
    if (over) return;
    if (video.videoWidth) {
      paintPair(video, video.videoWidth, video.videoHeight);
      say("");
    }
    next();
  };
  const next = () => (video.requestVideoFrameCallback ? video.requestVideoFrameCallback(onPicture) : requestAnimationFrame(onPicture));
  video.addEventListener("error", () => socket && socket.close());
  next();
  begin();
  return { stop, paint: () => video.videoWidth && paintPair(video, video.videoWidth, video.videoHeight) };
}

function join(parts) {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let at = 0;
  for (const part of parts) { all.set(new Uint8Array(part), at); at += part.byteLength; }
  return all;
}

/// Draws the upper half of a pair left of the divider, and the lower half right of it.
function paintPair(pair, width, height) {
  const rows = height / 2;
  if (picture.width !== width || picture.height !== rows) { picture.width = width; picture.height = rows; }
  const at = Math.round((width * divider()) / 1000);
  if (at > 0) draw.drawImage(pair, 0, 0, at, rows, 0, 0, at, rows);
  if (at < width) draw.drawImage(pair, at, rows, width - at, rows, at, 0, width - at, rows);
}

// ---- The divider -----------------------------------------------------------------------------------------------------------

const divider = () => Number($("divider").value);

function setDivider(value) {
  $("divider").value = value;
  moveDivider();
}

function moveDivider() {
  const at = divider();
  const stage = $("stage").getBoundingClientRect(), scale = Math.min(stage.width / picture.width, stage.height / picture.height);
  const width = picture.width * scale, left = (stage.width - width) / 2;
  $("bar").style.left = `${left + (width * at) / 1000}px`;
  $("bar").hidden = at === 0 || at === 1000;
  $("left-name").hidden = at === 0;
  $("right-name").hidden = at === 1000;
  for (const button of document.querySelectorAll("[data-view]")) {
    const value = Number(button.dataset.view);
    button.setAttribute("aria-pressed", value === at || (value === 500 && at > 0 && at < 1000));
  }
  if (shown) shown.paint();
}

$("divider").addEventListener("input", moveDivider);
// Dragging begins anywhere on the picture.
$("stage").addEventListener("pointerdown", (event) => event.target.id === "divider" && dragTo(event));
$("stage").addEventListener("pointermove", (event) => event.buttons && event.target.id === "divider" && dragTo(event));
function dragTo(event) {
  const stage = $("stage").getBoundingClientRect(), scale = Math.min(stage.width / picture.width, stage.height / picture.height);
  const width = picture.width * scale;
  const at = (event.clientX - stage.left - (stage.width - width) / 2) / width;
  setDivider(Math.round(1000 * Math.min(1, Math.max(0, at))));
}
for (const button of document.querySelectorAll("[data-view]")) button.addEventListener("click", () => setDivider(Number(button.dataset.view)));
new ResizeObserver(moveDivider).observe($("stage"));

// ---- Numbers and settings --------------------------------------------------------------------------------------------------

function show(state) {
  states = states.map((old) => (old.source === state.source ? state : old));
  if (state.source !== number) return;
  document.title = `${state.name} – histeq-video`;
  const latency = state.latency_ms === null ? "" : `, ${state.latency_ms.toFixed(0)} ms`;
  $("line").textContent = state.no_signal_s ? `no signal for ${Math.round(state.no_signal_s)} s` : `${state.fps.toFixed(1)} frames/s${latency}`;
  if (state.no_signal_s) say(`no signal for ${Math.round(state.no_signal_s)} s`);
  if (!busy) {
    $("look").value = state.look;
    $("strength").value = Math.round(state.strength * 100);
    tellSettings();
  }
  $("record").hidden = state.recording === null;
  $("record").textContent = state.recording ? "Pause the recording" : "Go on recording";
  $("record").setAttribute("aria-pressed", String(state.recording));
  $("recordings").hidden = !state.has_recordings;
  const facts = [
    ["size", `${state.width} × ${state.height}`], ["frames", state.frames.toLocaleString()], ["dropped", state.dropped.toLocaleString()],
    ["viewers", state.viewers], ...(state.found ? [["found", state.found]] : []),
  ];
  $("facts").replaceChildren(...facts.flatMap(([name, value]) => [element("dt", name), element("dd", value)]));
}

function element(kind, text) {
  const made = document.createElement(kind);
  made.textContent = text;
  return made;
}

function tellSettings() {
  $("strength-text").textContent = `${$("strength").value} %`;
  $("about").textContent = (looks.find((look) => look.name === $("look").value) || {}).about || "";
}

/// Changes a setting; later numbers of the program do not undo what is being moved.
async function change(what) {
  busy = true;
  try {
    show(await ask(`/api/sources/${number}`, what));
    say("");
  } catch (error) {
    say(error.message);
  } finally {
    busy = false;
  }
}

$("look").addEventListener("change", () => { tellSettings(); change({ look: $("look").value }); });
$("strength").addEventListener("input", () => { busy = true; tellSettings(); });
$("strength").addEventListener("change", () => change({ strength: Number($("strength").value) / 100 }));
$("record").addEventListener("click", () => change({ recording: $("record").getAttribute("aria-pressed") !== "true" }));

function chart(histogram, curve) {
  const canvas = $("chart"), to = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
  const { width, height } = canvas;
  to.clearRect(0, 0, width, height);
  if (histogram) {
    const used = histogram.filter((count) => count > 0);
    // Bars are cut at a multiple of their mean, so that a large flat area does not dwarf all others.
    const mean = used.reduce((sum, count) => sum + count, 0) / Math.max(used.length, 1);
    const most = Math.max(1, Math.min(Math.max(...histogram), 6 * mean)), step = width / histogram.length;
    to.fillStyle = style.getPropertyValue("--bars");
    histogram.forEach((count, x) => {
      const bar = Math.min(height, Math.ceil((count * height) / most));
      to.fillRect(x * step, height - bar, Math.ceil(step), bar);
    });
  }
  to.strokeStyle = style.getPropertyValue("--line");
  to.beginPath();
  to.moveTo(0, height);
  to.lineTo(width, 0);
  to.stroke();
  to.strokeStyle = style.getPropertyValue("--accent");
  to.lineWidth = 3;
  to.beginPath();
  curve.forEach(([x, y], index) => to[index ? "lineTo" : "moveTo"](x * width, height - y * height));
  to.stroke();
  to.lineWidth = 1;
}

// ---- Recordings ------------------------------------------------------------------------------------------------------------

$("recordings").addEventListener("toggle", listRecordings);
async function listRecordings() {
  if (!$("recordings").open) return;
  const all = await ask(`/api/sources/${number}/recordings`).catch(() => []);
  const rows = all.reverse().map(({ name, begin, bytes }) => {
    const row = document.createElement("li"), button = element("button", name);
    button.type = "button";
    button.title = new Date(begin * 1000).toLocaleString();
    button.addEventListener("click", () => {
      $("player").hidden = false;
      $("player").src = `/api/sources/${number}/recordings/${encodeURIComponent(name)}`;
      $("player").play().catch(() => {});
    });
    row.append(button, element("span", `${(bytes / 1e6).toFixed(1)} MB`));
    return row;
  });
  $("list").replaceChildren(...(rows.length ? rows : [element("li", "none yet")]));
}

// ---- Sources ---------------------------------------------------------------------------------------------------------------

function select(source) {
  number = source;
  if (shown) shown.stop();
  const state = states.find((state) => state.source === source);
  if (state) show(state);
  $("snapshot").href = `/api/sources/${source}/picture.jpg`;
  $("snapshot").download = `${state ? state.name.replace(/[^\w.-]+/g, "_") : source}.jpg`;
  shown = play(source);
  listRecordings();
}
$("source").addEventListener("change", () => select(Number($("source").value)));

async function begin() {
  try {
    if (!looks.length) {
      looks = await ask("/api/looks");
      $("look").replaceChildren(...looks.map(({ name }) => element("option", name)));
    }
    states = await ask("/api/sources");
  } catch (error) {
    say(error.message);
  }
  if (!states.length) {
    setTimeout(begin, 1000);
    return;
  }
  $("source").replaceChildren(...states.map(({ source, name }) => Object.assign(element("option", name), { value: source })));
  $("source-label").hidden = states.length < 2;
  if (!states.some(({ source }) => source === number)) select(states[0].source);
}
begin();
