// All cameras at once: small pictures of those that are seen, their names, and what they do.

import { $, element, keepRows, pictureOf, tile } from "/picture.js";
import { T } from "/texts.js";

/// Milliseconds between two pictures of a camera at least, between the end of one and the begin of the next; until one is given up.
const APART = 250, PAUSE = 50, PATIENCE = 5000;
/// Most pictures a second of all cameras together; what their rows are a multiple of, and at most.
const MOST = 16, STEP = 90, MOST_ROWS = 720;
/// Pixels: the least width of a tile, what it has below its picture, and what is between two.
const NARROWEST = 168, CAPTION = 58, GAP = 12;

/// By the numbers of their cameras.
const tiles = new Map();
let opens = null;

/// Shows what these cameras do now. `open` gets the number of one that is chosen.
export function showWall(cameras, open) {
  opens = open;
  document.body.classList.add("all");
  $("wall").hidden = false;
  keepRows(tiles, cameras.map(({ source }) => source));
  for (const camera of cameras) tell(tiles.get(camera.source) ?? add(camera.source), camera);
  fit();
}

export function hideWall() {
  document.body.classList.remove("all");
  $("wall").hidden = true;
  keepRows(tiles, []);
}

export function loseWall() {
  for (const camera of tiles.values()) say(camera, "no connection", false);
}

export function focusTile(source) {
  tiles.get(source)?.press.focus();
}

// ---- Tiles -----------------------------------------------------------------------------------------------------------------

/// Which tiles are on the screen.
const watcher = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    const camera = tiles.get(Number(target.dataset.source));
    if (camera) camera.isSeen = isIntersecting;
  }
});

function add(source) {
  const canvas = element("canvas", { ariaHidden: "true" });
  const parts = tile("button", { type: "button", onclick: () => opens(source) }, [canvas], "", "");
  const camera = { ...parts, source, canvas, isSeen: false, films: false };
  camera.press.dataset.source = source;
  $("tiles").append(camera.row);
  tiles.set(source, camera);
  watcher.observe(camera.press);
  follow(camera);
  return camera;
}

function tell(camera, { label, state }) {
  put(camera.title, label);
  if (!state) say(camera, "away", false);
  else if (state.no_signal_s !== null) say(camera, T.noSignal(state.no_signal_s), false);
  else say(camera, `${state.fps.toFixed(0)} frames/s${{ true: ", recording", false: ", recording is paused" }[state.recording] ?? ""}`, true);
}

function say(camera, text, films) {
  camera.films = films;
  camera.press.classList.toggle("away", !films);
  put(camera.about, text);
}

/// What has not changed is not read out again.
export function put(place, text) {
  if (place.textContent !== text) place.textContent = text;
}

// ---- Pictures --------------------------------------------------------------------------------------------------------------

/// Shows new pictures of a camera as long as it has a tile: of what is not seen, or stands still, there is none.
async function follow(camera) {
  while (tiles.get(camera.source) === camera) {
    const begin = performance.now();
    if (camera.isSeen && camera.films && !document.hidden) await show(camera).catch(() => {});
    const seen = [...tiles.values()].filter(({ isSeen }) => isSeen).length;
    const wait = Math.max(APART, (1000 * seen) / MOST) - (performance.now() - begin);
    await new Promise((next) => setTimeout(next, Math.max(PAUSE, wait)));
  }
}

async function show({ source, canvas }) {
  const rows = Math.min(MOST_ROWS, Math.ceil((canvas.clientHeight * devicePixelRatio) / STEP) * STEP);
  const made = await pictureOf(`/api/sources/${source}/picture.jpg?rows=${rows}`, AbortSignal.timeout?.(PATIENCE));
  canvas.width = made.width;
  canvas.height = made.height;
  canvas.getContext("2d", { alpha: false }).drawImage(made, 0, 0);
  made.close();
}

// ---- Sizes -----------------------------------------------------------------------------------------------------------------

/// Makes the tiles as large as all of them fit, but not too small to be of use.
function fit() {
  const list = $("tiles"), width = list.clientWidth, count = tiles.size;
  const height = innerHeight - list.getBoundingClientRect().top - scrollY - GAP;
  const across = (columns) => (width - GAP * (columns - 1)) / columns;
  const down = (rows) => (((height - GAP * (rows - 1)) / rows - CAPTION) * 16) / 9;
  let best = 0;
  for (let columns = 1; columns <= count; columns++) best = Math.max(best, Math.min(across(columns), down(Math.ceil(count / columns))));
  if (best < NARROWEST) best = across(Math.max(1, Math.min(count, Math.floor((width + GAP) / (NARROWEST + GAP)))));
  list.style.gridTemplateColumns = `repeat(auto-fit, ${Math.max(1, Math.floor(best))}px)`;
}
addEventListener("resize", () => tiles.size && fit());
