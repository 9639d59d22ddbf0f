// Files to work on: a folder of them, one under looks, one beside its result, and the queue of what is made.

import { chosen, showFile, tell } from "/file.js";
import { $, ask, element, readLooks, say, showFacts, tellSettings } from "/picture.js";
import { T } from "/texts.js";

/// Milliseconds between two looks at the queue: while something is made, else, and where the page is not seen.
const OFTEN = 400, RARELY = 2000, UNSEEN = 5000;
/// Milliseconds that what is said stays.
const TOLD = 8000;
const KEPT = "histeq-video";

let work = null, view = "folder", number = 0, strength = null, entries = [], jobs = [];
let later = null, silent = null, isPaused = false;
/// The numbers of files that are chosen; tiles by what they show; what there is of each job.
const picked = new Set(), tiles = new Map(), cards = new Map();

/// Says something, for a while.
function told(text) {
  $("said").textContent = text;
  clearTimeout(silent);
  silent = setTimeout(() => { $("said").textContent = ""; }, TOLD);
}
const explain = (error) => told(error instanceof TypeError ? T.gone : error.message);
const goal = () => document.querySelector("#goals input:checked")?.value ?? "keep";

// ---- What is chosen ----------------------------------------------------------------------------------------------------------

/// What is chosen for all that is made from here.
const settings = () => ({ ...(view === "file" ? chosen() : { look: $("look").value, strength }), goal: goal() });

/// Keeps it for the other views of this window.
function keep() {
  const place = view === "folder" ? location.pathname : folder();
  try { sessionStorage.setItem(KEPT, JSON.stringify({ ...settings(), folder: place })); } catch { /* not kept then */ }
}

function kept() {
  try { return JSON.parse(sessionStorage.getItem(KEPT)) ?? {}; } catch { return {}; }
}

/// The folder that was seen last.
const folder = () => kept().folder ?? "/";

function showGoals() {
  const name = kept().goal ?? "keep";
  $("goals").replaceChildren(element("legend", T.goals), ...work.goals.map((goal) => {
    const label = document.createElement("label"), input = document.createElement("input"), [title, about] = T.goal[goal.name];
    Object.assign(input, { type: "radio", name: "goal", value: goal.name, checked: goal.name === name });
    label.append(input, element("b", title), Object.assign(element("span", about), { className: "hint" }));
    return label;
  }));
  $("goals").hidden = false;
  $("goals").addEventListener("change", () => { keep(); if (view === "file") tell(); });
}

function tellStrength() {
  tellSettings();
  if (strength === null) $("strength-text").textContent = T.automatic;
}

// ---- A folder ----------------------------------------------------------------------------------------------------------------

function tile(entry) {
  const item = document.createElement("li"), link = document.createElement("a"), frame = document.createElement("span");
  const isFolder = entry.kind === "folder", facts = [isFolder ? T.folder : T.bytes(entry.bytes)];
  if (entry.made) facts.push(T.madeHere);
  if (entry.isGiven) facts.push(T.given);
  link.href = `/${isFolder ? "folder" : "file"}/${entry.number}`;
  frame.className = isFolder ? "frame is-folder" : "frame";
  if (!isFolder) {
    const image = Object.assign(new Image(), { loading: "lazy", alt: "", src: `/api/work/files/${entry.number}/small.jpg` });
    image.addEventListener("error", () => image.remove());
    frame.append(image);
  }
  link.append(frame, element("b", entry.name), Object.assign(element("span", facts.join(", ")), { className: "hint" }));
  item.append(link);
  if (!isFolder && !work.read_only) {
    const label = document.createElement("label"), box = document.createElement("input");
    Object.assign(box, { type: "checkbox", ariaLabel: T.choose(entry.name) });
    box.addEventListener("change", () => {
      picked[box.checked ? "add" : "delete"](entry.number);
      tellPicked();
    });
    label.className = "pick";
    label.append(box);
    item.append(label);
  }
  return item;
}

const choosable = () => entries.filter(({ kind, made }) => kind !== "folder" && !made);

/// Shows the entries, as far as they are new.
function showTiles() {
  const focused = document.activeElement;
  const items = entries.map((entry) => {
    const key = JSON.stringify(entry), item = tiles.get(key) ?? tile(entry), box = item.querySelector("input");
    if (box) box.checked = picked.has(entry.number);
    tiles.set(key, item);
    return item;
  });
  $("films").replaceChildren(...items);
  if ($("films").contains(focused)) focused.focus({ preventScroll: true });
  tellPicked();
}

function tellPicked() {
  $("go").disabled = picked.size === 0;
  $("go").textContent = picked.size ? T.makeSome(picked.size) : T.makeNone;
  $("pick-all").textContent = picked.size ? T.chooseNone : T.chooseAll;
  $("pick-all").hidden = work.read_only || !choosable().length;
}

async function readFolder() {
  const folder = await ask(`/api/work/folder/${number}`), given = folder.given ?? [];
  entries = [...given.map((entry) => ({ ...entry, isGiven: true })), ...folder.entries];
  $("folder-name").textContent = folder.name || T.top;
  document.title = `${folder.name || T.top} – histeq-video`;
  goUp(folder.up !== null && (folder.up ? `/folder/${folder.up}` : "/"));
  const there = new Set(entries.map(({ number }) => number));
  picked.forEach((number) => there.has(number) || picked.delete(number));
  $("films-note").textContent = folder.left_out ? T.leftOut(folder.left_out) : entries.length ? "" : T.empty;
  showTiles();
}

function goUp(path) {
  $("up").hidden = !path;
  $("up").textContent = `‹ ${T.back}`;
  if (path) $("up").href = path;
}

async function showFolder() {
  await readLooks();
  const before = kept();
  if (before.look) $("look").value = before.look;
  strength = before.strength ?? null;
  $("strength").value = Math.round((strength ?? 1) * 100);
  $("look").addEventListener("change", () => { strength = null; $("strength").value = 100; tellStrength(); keep(); });
  $("strength").addEventListener("input", () => { strength = Number($("strength").value) / 100; tellStrength(); keep(); });
  tellStrength();
  $("pick-all").addEventListener("click", () => {
    if (picked.size) picked.clear();
    else choosable().forEach(({ number }) => picked.add(number));
    showTiles();
  });
  listenForFiles();
  $("folder").hidden = false;
  keep();
  await readFolder();
}

// ---- Files that are dropped --------------------------------------------------------------------------------------------------

function listenForFiles() {
  $("drop").hidden = work.read_only;
  if (work.read_only) return;
  [$("drop-name").textContent, $("drop-browse").textContent] = [T.drop, T.browse];
  $("drop-limit").textContent = T.dropLimit(T.bytes(work.upload.most));
  $("drop-files").addEventListener("change", () => take([...$("drop-files").files]));
  document.addEventListener("dragover", (event) => { event.preventDefault(); $("drop").classList.add("over"); });
  document.addEventListener("dragleave", (event) => event.relatedTarget ?? $("drop").classList.remove("over"));
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    $("drop").classList.remove("over");
    take([...event.dataTransfer.files]);
  });
}

/// Gives files to the program, one after the other.
async function take(files) {
  for (const file of files) {
    try {
      const { upload } = await ask("/api/work");
      if (file.size > upload.left) throw new Error(T.tooLarge(file.name, T.bytes(upload.left)));
      picked.add((await give(file)).number);
      $("drop-now").textContent = "";
    } catch (error) {
      $("drop-now").textContent = `${file.name}: ${error.message}`;
    }
    await readFolder().catch(explain);
  }
  $("drop-files").value = "";
}

const give = (file) => new Promise((done, failed) => {
  const request = new XMLHttpRequest();
  request.open("POST", `/api/work/uploads?name=${encodeURIComponent(file.name)}`);
  request.setRequestHeader("Content-Type", "application/octet-stream");
  request.responseType = "json";
  const fail = () => failed(new Error(request.response?.error ?? T.notTaken));
  request.upload.onprogress = ({ loaded, total }) => {
    $("drop-now").textContent = T.coming(file.name, Math.floor((100 * loaded) / total));
  };
  request.onload = () => (request.status === 201 ? done(request.response) : fail());
  request.onerror = fail;
  request.send(file);
});

// ---- The queue ---------------------------------------------------------------------------------------------------------------

/// Makes what is chosen: the file that is seen, or those of the folder.
async function make() {
  try {
    keep();
    const files = view === "file" ? [number] : [...picked];
    const made = await ask("/api/work/jobs", { files, chosen: settings() }, "POST");
    told(T.queued(made.jobs.length));
    if (view === "folder") {
      picked.clear();
      await readFolder();
    }
  } catch (error) {
    explain(error);
  }
  readJobs();
}

const change = (job, what) => ask(`/api/work/jobs/${job}`, what).catch(explain).then(readJobs);

/// What can be done with a job in this state.
function actions({ number, state, output, is_given }) {
  const button = (action, press) => Object.assign(element("button", T.actions[action]), { type: "button", onclick: press });
  const link = (action, href) => Object.assign(element("a", T.actions[action]), { className: "button", href });
  const again = () => button("again", () => change(number, "again"));
  let all;
  if (state === "waiting" || state === "working") all = [button("cancel", () => change(number, "cancel"))];
  else if (state !== "done") all = work.read_only ? [] : [again()];
  else {
    const save = Object.assign(link("download", `/api/work/jobs/${number}/download`), { download: output });
    const see = Object.assign(link("see", `/result/${number}`), { className: "button first" });
    const show = work.desktop && !is_given ? [button("show", () => change(number, "show"))] : [];
    all = [see, save, ...show, ...(work.read_only ? [] : [again()])];
  }
  all.forEach((one) => { one.ariaLabel = T.of(one.textContent, output); });
  return all;
}

/// What is said of a job.
function describe(job) {
  const speed = job.fps > 0 && T.speed(job.fps < 10 ? job.fps.toFixed(1) : Math.round(job.fps));
  const left = job.eta !== null && T.left(T.time(job.eta)), place = job.is_given ? T.toDownload : job.place && T.liesIn(job.place);
  switch (job.state) {
    case "working": return job.percent === null ? T.starting : [`${Math.floor(job.percent)} %`, speed, left, job.pass && T.pass(job.pass)];
    case "done": return [sizes(job), T.took(T.time(job.seconds)), place];
    case "failed": return job.error;
    case "cancelled": return job.partial ? T.partial(job.partial) : T.nothingKept;
    default: return "";
  }
}

const sizes = (job) => T.sizes(T.bytes(job.input_bytes ?? 0), T.bytes(job.bytes ?? 0));

function card(job) {
  const part = (kind, className, text = "") => Object.assign(element(kind, text), { className });
  const item = document.createElement("li"), head = part("div", "row head"), details = document.createElement("details");
  const [state, about, warnings, actions] = [part("span", "state"), part("p", "hint"), part("p", "hint"), part("div", "row actions")];
  const bar = Object.assign(document.createElement("progress"), { max: 100, ariaLabel: T.progress(job.output) });
  details.append(element("summary", T.command), element("code", job.command));
  head.append(part("span", "name", job.output), state);
  item.append(head, bar, about, warnings, actions, details);
  return { item, state, bar, about, warnings, actions, shown: null };
}

function showJob(job) {
  const parts = cards.get(job.number) ?? card(job), isMoving = ["waiting", "working"].includes(job.state);
  parts.bar.hidden = job.state !== "working";
  if (job.percent === null) parts.bar.removeAttribute("value");
  else parts.bar.value = job.percent;
  parts.about.textContent = [describe(job)].flat().filter(Boolean).join(" · ");
  parts.warnings.textContent = job.warnings.join(" · ");
  if (parts.shown !== job.state) {
    const had = parts.item.contains(document.activeElement), isNews = parts.shown && !isMoving;
    parts.state.textContent = T.state[job.state];
    parts.item.className = `is-${job.state}`;
    parts.actions.replaceChildren(...actions(job));
    if (!isMoving) $("ended").prepend(parts.item);
    else if (parts.shown === null) $("queue").append(parts.item);
    if (had) parts.actions.firstElementChild?.focus();
    if (isNews && job.state === "done") told(T.isDone(job.output));
    if (isNews && job.state === "failed") told(T.isFailed(job.output));
    // What was made may lie in this folder.
    if (isNews && view === "folder") readFolder().catch(explain);
    parts.shown = job.state;
  }
  cards.set(job.number, parts);
}

async function readJobs() {
  clearTimeout(later);
  try {
    const said = await ask("/api/work/jobs");
    if ($("said").textContent === T.gone) told("");
    [jobs, isPaused] = [said.jobs, said.paused];
    for (const [number, { item }] of cards) {
      if (jobs.some((job) => job.number === number)) continue;
      item.remove();
      cards.delete(number);
    }
    jobs.forEach(showJob);
    const working = jobs.find(({ state }) => state === "working"), isWaiting = jobs.some(({ state }) => state === "waiting");
    $("jobs").hidden = !jobs.length;
    $("pause").hidden = !isWaiting && !isPaused;
    $("pause").textContent = isPaused ? T.goOn : T.pause;
    const left = working && working.eta !== null && T.left(T.time(working.eta));
    $("now").textContent = working ? T.now(working.output, Math.floor(working.percent ?? 0), left) : "";
    later = setTimeout(readJobs, document.hidden ? UNSEEN : working || isWaiting ? OFTEN : RARELY);
  } catch (error) {
    explain(error);
    later = setTimeout(readJobs, RARELY);
  }
}

// ---- The whole ---------------------------------------------------------------------------------------------------------------

/// A file under looks, to be made.
async function showOne() {
  const described = await ask(`/api/work/files/${number}`), before = kept();
  if (!location.hash && before.look) {
    const words = new URLSearchParams({ look: before.look, ...(before.strength !== null && { strength: before.strength }) });
    history.replaceState(null, "", `#${words}`);
  }
  goUp(folder());
  $("goals").hidden ||= described.is_image;
  await showFile(described, `/api/work/files/${number}`, goal);
  $("go").textContent = T.make;
}

/// The original beside the result of a job.
async function showResult() {
  await readJobs();
  const job = jobs.find((job) => job.number === number);
  $("right-name").textContent = T.result;
  document.querySelector('[data-view="0"]').textContent = T.seeResult;
  goUp(folder());
  await showFile(await ask(`/api/work/jobs/${number}`), `/api/work/jobs/${number}`);
  if (!job) return;
  document.title = `${job.output} – histeq-video`;
  $("line").textContent = job.output;
  const facts = [["name", job.output], ["size", sizes(job)], ["place", job.place], ["took", T.time(job.seconds)], ["found", job.found]];
  showFacts(facts.filter(([, value]) => value).map(([name, value]) => [T.facts[name], value]));
  const other = Object.assign(element("a", T.other), { className: "button", href: `/file/${job.file}` });
  const row = Object.assign(element("div", ""), { className: "row actions" });
  row.append(...actions(job).slice(1));
  $("facts").after(row, other);
}

/// Shows the view of files that this address is.
export async function showWork(facts) {
  work = facts;
  const [, kind, of] = location.pathname.split("/");
  [view, number] = [["file", "result"].includes(kind) ? kind : "folder", Number(of || 0)];
  document.body.classList.add("work", view);
  $("line").textContent = work.read_only ? T.readOnly : "";
  $("more").open = false;
  $("make").hidden = work.read_only || view === "result";
  $("go").addEventListener("click", make);
  $("pause").addEventListener("click", () => ask("/api/work/jobs", { paused: !isPaused }).catch(explain).then(readJobs));
  $("now").addEventListener("click", (event) => {
    event.preventDefault();
    $("jobs-name").focus();
  });
  try {
    if (view !== "result" && !work.read_only) showGoals();
    await { folder: showFolder, file: showOne, result: showResult }[view]();
  } catch (error) {
    say(error.message);
    explain(error);
    goUp(folder());
  }
  readJobs();
  document.addEventListener("visibilitychange", () => document.hidden || readJobs());
}
