// Sources of `live`: plays the video of one, of which the upper half is the original and the lower half the equalized picture, and
// changes its settings.

import { $, ask, chart, element, paintPair, readLooks, repaintBy, say, showEqualized, showFacts, tellSettings } from "/picture.js";

/// The picture may be this many seconds old before it is played faster, and before what lies between is left out.
const LATE = 0.25, TOO_LATE = 1.0;
/// Seconds of the video that are kept.
const KEPT = 6;

/// Milliseconds between two looks at the list of recordings.
const LISTED = 5000;

let states = [], number = 0, shown = null, busy = false, isBegun = false, listed = 0;

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
      if (!over) say(all && !all.some((state) => state.source === source) ? "this camera has ended" : "no connection to the program; trying again");
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
  states = states.map((old) => (old.source === state.source ? state : old));
  if (state.source !== number) return;
  document.title = `${state.name} – histeq-video`;
  const latency = state.latency_ms === null ? "" : `, ${state.latency_ms.toFixed(0)} ms to equalize`;
  const numbers = state.no_signal_s ? `no signal for ${Math.round(state.no_signal_s)} s` : `${state.fps.toFixed(1)} frames/s${latency}`;
  $("line").textContent = states.length < 2 ? `${state.name}: ${numbers}` : numbers;
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

// ---- Sources ---------------------------------------------------------------------------------------------------------------

function select(source) {
  number = source;
  if (shown) shown.stop();
  const state = states.find((state) => state.source === source);
  if (state) show(state);
  $("snapshot").href = `/api/sources/${source}/picture.jpg`;
  $("snapshot").download = `${state ? state.name.replace(/[^\w.-]+/g, "_") : source}.jpg`;
  shown = play(source);
  repaintBy(shown.paint);
  listRecordings();
}
function listen() {
  $("look").addEventListener("change", () => { showEqualized(); tellSettings(); change({ look: $("look").value }); });
  $("strength").addEventListener("input", () => { busy = true; tellSettings(); });
  $("strength").addEventListener("change", () => { showEqualized(); change({ strength: Number($("strength").value) / 100 }); });
  $("record").addEventListener("click", () => change({ recording: $("record").getAttribute("aria-pressed") !== "true" }));
  $("recordings").addEventListener("toggle", listRecordings);
  $("player").addEventListener("error", () => showPlayer(false));
  $("source").addEventListener("change", () => select(Number($("source").value)));
}

/// Shows the sources, as soon as there are any.
export async function showSources() {
  try {
    if (!isBegun) {
      await readLooks();
      listen();
    }
    isBegun = true;
    states = await ask("/api/sources");
  } catch (error) {
    say(error.message);
  }
  if (!states.length) {
    setTimeout(showSources, 1000);
    return;
  }
  const isOne = (name) => states.filter((state) => state.name === name).length === 1;
  $("source").replaceChildren(...states.map(({ source, name }) =>
    Object.assign(element("option", isOne(name) ? name : `${name} (${source})`), { value: source })));
  $("source-label").hidden = states.length < 2;
  if (!states.some(({ source }) => source === number)) select(states[0].source);
}
