// A file: any of its frames under any look, as a picture and as a short film, and the command that makes it.

import { $, ask, chart, element, isFree, paintPair, readLooks, repaintBy, say, showFacts, tellSettings } from "/picture.js";

/// Strengths that are shown side by side.
const STRENGTHS = [0.25, 0.5, 0.75, 1];
/// Rows of a small picture, as it is asked for.
const SMALL = 120;
/// A picture that takes longer than this, in milliseconds, is said to.
const SOON = 400;

let file = null, strength = null, pair = null, film = null, isWorking = false, isOutdated = false, turn = 0;

const at = () => Number($("seek").value) / 1000;
const last = () => Math.max(0, file.duration - 1 / file.rate);

/// What is asked for, as a part of an address.
function asked(look = $("look").value, share = strength) {
  const words = new URLSearchParams({ at: at().toFixed(3), look });
  if (share !== null) words.set("strength", share);
  return words;
}

/// The bytes of an answer.
async function bytes(path) {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error((await answer.json()).error);
  return answer.blob();
}

// ---- The picture -----------------------------------------------------------------------------------------------------------

/// Shows what is asked for now. What changes meanwhile is shown next.
async function refresh() {
  stopFilm();
  isOutdated = true;
  if (isWorking) return;
  isWorking = true;
  const late = setTimeout(() => say("working"), SOON);
  try {
    while (isOutdated) {
      isOutdated = false;
      const words = asked(), rows = $("stage").clientHeight * devicePixelRatio > 720 ? 1080 : 720;
      pair = await createImageBitmap(await bytes(`/api/file/frame.jpg?of=both&rows=${rows}&${words}`));
      paintPair(pair, pair.width, pair.height);
      if (!isOutdated) show(await ask(`/api/file/frame?${words}`));
    }
    clearTimeout(late);
    say("");
  } catch (error) {
    clearTimeout(late);
    say(error.message);
  } finally {
    isWorking = false;
  }
  compare();
}

/// Shows what is said of a frame.
function show(frame) {
  $("time").textContent = file.is_image ? "" : frame.time;
  if (strength === null) $("strength").value = Math.round(frame.strength * 100);
  tellSettings();
  chart(frame.histogram, frame.curve);
  $("command").value = frame.command;
  $("snapshot").href = `/api/file/frame.jpg?${asked()}`;
  $("snapshot").download = `${file.name.replace(/[^\w.-]+/g, "_")}-${$("look").value}.jpg`;
}

// ---- Looks and strengths side by side --------------------------------------------------------------------------------------

/// Makes the small pictures, one by one, until something else is asked for.
async function compare() {
  const mine = ++turn;
  press();
  const buttons = [...document.querySelectorAll(".strip button")];
  for (const button of buttons) {
    if (button.dataset.of) button.dataset.path = `/api/file/frame.jpg?of=original&rows=${SMALL}&${asked(undefined, null)}`;
    else if (button.dataset.look) button.dataset.path = `/api/file/frame.jpg?rows=${SMALL}&${asked(button.dataset.look, null)}`;
    else button.dataset.path = `/api/file/frame.jpg?rows=${SMALL}&${asked(undefined, button.dataset.strength)}`;
  }
  for (const button of buttons) {
    if (turn !== mine || isWorking) return;
    const image = button.querySelector("img");
    if (image.dataset.path === button.dataset.path) continue;
    const made = await bytes(button.dataset.path).catch(() => null);
    if (turn !== mine) return;
    URL.revokeObjectURL(image.src);
    image.src = made ? URL.createObjectURL(made) : "";
    image.dataset.path = button.dataset.path;
  }
}

/// Marks the look and the strength that are chosen.
function press() {
  for (const button of document.querySelectorAll(".strip button")) {
    const { look, strength: share } = button.dataset;
    const isChosen = look ? look === $("look").value : share && Number(share) * 100 === Number($("strength").value);
    button.setAttribute("aria-pressed", Boolean(isChosen));
  }
}

function small(name, values, choose) {
  const button = document.createElement("button"), image = new Image();
  button.type = "button";
  image.alt = "";
  Object.assign(button.dataset, values);
  button.append(image, element("span", name));
  button.addEventListener("click", choose);
  return button;
}

function chooseLook(look) {
  $("look").value = look;
  strength = null;
  refresh();
}

function chooseStrength(share) {
  strength = share;
  $("strength").value = Math.round(share * 100);
  tellSettings();
  refresh();
}

// ---- Time ------------------------------------------------------------------------------------------------------------------

function seek(seconds) {
  $("seek").value = Math.round(Math.min(last(), Math.max(0, seconds)) * 1000);
  refresh();
}

const step = (frames) => seek(at() + frames / file.rate);

/// Some seconds from here on, again and again.
async function play() {
  if (film) {
    stopFilm();
    refresh();
    return;
  }
  const video = (film = document.createElement("video"));
  video.muted = video.loop = video.playsInline = true;
  $("play").textContent = "Stop";
  say("making some seconds of it");
  try {
    const made = await bytes(`/api/file/film.mp4?${asked()}`);
    if (film !== video) return;
    video.src = URL.createObjectURL(made);
    video.addEventListener("ended", () => { video.currentTime = 0; video.play(); });
    const paint = () => {
      if (film !== video) return;
      if (video.videoWidth) paintPair(video, video.videoWidth, video.videoHeight, true);
      video.requestVideoFrameCallback ? video.requestVideoFrameCallback(paint) : requestAnimationFrame(paint);
    };
    await video.play();
    say("");
    paint();
  } catch (error) {
    stopFilm();
    say(error.message);
  }
}

function stopFilm() {
  if (!film) return;
  URL.revokeObjectURL(film.src);
  film.removeAttribute("src");
  film.load();
  film = null;
  $("play").textContent = "Play";
  say("");
}

// ---- The whole -------------------------------------------------------------------------------------------------------------

/// Shows a file, as the program describes it.
export async function showFile(described) {
  file = described;
  await readLooks(file.looks);
  document.title = `${file.name} – histeq-video`;
  $("line").textContent = file.name;
  showFacts([["size", `${file.width} × ${file.height}`], ...(file.is_image ? [] : [["frames a second", file.rate.toFixed(2).replace(/\.?0+$/, "")]])]);
  $("timeline").hidden = file.is_image;
  $("strips").hidden = $("ready").hidden = false;
  $("seek").max = Math.round(last() * 1000);
  $("by-look").append(small("original", { of: "original" }, () => document.querySelector('[data-view="1000"]').click()),
    ...file.looks.map((look) => small(look, { look }, () => chooseLook(look))));
  $("by-strength").append(...STRENGTHS.map((share) => small(`${share * 100} %`, { strength: share }, () => chooseStrength(share))));

  $("look").addEventListener("change", () => chooseLook($("look").value));
  $("strength").addEventListener("input", tellSettings);
  $("strength").addEventListener("change", () => chooseStrength(Number($("strength").value) / 100));
  $("seek").addEventListener("input", refresh);
  $("back").addEventListener("click", () => step(-1));
  $("forward").addEventListener("click", () => step(1));
  $("play").addEventListener("click", play);
  document.addEventListener("keydown", (event) => {
    if (file.is_image || event.target.closest("input") || !isFree(event)) return;
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
  refresh();
}
