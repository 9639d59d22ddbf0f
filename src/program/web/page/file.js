// A file: any of its frames under any look, as a picture and as a short film, and the command that makes it.

import {
  $, ask, bytes, chart, choose, chosen, element, fileName, GONE, onKeys, paintAll, paintPair, pictureOf, pointed, readLooks, repaintBy, say,
  setTitle, showEqualized, showFacts, showsOriginal, tellSettings, wordsOf,
} from "/picture.js";
import { T } from "/texts.js";

/// Strengths that are shown side by side, and rows of a small picture.
const STRENGTHS = [0.25, 0.5, 0.75, 1], SMALL = 120;
/// Milliseconds: a picture that takes longer is said to; a pointer that rests has a part shown; whether the program is there is asked.
const SOON = 400, REST = 120, ALIVE = 5000;

let file = null, base = "/api/file", goalOf = () => null, pair = null, film = null, working = null, isOutdated = false, turn = 0;
/// What ends the wait for the noise of a picture; where the picture was pointed at, and when that is shown.
let whole = new AbortController(), spot = { x: 0.5, y: 0.5 }, late = null, resting = null;

const at = () => Number($("seek").value) / 1000;
const last = () => Math.max(0, file.duration - 1 / file.rate);

/// What is asked for, as a part of an address.
function asked(look = chosen().look, share = chosen().strength) {
  const words = new URLSearchParams({ at: at().toFixed(3), ...(look && { look }) });
  if (share !== null) words.set("strength", share);
  return words;
}

/// Shows what is asked for now. What changes meanwhile is shown next.
function refresh() {
  stopFilm();
  isOutdated = true;
  turn++;
  whole.abort();
  tell();
  working ??= work().finally(() => { working = null; });
}

async function work() {
  try {
    while (isOutdated) {
      [isOutdated, whole] = [false, new AbortController()];
      late = setTimeout(() => say("working"), SOON);
      await paint("&noise=keep");
      const frame = await ask(`${base}/frame?${asked()}`);
      clearTimeout(late);
      if (isOutdated) continue;
      show(frame);
      compare();
      say(frame.noise ? T.cleaning : "");
      $("noise").hidden = !frame.noise;
      if (frame.noise) await showPart();
      if (frame.noise) await paint("", whole.signal).catch(unlessLeft);
      if (!whole.signal.aborted) $("stage").dataset.whole = asked();
    }
    say("");
  } catch (error) {
    clearTimeout(late);
    say(wordsOf(error));
  }
}

const unlessLeft = (error) => { if (!whole.signal.aborted) throw error; };

/// Shows the picture that is asked for, where `noise` says so with its noise.
async function paint(noise, signal) {
  const words = asked(), rows = $("stage").clientHeight * devicePixelRatio > 720 ? 1080 : 720;
  const made = await pictureOf(`${base}/frame.jpg?of=both&rows=${rows}${noise}&${words}`, signal);
  if (signal?.aborted) return;
  pair = made;
  paintPair(pair);
  $("stage").dataset.of = words;
}

/// Shows a part at full size with its noise and without: where the picture was pointed at last, or the middle.
function showPart() {
  const words = asked(), columns = Math.round($("noise").clientWidth * devicePixelRatio);
  Object.entries({ ...spot, columns }).forEach(([name, value]) => words.set(name, value));
  $("part").srcset = `${base}/noise.jpg?${words} ${devicePixelRatio}x`;
  // Another one may come before it is there.
  return $("part").decode().catch(() => {});
}

/// The part where the pointer rests is shown next.
function point(event) {
  spot = pointed(event);
  clearTimeout(resting);
  if (!$("noise").hidden) resting = setTimeout(showPart, REST);
}

/// Says at once what is chosen: its description, its command, and its place in the address of the page.
export async function tell() {
  if (!file.looks.length) return;
  tellSettings();
  mark();
  const words = asked();
  history.replaceState(null, "", `#${words}`);
  const goal = goalOf();
  const said = await ask(`${base}/command?${words}${goal ? `&goal=${goal}` : ""}`).catch(() => null);
  if (said && `${words}` === `${asked()}` && goal === goalOf()) $("command").value = said.command;
}

function show(frame) {
  const isTurned = pair.width * 2 > pair.height !== file.width > file.height;
  const size = isTurned ? [file.height, file.width] : [file.width, file.height];
  const rate = file.rate.toFixed(2).replace(/\.?0+$/, "");
  if (file.looks.length) showFacts([["size", size.join(" × ")], ...(file.is_image ? [] : [["frames a second", rate]])]);
  $("time").textContent = $("seek").ariaValueText = file.is_image ? "" : `${frame.time} / ${clock(file.duration)}`;
  if (chosen().strength === null) $("strength").value = Math.round(frame.strength * 100);
  tellSettings();
  mark();
  chart(frame.histogram, frame.curve);
  $("snapshot").href = `${base}/frame.jpg?${asked()}`;
  $("snapshot").onclick = () => {
    const [side, what] = showsOriginal() ? ["of=original&", "original"] : ["", $("look").value || "result"];
    $("snapshot").href = `${base}/frame.jpg?${side}${asked()}`;
    $("snapshot").download = `${fileName(file.name)}-${frame.time.replace(/:/g, ".")}-${what}.jpg`;
  };
}

/// Seconds as a time: 1:23.45.
function clock(seconds) {
  const hundredths = Math.round(seconds * 100), two = (number) => String(number).padStart(2, "0");
  const rest = `${two(Math.floor(hundredths / 100) % 60)}.${two(hundredths % 100)}`, minutes = Math.floor(hundredths / 6000);
  return minutes < 60 ? `${minutes}:${rest}` : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${rest}`;
}

/// Where the small picture of a button is.
function pathOf({ of, look, strength: share }) {
  if (of) return `${base}/frame.jpg?of=${of}&rows=${SMALL}&${asked("natural", null)}`;
  return `${base}/frame.jpg?rows=${SMALL}&${look ? asked(look) : asked(undefined, share)}`;
}

const buttons = () => [...document.querySelectorAll(".strip button")];

/// Makes the small pictures, one by one, until something else is asked for.
async function compare() {
  const mine = ++turn;
  if (!file.looks.length) return;
  for (const button of buttons()) {
    const image = button.querySelector("img"), path = pathOf(button.dataset);
    if (image.dataset.path !== path) {
      const made = await bytes(path).catch(() => null);
      if (turn !== mine || !made) return;
      URL.revokeObjectURL(image.src);
      image.src = URL.createObjectURL(made);
      image.dataset.path = path;
    }
    button.classList.remove("old");
  }
}

/// Marks the look and the strength that are chosen, and the small pictures that show something else than that.
function mark() {
  for (const button of buttons()) {
    button.classList.toggle("old", button.querySelector("img").dataset.path !== pathOf(button.dataset));
    const { look, strength: share } = button.dataset;
    const isChosen = look ? look === $("look").value : share && Number(share) * 100 === Number($("strength").value);
    button.setAttribute("aria-pressed", Boolean(isChosen));
  }
}

function small(name, values, onclick) {
  const button = element("button", { type: "button", onclick }, element("img", { alt: "" }), element("span", name));
  Object.assign(button.dataset, values);
  return button;
}

function change(look, share = chosen().strength) {
  choose(look, share);
  showEqualized();
  refresh();
}

function seek(seconds) {
  $("seek").value = Math.round(Math.min(last(), Math.max(0, seconds)) * 1000);
  refresh();
}

const step = (frames) => seek(at() + frames / file.rate);

/// Some seconds from here on, again and again. Ends at the frame that is seen.
async function play() {
  if (film) return refresh();
  const video = element("video", { muted: true, loop: true, playsInline: true }), stop = new AbortController();
  film = { video, stop };
  whole.abort();
  $("play").textContent = "Stop";
  try {
    await working;
    if (film?.video !== video) return;
    turn++;
    const begin = at();
    say("making four seconds of it");
    const made = await bytes(`${base}/film.mp4?${asked()}`, stop.signal);
    if (film?.video !== video) return;
    video.src = URL.createObjectURL(made);
    await video.play();
    say("");
    paintAll(video, () => film?.video !== video, () => {
      $("seek").value = Math.round((begin + video.currentTime) * 1000);
      $("time").textContent = `${clock(at())} / ${clock(file.duration)}`;
    }, true);
  } catch (error) {
    if (film?.video !== video) return;
    stopFilm();
    say(wordsOf(error));
  }
}

function stopFilm() {
  if (!film) return;
  film.stop.abort();
  URL.revokeObjectURL(film.video.src);
  film.video.removeAttribute("src");
  film.video.load();
  film = null;
  $("play").textContent = "Play";
  say("");
}

/// Shows a file, as the program describes it, of which all is asked for below `path`; `goal` tells what it is made for, `before`
/// what was chosen. Without looks, it is one beside what was made of it.
export async function showFile(described, path = base, goal = goalOf, before = {}) {
  [file, base, goalOf] = [described, path, goal];
  await readLooks(file.looks);
  setTitle(file.name);
  document.body.classList.add("file");
  $("line").textContent = file.name;
  $("timeline").hidden = last() === 0;
  $("strips").hidden = $("ready").hidden = !file.looks.length;
  $("play").hidden = !file.looks.length;
  $("seek").max = Math.round(last() * 1000);
  $("by-look").append(small("original", { of: "original" }, () => document.querySelector('[data-view="1000"]').click()),
    ...file.looks.map((look) => small(look, { look }, () => change(look))));
  $("by-strength").append(...STRENGTHS.map((share) => small(`${share * 100} %`, { strength: share }, () => change(null, share))));

  $("look").addEventListener("change", () => change());
  // Where the page was before it was loaded again.
  const { look, strength, at: time = 0 } = location.hash ? Object.fromEntries(new URLSearchParams(location.hash.slice(1))) : before;
  choose(file.looks.find((name) => name === look), (strength ?? null) === null ? null : Number(strength));
  $("seek").value = Math.round(Number(time) * 1000);

  $("strength").addEventListener("input", () => tellSettings());
  $("strength").addEventListener("change", () => change(null, Number($("strength").value) / 100));
  $("seek").addEventListener("input", refresh);
  $("back").addEventListener("click", () => step(-1));
  $("forward").addEventListener("click", () => step(1));
  $("play").addEventListener("click", play);
  const busy = "input, button, a, summary, video, select, textarea";
  const steps = { ArrowLeft: () => step(-1), ArrowRight: () => step(1) };
  if (last() > 0) onKeys({ " ": play, ...steps }, busy);
  // By itself, the slider goes by milliseconds.
  onKeys({ ...steps, ArrowDown: () => step(-file.rate), ArrowUp: () => step(file.rate) }, "select", $("seek"));
  for (const kind of ["pointermove", "pointerdown"]) $("stage").addEventListener(kind, point);
  $("copy").addEventListener("click", async () => {
    $("command").select();
    // Browsers give the clipboard to pages of this machine alone; from others, the old way.
    await (navigator.clipboard ? navigator.clipboard.writeText($("command").value) : document.execCommand("copy"));
    $("copy").textContent = "Copied";
    setTimeout(() => ($("copy").textContent = "Copy"), 2000);
  });
  repaintBy(() => pair && !film && paintPair(pair));
  setInterval(() => fetch("/health").then(() => $("message").textContent === GONE && say("")).catch(() => say(GONE)), ALIVE);
  refresh();
}
