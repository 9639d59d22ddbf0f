// The two pictures on the stage with the divider between them, what is drawn beside them, and what all views are made of.

export const $ = (id) => document.getElementById(id);
export const GONE = "no connection to the program: is it still running?";
export const wordsOf = (error) => (error instanceof TypeError ? GONE : error.message);
/// A name without what names of files may not have.
export const fileName = (name) => name.replace(/[^\w.-]+/g, "_");
const picture = $("picture"), draw = picture.getContext("2d", { alpha: false });

/// What the program answers, as JSON; with `change`, to a request that changes something.
export async function ask(path, change, method = "PATCH") {
  const how = change ? { method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(change) } : {};
  return (await answerTo(path, how)).json();
}

/// The bytes of an answer, and the picture that they are.
export const bytes = async (path, signal) => (await answerTo(path, { signal })).blob();
export const pictureOf = async (path, signal) => createImageBitmap(await bytes(path, signal));

async function answerTo(path, how) {
  const answer = await fetch(path, how);
  if (!answer.ok) throw new Error((await answer.json()).error);
  return answer;
}

/// Says `text` on the picture; nothing without one.
export function say(text) {
  $("message").textContent = text;
  $("message").hidden = !text;
}

/// An element with these properties, or with this text alone.
export function element(kind, values = {}, ...children) {
  const made = Object.assign(document.createElement(kind), typeof values === "object" ? values : { textContent: values });
  made.append(...children);
  return made;
}

/// A tile of a list: a picture, a name, and what is said of it, in a link or a button.
export function tile(kind, values, picture, name, said) {
  const [title, about] = [element("b", name), element("span", { className: "hint", textContent: said })];
  const press = element(kind, { ...values, className: "tile" }, element("span", { className: "frame" }, ...picture), title, about);
  return { row: element("li", {}, press), press, title, about };
}

/// Removes the rows whose keys are none of these.
export function keepRows(rows, keys) {
  for (const [key, { row }] of rows) {
    if (keys.includes(key)) continue;
    row.remove();
    rows.delete(key);
  }
}

export function setTitle(text) { document.title = `${text} – histeq-video`; }

/// Shows names and values, of what is known.
export function showFacts(facts) {
  const known = facts.filter(([, value]) => (value ?? "") !== "");
  $("facts").replaceChildren(...known.flatMap(([name, value]) => [element("dt", name), element("dd", value)]));
}

/// The looks, and what each of them is.
let looks = [];
export async function readLooks(names) {
  looks = await ask("/api/looks");
  if (names) looks = looks.filter(({ name }) => names.includes(name));
  $("look").replaceChildren(...looks.map(({ name }) => element("option", name)));
}

/// The strength that is chosen: `null` is that of the look.
let strength = null;
export const chosen = () => ({ look: $("look").value, strength });

export function choose(look, share) {
  if (look) $("look").value = look;
  strength = share;
  if (share !== null) $("strength").value = Math.round(share * 100);
}

/// Says in words what look and strength are chosen.
export function tellSettings(share = `${$("strength").value} %`) {
  $("strength-text").textContent = $("strength").ariaValueText = share;
  $("about").textContent = (looks.find((look) => look.name === $("look").value) || {}).about || "";
}

/// Draws the upper half of a picture or video left of the divider, and the lower half right of it. The stage gets the size of a
/// half, unless it is `keep`. Returns whether there is one.
export function paintPair(pair, keep = false) {
  const width = pair.videoWidth ?? pair.naturalWidth ?? pair.width, rows = (pair.videoHeight ?? pair.naturalHeight ?? pair.height) / 2;
  if (!width) return false;
  if (!keep && (picture.width !== width || picture.height !== rows)) { picture.width = width; picture.height = rows; }
  const at = Math.round((picture.width * divider()) / 1000), from = (at * width) / picture.width;
  if (at > 0) draw.drawImage(pair, 0, 0, from, rows, 0, 0, at, picture.height);
  if (at < picture.width) draw.drawImage(pair, from, rows, width - from, rows, at, 0, picture.width - at, picture.height);
  return true;
}

/// Draws each picture of a video, or of an image that changes, until it is over.
export function paintAll(pairs, isOver, then = () => {}, keep = false) {
  const next = () => {
    if (isOver()) return;
    if (paintPair(pairs, keep)) then();
    if (pairs.requestVideoFrameCallback) pairs.requestVideoFrameCallback(next);
    else requestAnimationFrame(next);
  };
  next();
}

// ---- The divider -----------------------------------------------------------------------------------------------------------

let repaint = () => {};
export function repaintBy(paint) { repaint = paint; }

const divider = () => Number($("divider").value);

function setDivider(value) {
  $("divider").value = Math.min(1000, Math.max(0, Math.round(value)));
  moveDivider();
}

/// Shows the equalized picture, too, where the original alone is seen: what is chosen is to be seen.
export function showEqualized() {
  if (showsOriginal()) setDivider(500);
}

export const showsOriginal = () => divider() === 1000;

/// Where the picture lies on the stage, and its size there.
function place() {
  const stage = $("stage").getBoundingClientRect(), scale = Math.min(stage.width / picture.width, stage.height / picture.height);
  const [width, height] = [picture.width * scale, picture.height * scale];
  return { left: (stage.width - width) / 2, top: (stage.height - height) / 2, width, height, stage };
}

/// Where a pointer is on the picture, in shares of it.
export function pointed({ clientX, clientY }) {
  const { left, top, width, height, stage } = place(), share = (at, length) => Math.min(1, Math.max(0, at / length));
  return { x: share(clientX - stage.left - left, width), y: share(clientY - stage.top - top, height) };
}

function moveDivider() {
  const at = divider(), { left, width } = place();
  $("bar").style.left = `${left + (width * at) / 1000}px`;
  $("bar").hidden = at === 0 || at === 1000;
  $("left-name").hidden = at === 0;
  $("right-name").hidden = at === 1000;
  for (const button of document.querySelectorAll("[data-view]")) {
    button.setAttribute("aria-pressed", Number(button.dataset.view) === (at % 1000 ? 500 : at));
  }
  repaint();
}

$("divider").addEventListener("input", moveDivider);
// Dragging begins anywhere on the picture.
$("stage").addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  $("stage").setPointerCapture(event.pointerId);
  $("divider").focus({ preventScroll: true });
  dragTo(event);
});
$("stage").addEventListener("pointermove", (event) => event.buttons & 1 && dragTo(event));
const dragTo = (event) => setDivider(1000 * pointed(event).x);
for (const button of document.querySelectorAll("[data-view]")) button.addEventListener("click", () => setDivider(Number(button.dataset.view)));

/// Does what stands beside a key, but where it is part of a shortcut, or pressed in one of these elements.
export function onKeys(keys, others = "select, textarea", place = document) {
  place.addEventListener("keydown", (event) => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey || event.target.closest(others)) return;
    event.preventDefault();
    keys[event.key]();
  });
}
const move = (by) => () => setDivider(divider() + by);
onKeys({ e: () => setDivider(0), v: () => setDivider(500), o: () => setDivider(1000) });
onKeys({ ArrowLeft: move(-10), ArrowDown: move(-10), ArrowRight: move(10), ArrowUp: move(10) }, "select", $("divider"));
new ResizeObserver(moveDivider).observe($("stage"));

// ---- A film as it is -------------------------------------------------------------------------------------------------------

const player = $("player");
player.addEventListener("error", () => showPlayer(false));
// Where a browser lacks the codec, it may play the sound alone.
player.addEventListener("loadedmetadata", () => (player.videoWidth ? player.scrollIntoView({ block: "nearest" }) : showPlayer(false)));

/// Shows the player, or that the browser does not play the film, and what else there is.
function showPlayer(plays) {
  $("film").hidden = false;
  player.hidden = !plays;
  $("unplayable").hidden = plays;
  if (!plays) player.pause();
}

/// Plays a file of the program, of this name and type, where the browser does.
export function playFile(path, name, type, from = 0) {
  $("open").href = $("save").href = path;
  $("save").download = name;
  showPlayer(!type || player.canPlayType(type) !== "");
  if (player.hidden) return player.removeAttribute("src");
  player.src = `${path}#t=${from}`;
  player.play().catch(() => {});
}

// ---- Histogram and curve ---------------------------------------------------------------------------------------------------

let charted = null;
matchMedia("(prefers-color-scheme: light)").addEventListener("change", () => charted && chart(...charted));

export function chart(histogram, curve) {
  charted = [histogram, curve];
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
  for (const [colour, wide, points] of [["--faint", 1, [[0, 0], [1, 1]]], ["--accent", 3, curve]]) {
    [to.strokeStyle, to.lineWidth] = [style.getPropertyValue(colour), wide];
    to.beginPath();
    points.forEach(([x, y]) => to.lineTo(x * width, height - y * height));
    to.stroke();
  }
}
