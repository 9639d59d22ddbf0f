// Sources of `live`: plays the video of one, the original above the equalized picture, and changes its settings.

import {
  $, ask, chart, element, fileName, GONE, onKeys, paintAll, paintPair, playFile, readLooks, repaintBy, say, setTitle, showEqualized,
  showFacts, tellSettings, wordsOf,
} from "/picture.js";
import { T } from "/texts.js";
import { focusTile, hideWall, loseWall, put, showWall } from "/wall.js";

/// Seconds: how old the picture may be before it is played faster, and before what lies between is left out; what is kept of it.
const LATE = 0.25, TOO_LATE = 1.0, KEPT = 6;
/// Milliseconds between two looks at the list of recordings, and between two questions what all cameras do.
const LISTED = 5000, ASKED = 1000;

/// All cameras, and the number of the one that is shown; 0 where all are.
let cameras = [], number = 0, shown = null, busy = false, listed = 0;

// ---- The video -------------------------------------------------------------------------------------------------------------

/// Plays the video of a source. `stop` ends it.
function play(source) {
  let over = false, socket = null, again = null, pictures = null;
  const video = element("video", { muted: true, playsInline: true, disableRemotePlayback: true });

  const stop = () => {
    over = true;
    clearTimeout(again);
    socket?.close();
    pictures?.removeAttribute("src");
    video.removeAttribute("src");
    video.load();
  };

  /// Browsers without Media Source Extensions, or without the codec, get pictures one by one.
  const fallBack = () => {
    socket.onclose = null;
    socket.close();
    pictures = new Image();
    pictures.src = `/api/sources/${source}/pictures.mjpeg`;
    paintAll(pictures, () => over);
  };

  const Source = window.ManagedMediaSource || window.MediaSource;
  const begin = () => {
    if (over) return;
    let media = null, buffer = null, queue = [];
    socket = new WebSocket(`ws://${location.host}/api/sources/${source}/video`);
    socket.binaryType = "arraybuffer";

    const feed = () => {
      if (!buffer || buffer.updating || over) return;
      try {
        const ranges = buffer.buffered;
        const isLong = ranges.length && video.currentTime - ranges.start(0) > 2 * KEPT;
        if (isLong) buffer.remove(0, video.currentTime - KEPT);
        else if (queue.length) buffer.appendBuffer(queue.shift());
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
      if (!Source?.isTypeSupported(type)) return fallBack();
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
      const said = typeof data === "string" ? JSON.parse(data) : {};
      if (typeof data !== "string") queue.push(data);
      feed();
      if (said.codec) { queue = []; open(said.codec); }
      if (said.error) { say(said.error); fallBack(); }
      if (said.state) { show(said.state); chart(said.histogram, said.curve); }
    };
    socket.onclose = async () => {
      if (over) return;
      again = setTimeout(begin, 1000);
      $("line").textContent = "";
      const all = await ask("/api/sources").catch(() => null);
      if (!over) say(all && !all.some((state) => state.source === source) ? "this camera is away" : GONE);
    };
  };

  video.addEventListener("error", () => socket?.close());
  paintAll(video, () => over, () => say(""));
  begin();
  return { stop, paint: () => paintPair(video) };
}

// ---- Numbers and settings --------------------------------------------------------------------------------------------------

function show(state) {
  if (state.source !== number) return;
  setTitle(state.name);
  const latency = state.latency_ms === null ? "" : `, ${state.latency_ms.toFixed(0)} ms to equalize`;
  const numbers = state.no_signal_s ? T.noSignal(state.no_signal_s) : `${state.fps.toFixed(1)} frames/s${latency}`;
  $("line").textContent = cameras.length < 2 ? `${state.name}: ${numbers}` : numbers;
  if (state.no_signal_s) say(numbers);
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
  showFacts([
    ["size", `${state.width} × ${state.height}`], ["frames", state.frames.toLocaleString()], ["dropped", state.dropped.toLocaleString()],
    ["viewers", state.viewers], ["found", state.found],
  ]);
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

async function listRecordings() {
  if (!$("recordings").open) return;
  listed = Date.now();
  const all = await ask(`/api/sources/${number}/recordings`).catch(() => []);
  const rows = all.reverse().map(({ name, begin, bytes }) => {
    const path = `/api/sources/${number}/recordings/${encodeURIComponent(name)}`;
    const onclick = () => playFile(path, name);
    const button = element("button", { type: "button", textContent: name, title: new Date(begin * 1000).toLocaleString(), onclick });
    return element("li", {}, button, element("a", { textContent: T.bytes(bytes), href: path, download: name, title: "save it" }));
  });
  $("list").replaceChildren(...(rows.length ? rows : [element("li", "none yet")]));
}

// ---- Cameras ---------------------------------------------------------------------------------------------------------------

function select({ source, label, state }) {
  hideWall();
  say("");
  // Nothing of the camera before it.
  $("picture").getContext("2d").clearRect(0, 0, $("picture").width, $("picture").height);
  $("record").hidden = $("recordings").hidden = $("film").hidden = true;
  $("player").pause();
  showFacts([]);
  setTitle(label);
  if (state) show(state);
  else put($("line"), "away");
  $("source").value = source;
  $("snapshot").href = `/api/sources/${source}/picture.jpg`;
  $("snapshot").download = `${fileName(label)}.jpg`;
  shown = play(source);
  repaintBy(shown.paint);
  listRecordings();
}

function showAll() {
  setTitle(`${cameras.length} cameras`);
  showWall(cameras, open);
  const away = cameras.filter(({ state }) => !state || state.no_signal_s !== null).length;
  put($("line"), `${cameras.length} cameras${away ? `, ${away} without a picture` : ""}`);
}

/// Shows the camera that the address of the page names, or all.
function go() {
  const named = Number(location.hash.replace("#camera=", ""));
  const one = cameras.length < 2 ? cameras[0] : cameras.find(({ source }) => source === named);
  $("all").hidden = $("source-label").hidden = !one || cameras.length < 2;
  shown?.stop();
  [number, shown] = [one?.source ?? 0, null];
  if (one) select(one);
  else showAll();
}

/// Opens a camera; with 0, all of them.
function open(source) {
  const before = number;
  history.pushState(null, "", source ? `#camera=${source}` : "/");
  go();
  if (source) $("all").focus();
  else focusTile(before);
}

function take(all) {
  const isOne = (name) => all.filter((camera) => camera.name === name).length === 1;
  cameras = all.map((camera) => ({ ...camera, label: isOne(camera.name) ? camera.name : `${camera.name} (${camera.source})` }));
  $("source").replaceChildren(...cameras.map(({ source, label }) => element("option", { textContent: label, value: source })));
}

/// Shows the cameras as soon as there are any, and what they do as long as all of them are shown.
async function follow() {
  try {
    const isFirst = !cameras.length, all = number === 0 && (isFirst || !document.hidden) ? await ask("/api/cameras") : [];
    if (number === 0 && all.length) {
      take(all);
      if (isFirst) go();
      else showAll();
    }
  } catch (error) {
    loseWall();
    if (number === 0) put($("line"), wordsOf(error));
  }
  setTimeout(follow, ASKED);
}

function listen() {
  $("look").addEventListener("change", () => { showEqualized(); tellSettings(); change({ look: $("look").value }); });
  $("strength").addEventListener("input", () => { busy = true; tellSettings(); });
  $("strength").addEventListener("change", () => { showEqualized(); change({ strength: Number($("strength").value) / 100 }); });
  $("record").addEventListener("click", () => change({ recording: $("record").getAttribute("aria-pressed") !== "true" }));
  $("recordings").addEventListener("toggle", listRecordings);
  $("source").addEventListener("change", () => open(Number($("source").value)));
  $("all").addEventListener("click", () => open(0));
  onKeys({ Escape: () => number !== 0 && cameras.length > 1 && open(0) });
  addEventListener("popstate", go);
}

export async function showSources() {
  await readLooks();
  listen();
  follow();
}
