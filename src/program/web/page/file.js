// A file: any of its frames under any look, as a picture and as a short film, and the command that makes it.

import {
  $, ask, bytes, chart, choose, chosen, element, fileName, GONE, isFree, paintPair, readLooks, repaintBy, say, setTitle, showEqualized, showFacts,
  tellSettings, whenPainted, wordsOf,
} from "/picture.js";

/// Strengths that are shown side by side.
const STRENGTHS = [0.25, 0.5, 0.75, 1];
/// Rows of a small picture, as it is asked for.
const SMALL = 120;
/// A picture that takes longer than this, in milliseconds, is said to.
const SOON = 400;
/// Where a picture takes longer than this, in milliseconds, one of so many rows is shown first.
const SLOW = 250, DRAFT = 320;
/// Milliseconds between two questions whether the program is there.
const ALIVE = 5000;

let file = null, base = "/api/file", goalOf = () => null, pair = null, film = null, working = null, isOutdated = false, isSlow = true, turn = 0;

const at = () => Number($("seek").value) / 1000;
const last = () => Math.max(0, file.duration - 1 / file.rate);

/// What is asked for, as a part of an address.
function asked(look = chosen().look, share = chosen().strength) {
  const words = new URLSearchParams({ at: at().toFixed(3), ...(look && { look }) });
  if (share !== null) words.set("strength", share);
  return words;
}

// ---- The picture -----------------------------------------------------------------------------------------------------------

/// Shows what is asked for now. What changes meanwhile is shown next.
function refresh() {
  stopFilm();
  isOutdated = true;
  turn++;
  tell();
  working ??= work().finally(() => { working = null; });
}

async function work() {
  const late = setTimeout(() => say("working"), SOON);
  try {
    while (isOutdated) {
      isOutdated = false;
      const words = asked(), rows = $("stage").clientHeight * devicePixelRatio > 720 ? 1080 : 720;
      // A small picture comes first where the whole took long.
      for (const size of isSlow ? [DRAFT, rows] : [rows]) {
        if (isOutdated) break;
        const begin = performance.now();
        pair = await createImageBitmap(await bytes(`${base}/frame.jpg?of=both&rows=${size}&${words}`));
        paintPair(pair, pair.width, pair.height);
        $("stage").dataset.of = words;
        if (size === rows) isSlow = performance.now() - begin > SLOW;
      }
      if (!isOutdated) show(await ask(`${base}/frame?${words}`));
    }
    say("");
    compare();
  } catch (error) {
    say(wordsOf(error));
  } finally {
    clearTimeout(late);
  }
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

/// Shows what is said of a frame.
function show(frame) {
  const isTurned = pair.width * 2 > pair.height !== file.width > file.height;
  const size = isTurned ? [file.height, file.width] : [file.width, file.height];
  const rate = file.rate.toFixed(2).replace(/\.?0+$/, "");
  if (file.looks.length) showFacts([["size", size.join(" × ")], ...(file.is_image ? [] : [["frames a second", rate]])]);
  $("time").textContent = file.is_image ? "" : `${frame.time} / ${clock(file.duration)}`;
  if (chosen().strength === null) $("strength").value = Math.round(frame.strength * 100);
  tellSettings();
  mark();
  chart(frame.histogram, frame.curve);
  $("snapshot").href = `${base}/frame.jpg?${asked()}`;
  $("snapshot").download = `${fileName(file.name)}-${frame.time.replace(/:/g, ".")}-${$("look").value || "result"}.jpg`;
}

/// Seconds as a time: 1:23.45.
function clock(seconds) {
  const hundredths = Math.round(seconds * 100), two = (number) => String(number).padStart(2, "0");
  const rest = `${two(Math.floor(hundredths / 100) % 60)}.${two(hundredths % 100)}`, minutes = Math.floor(hundredths / 6000);
  return minutes < 60 ? `${minutes}:${rest}` : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${rest}`;
}

// ---- Looks and strengths side by side --------------------------------------------------------------------------------------

/// Where the small picture of a button is.
function pathOf({ of, look, strength: share }) {
  if (of) return `${base}/frame.jpg?of=${of}&rows=${SMALL}&${asked("natural", null)}`;
  return `${base}/frame.jpg?rows=${SMALL}&${look ? asked(look) : asked(undefined, share)}`;
}

const buttons = () => [...document.querySelectorAll(".strip button")];

/// Makes the small pictures, one by one, until something else is asked for.
async function compare() {
  const mine = ++turn;
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

// ---- Time ------------------------------------------------------------------------------------------------------------------

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
    const paint = () => {
      if (film?.video !== video) return;
      if (video.videoWidth) paintPair(video, video.videoWidth, video.videoHeight, true);
      $("seek").value = Math.round((begin + video.currentTime) * 1000);
      $("time").textContent = `${clock(at())} / ${clock(file.duration)}`;
      whenPainted(video, paint);
    };
    await video.play();
    say("");
    paint();
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

// ---- The whole -------------------------------------------------------------------------------------------------------------

/// Shows a file, as the program describes it, of which all is asked for below `path`; `goal` tells what it is made for. Without
/// looks, it is one beside what was made of it.
export async function showFile(described, path = base, goal = goalOf) {
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
  const before = new URLSearchParams(location.hash.slice(1));
  choose(file.looks.find((look) => look === before.get("look")), before.get("strength") ? Number(before.get("strength")) : null);
  $("seek").value = Math.round(Number(before.get("at") ?? 0) * 1000);

  $("strength").addEventListener("input", () => tellSettings());
  $("strength").addEventListener("change", () => change(null, Number($("strength").value) / 100));
  $("seek").addEventListener("input", refresh);
  $("back").addEventListener("click", () => step(-1));
  $("forward").addEventListener("click", () => step(1));
  $("play").addEventListener("click", play);
  document.addEventListener("keydown", (event) => {
    if (last() === 0 || event.target.closest("input, button, a, summary, video") || !isFree(event)) return;
    if (event.key === " ") play();
    else if (event.key === "ArrowLeft") step(-1);
    else if (event.key === "ArrowRight") step(1);
    else return;
    event.preventDefault();
  });
  $("copy").addEventListener("click", async () => {
    $("command").select();
    // Browsers give the clipboard to pages of this machine alone; from others, the old way.
    await (navigator.clipboard ? navigator.clipboard.writeText($("command").value) : document.execCommand("copy"));
    $("copy").textContent = "Copied";
    setTimeout(() => ($("copy").textContent = "Copy"), 2000);
  });
  repaintBy(() => pair && !film && paintPair(pair, pair.width, pair.height));
  setInterval(() => fetch("/health").then(() => $("message").textContent === GONE && say("")).catch(() => say(GONE)), ALIVE);
  refresh();
}
