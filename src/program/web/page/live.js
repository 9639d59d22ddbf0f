// Sources of `live`: plays the video of one, of which the upper half is the original and the lower half the equalized picture, and
// changes its settings.

import { $, ask, chart, element, isFree, paintPair, readLooks, repaintBy, say, showEqualized, showFacts, tellSettings } from "/picture.js";
import { focusTile, hideWall, loseWall, put, showWall, updateWall } from "/wall.js";

/// The picture may be this many seconds old before it is played faster, and before what lies between is left out.
const LATE = 0.25, TOO_LATE = 1.0;
/// Seconds of the video that are kept.
const KEPT = 6;

/// Milliseconds between two looks at the list of recordings, and between two questions what all cameras do.
const LISTED = 5000, ASKED = 1000;

/// All cameras, and the number of the one that is shown; 0 where all are.
let cameras = [], number = 0, shown = null, busy = false, isBegun = false, listed = 0;

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
    socket.onclose = async () => {
      if (over) return;
      again = setTimeout(begin, 1000);
      $("line").textContent = "";
      const all = await ask("/api/sources").catch(() => null);
      if (!over) say(all && !all.some((state) => state.source === source) ? "this camera is away" : "no connection to the program; trying again");
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

// ---- Numbers and settings --------------------------------------------------------------------------------------------------

function show(state) {
  if (state.source !== number) return;
  document.title = `${state.name} – histeq-video`;
  const latency = state.latency_ms === null ? "" : `, ${state.latency_ms.toFixed(0)} ms to equalize`;
  const numbers = state.no_signal_s ? `no signal for ${Math.round(state.no_signal_s)} s` : `${state.fps.toFixed(1)} frames/s${latency}`;
  $("line").textContent = cameras.length < 2 ? `${state.name}: ${numbers}` : numbers;
  if (state.no_signal_s) say(`no signal for ${Math.round(state.no_signal_s)} s`);
  if (!busy) {
    $("look").value = state.look;
    $("strength").value = Math.round(state.strength * 100);
    tellSettings();
  }
  $("record").hidden = state.recording === null;
  $("record").textContent = state.recording ? "● Recording. Pause it" : "Recording is paused. Go on";
  $("record").setAttribute("aria-pressed", String(state.recording));
  $("recordings").hidden = !state.has_recordings;
  if ($("recordings").open && Date.now() - listed > LISTED) listRecordings();
  const facts = [
    ["size", `${state.width} × ${state.height}`], ["frames", state.frames.toLocaleString()], ["dropped", state.dropped.toLocaleString()],
    ["viewers", state.viewers], ...(state.found ? [["found", state.found]] : []),
  ];
  showFacts(facts);
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

// ---- Recordings ------------------------------------------------------------------------------------------------------------

/// Shows the player, or that the browser does not play the recording.
function showPlayer(plays) {
  $("player").hidden = !plays;
  $("unplayable").hidden = plays;
}

async function listRecordings() {
  if (!$("recordings").open) return;
  listed = Date.now();
  const all = await ask(`/api/sources/${number}/recordings`).catch(() => []);
  const rows = all.reverse().map(({ name, begin, bytes }) => {
    const row = document.createElement("li"), button = element("button", name), save = element("a", `${(bytes / 1e6).toFixed(1)} MB`);
    const path = `/api/sources/${number}/recordings/${encodeURIComponent(name)}`;
    button.type = "button";
    button.title = new Date(begin * 1000).toLocaleString();
    button.addEventListener("click", () => {
      showPlayer(true);
      $("player").src = path;
      $("player").play().catch(() => {});
    });
    Object.assign(save, { href: path, download: name, title: "save it" });
    row.append(button, save);
    return row;
  });
  $("list").replaceChildren(...(rows.length ? rows : [element("li", "none yet")]));
}

// ---- Cameras ---------------------------------------------------------------------------------------------------------------

function select({ source, label, state }) {
  number = source;
  if (shown) shown.stop();
  say("");
  // Nothing of the camera before it.
  $("picture").getContext("2d").clearRect(0, 0, $("picture").width, $("picture").height);
  $("record").hidden = $("recordings").hidden = true;
  showFacts([]);
  document.title = `${label} – histeq-video`;
  if (state) show(state);
  else put($("line"), "away");
  $("source").value = source;
  $("snapshot").href = `/api/sources/${source}/picture.jpg`;
  $("snapshot").download = `${label.replace(/[^\w.-]+/g, "_")}.jpg`;
  shown = play(source);
  repaintBy(shown.paint);
  listRecordings();
}

function showAll() {
  number = 0;
  if (shown) shown.stop();
  shown = null;
  document.title = `${cameras.length} cameras – histeq-video`;
  showWall(cameras, open);
  count();
}

/// Says how many cameras there are.
function count() {
  const away = cameras.filter(({ state }) => !state || state.no_signal_s !== null).length;
  put($("line"), `${cameras.length} cameras${away ? `, ${away} without a picture` : ""}`);
}

/// Shows the camera that the address of the page names, or all.
function go() {
  const named = Number(location.hash.replace("#camera=", ""));
  const one = cameras.length < 2 ? cameras[0] : cameras.find(({ source }) => source === named);
  $("all").hidden = $("source-label").hidden = !one || cameras.length < 2;
  if (!one) {
    showAll();
    return;
  }
  hideWall();
  select(one);
}

/// Opens a camera; with 0, all of them.
function open(source) {
  const before = number;
  history.pushState(null, "", source ? `#camera=${source}` : "/");
  go();
  if (source) $("all").focus();
  else focusTile(before);
}

/// Takes what the program says of all cameras.
function take(all) {
  const isOne = (name) => all.filter((camera) => camera.name === name).length === 1;
  cameras = all.map((camera) => ({ ...camera, label: isOne(camera.name) ? camera.name : `${camera.name} (${camera.source})` }));
  $("source").replaceChildren(...cameras.map(({ source, label }) => Object.assign(element("option", label), { value: source })));
}

/// Asks what the cameras do as long as all are shown.
async function follow() {
  if (number === 0 && !document.hidden) {
    try {
      const all = await ask("/api/cameras");
      if (number === 0) {
        take(all);
        updateWall(cameras);
        count();
      }
    } catch (error) {
      if (number === 0) {
        loseWall();
        put($("line"), error instanceof TypeError ? "no connection to the program; trying again" : error.message);
      }
    }
  }
  setTimeout(follow, ASKED);
}

function listen() {
  $("look").addEventListener("change", () => { showEqualized(); tellSettings(); change({ look: $("look").value }); });
  $("strength").addEventListener("input", () => { busy = true; tellSettings(); });
  $("strength").addEventListener("change", () => { showEqualized(); change({ strength: Number($("strength").value) / 100 }); });
  $("record").addEventListener("click", () => change({ recording: $("record").getAttribute("aria-pressed") !== "true" }));
  $("recordings").addEventListener("toggle", listRecordings);
  $("player").addEventListener("error", () => showPlayer(false));
  $("source").addEventListener("change", () => open(Number($("source").value)));
  $("all").addEventListener("click", () => open(0));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && number !== 0 && cameras.length > 1 && isFree(event)) open(0);
  });
  addEventListener("popstate", go);
}

/// Shows the cameras, as soon as there are any.
export async function showSources() {
  try {
    if (!isBegun) {
      await readLooks();
      listen();
    }
    isBegun = true;
    take(await ask("/api/cameras"));
  } catch (error) {
    say(error.message);
  }
  if (!cameras.length) {
    setTimeout(showSources, ASKED);
    return;
  }
  go();
  follow();
}
