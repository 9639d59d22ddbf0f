// Files to work on: a folder of them, one under looks, one beside its result, and the queue of what is made.

import { showFile, tell } from "/file.js";
import {
  $, ask, choose, chosen, element, GONE, keepRows, playFile, readLooks, say, setTitle, showFacts, tellSettings, tile, wordsOf,
} from "/picture.js";
import { T } from "/texts.js";

/// Milliseconds between two looks at the queue: while something is made, else, and where the page is not seen; that words stay.
const OFTEN = 400, RARELY = 2000, UNSEEN = 5000, TOLD = 8000;
const KEPT = "histeq-video";

let work = null, view = "folder", number = 0, entries = [], jobs = [];
let later = null, silent = null, isPaused = false, news = null;
/// The numbers of files that are chosen; tiles by what they show; what there is of each job.
const picked = new Set(), tiles = new Map(), cards = new Map();

function told(text) {
  $("said").textContent = text;
  clearTimeout(silent);
  silent = setTimeout(() => { $("said").textContent = ""; }, TOLD);
}
const explain = (error) => told(wordsOf(error));
const said = (...parts) => parts.filter(Boolean).join(", ");
const hint = (text) => element("span", { className: "hint", textContent: text });
const button = (name, onclick) => element("button", { type: "button", textContent: name, onclick });
const link = (name, href, values) => element("a", { className: "button", textContent: name, href, ...values });
const goal = () => document.querySelector("#goals input:checked")?.value ?? "keep";

// ---- What is chosen ----------------------------------------------------------------------------------------------------------

const settings = () => ({ ...chosen(), goal: goal() });

/// Keeps it for the other views of this window.
function keep() {
  const place = view === "folder" ? location.pathname : folder();
  try { sessionStorage.setItem(KEPT, JSON.stringify({ ...settings(), folder: place })); } catch { /* not kept then */ }
}

const kept = () => { try { return JSON.parse(sessionStorage.getItem(KEPT)) ?? {}; } catch { return {}; } };

const folder = () => kept().folder ?? "/";

function showGoals() {
  const name = kept().goal ?? "keep";
  $("goals").append(...work.goals.map((goal) => {
    const input = element("input", { type: "radio", name: "goal", value: goal.name, checked: goal.name === name });
    const [title, about] = T.goal[goal.name];
    return element("label", {}, input, element("b", title), hint(about));
  }));
  $("goals").hidden = false;
  $("goals").addEventListener("change", () => { keep(); if (view === "file") tell(); });
}

// ---- A folder ----------------------------------------------------------------------------------------------------------------

function show({ kind, number, name, bytes, modified, made, isGiven }) {
  if (kind === "folder") return tile("a", { href: `/folder/${number}` }, [element("i")], name, T.folder).row;
  const src = `/api/work/files/${number}/small.jpg`, image = element("img", { loading: "lazy", alt: "", src, onerror: () => image.remove() });
  const facts = said(T.bytes(bytes), T.date(modified), made && T.origin.made, isGiven && T.origin.given);
  const { row } = tile("a", { href: `/file/${number}` }, [image], name, facts);
  if (work.read_only) return row;
  const onchange = ({ target }) => {
    picked[target.checked ? "add" : "delete"](number);
    tellPicked();
  };
  row.append(element("label", { className: "pick" }, element("input", { type: "checkbox", ariaLabel: T.choose(name), onchange })));
  return row;
}

const choosable = () => entries.filter(({ kind, made }) => kind !== "folder" && !made);

/// Shows the entries, as far as they are new.
function showTiles() {
  const focused = document.activeElement;
  const items = entries.map((entry) => {
    const key = JSON.stringify(entry), item = tiles.get(key) ?? show(entry), box = item.querySelector("input");
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
  $("pick-all").textContent = T.pick[picked.size ? "none" : "all"];
  $("pick-all").hidden = work.read_only || !choosable().length;
}

async function readFolder() {
  const folder = await ask(`/api/work/folder/${number}`), given = folder.given ?? [];
  entries = [...given.map((entry) => ({ ...entry, isGiven: true })), ...folder.entries];
  $("folder-name").textContent = folder.name || T.top;
  setTitle(folder.name || T.top);
  goUp(folder.up !== null && (folder.up ? `/folder/${folder.up}` : "/"));
  picked.forEach((number) => entries.some((entry) => entry.number === number) || picked.delete(number));
  const unread = said(...Object.entries(folder.unread).map(([kind, count]) => `${count} × ${kind}`)), { left_out, film } = folder;
  const notes = [left_out && T.leftOut(left_out), !entries.length && T.empty, unread && T.unread(unread), film && T.film(film)];
  $("films-note").textContent = notes.filter(Boolean).join(" ");
  $("goals").hidden = work.read_only || !entries.some(({ kind }) => kind === "film");
  showTiles();
}

function goUp(path) {
  $("up").hidden = !path;
  if (path) $("up").href = path;
}

async function showFolder() {
  await readLooks();
  const set = (look, share) => {
    if (share === null) $("strength").value = 100;
    choose(look, share);
    tellSettings(share === null ? T.automatic : undefined);
    keep();
  };
  $("look").addEventListener("change", () => set(null, null));
  $("strength").addEventListener("input", () => set(null, Number($("strength").value) / 100));
  set(kept().look, kept().strength ?? null);
  $("pick-all").addEventListener("click", () => {
    if (picked.size) picked.clear();
    else choosable().forEach(({ number }) => picked.add(number));
    showTiles();
  });
  if (work.read_only) $("drop").hidden = true;
  else listenForFiles();
  $("folder").hidden = false;
  await readFolder();
}

// ---- Files that are dropped --------------------------------------------------------------------------------------------------

function listenForFiles() {
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
  const missed = [];
  onbeforeunload = (event) => event.preventDefault();
  for (const file of files) {
    try {
      const { upload } = await ask("/api/work");
      if (file.size > upload.left) throw new Error(T.tooLarge(file.name, T.bytes(upload.left)));
      picked.add((await give(file)).number);
    } catch (error) {
      missed.push(`${file.name}: ${error.message}`);
    }
    $("drop-now").textContent = missed.join(" · ");
    await readFolder().catch(explain);
  }
  $("drop-files").value = "";
  onbeforeunload = null;
}

const give = (file) => new Promise((done, failed) => {
  const request = new XMLHttpRequest();
  request.open("POST", `/api/work/uploads?name=${encodeURIComponent(file.name)}`);
  request.setRequestHeader("Content-Type", "application/octet-stream");
  request.responseType = "json";
  const fail = () => failed(new Error(request.response?.error ?? T.notTaken));
  request.upload.onprogress = ({ loaded, total }) => {
    $("drop-now").textContent = T.now(file.name, Math.floor((100 * loaded) / total));
  };
  request.onload = () => (request.status === 201 ? done(request.response) : fail());
  request.onerror = fail;
  request.send(file);
});

// ---- The queue ---------------------------------------------------------------------------------------------------------------

/// Makes what is chosen: the file that is seen, or those of the folder, as far as they may wait.
async function make() {
  keep();
  const all = view === "file" ? [number] : [...picked], files = all.slice(0, Math.max(1, work.most - count("waiting")));
  const made = await ask("/api/work/jobs", { files, chosen: settings() }, "POST"), left = all.length - files.length;
  told(T.queued(made.jobs.length) + (left ? T.stillChosen(left) : ""));
  files.forEach((number) => picked.delete(number));
  if (view === "folder") await readFolder();
}

const count = (state) => jobs.filter((job) => job.state === state).length;
const isMoving = (state) => ["waiting", "working"].includes(state);
const change = (job, what) => ask(`/api/work/jobs/${job}`, what).catch(explain).then(readJobs);

function actions({ number, state, output, is_given }) {
  const order = (action) => button(T.actions[action], () => change(number, action)), all = [];
  if (state === "done") {
    all.push(link(T.actions.see, `/result/${number}`, { className: "button first" }),
      link(T.actions.download, `/api/work/jobs/${number}/download`, { download: output }));
    if (work.desktop && !is_given) all.push(order("show"));
  }
  if (isMoving(state)) all.push(order("cancel"));
  else if (!work.read_only) all.push(order("again"));
  all.forEach((one) => { one.ariaLabel = T.of(one.textContent, output); });
  return all;
}

function describe(job) {
  const speed = job.fps > 0 && T.speed(job.fps < 10 ? job.fps.toFixed(1) : Math.round(job.fps));
  const place = job.is_given ? job.is_awaited && T.toDownload : job.place && T.liesIn(job.place);
  switch (job.state) {
    case "working": return job.percent === null ? T.starting : [`${Math.floor(job.percent)} %`, speed, leftOf(job), job.pass && T.pass(job.pass)];
    case "done": return [sizes(job), T.took(T.time(job.seconds)), place];
    case "failed": return job.error;
    case "cancelled": return job.partial ? T.partial(job.partial) : T.nothingKept;
    default: return "";
  }
}

const leftOf = ({ eta }) => eta !== null && T.left(T.time(eta));
const sizes = (job) => T.sizes(T.bytes(job.input_bytes ?? 0), T.bytes(job.bytes ?? 0));

function card(job) {
  const state = element("span", { className: "state" }), actions = element("div", { className: "row actions" });
  const head = element("div", { className: "row head" }, element("b", job.output), state);
  const bar = element("progress", { max: 100, ariaLabel: T.progress(job.output) }), [about, warnings] = [hint(""), hint("")];
  const details = element("details", {}, element("summary", T.command), element("code", job.command));
  return { row: element("li", {}, head, bar, about, warnings, actions, details), state, bar, about, warnings, actions, shown: null };
}

function showJob(job) {
  const parts = cards.get(job.number) ?? card(job);
  parts.bar.hidden = job.state !== "working";
  if (job.percent === null) parts.bar.removeAttribute("value");
  else parts.bar.value = job.percent;
  parts.about.textContent = [describe(job)].flat().filter(Boolean).join(" · ");
  parts.warnings.textContent = job.warnings.join(" · ");
  if (parts.shown !== job.state) {
    const had = parts.row.contains(document.activeElement), isNews = parts.shown && !isMoving(job.state);
    parts.state.textContent = T.state[job.state];
    parts.row.className = `is-${job.state}`;
    parts.actions.replaceChildren(...actions(job));
    if (!isMoving(job.state)) $("ended").prepend(parts.row);
    else if (parts.shown === null) $("queue").append(parts.row);
    if (had) parts.actions.firstElementChild?.focus();
    if (isNews) {
      told(T.ended[job.state](job.output));
      if (job.state === "done") news = job;
      // What was made may lie in this folder.
      if (view === "folder") readFolder().catch(explain);
    }
    parts.shown = job.state;
  }
  cards.set(job.number, parts);
}

async function readJobs() {
  clearTimeout(later);
  try {
    const queue = await ask("/api/work/jobs");
    if ($("said").textContent === GONE) told("");
    [jobs, isPaused] = [queue.jobs, queue.paused];
    keepRows(cards, jobs.map(({ number }) => number));
    jobs.forEach(showJob);
    const working = jobs.find(({ state }) => state === "working"), waiting = count("waiting");
    const rest = waiting && (isPaused ? T.paused : T.wait)(waiting);
    $("jobs").hidden = !jobs.length;
    $("pause").hidden = !isPaused && !waiting;
    $("pause").textContent = T.pause[isPaused];
    const progress = working ? T.now(working.output, Math.floor(working.percent ?? 0), leftOf(working), rest) : isPaused && rest;
    $("now").textContent = progress || (news && T.seeIt(news.output));
    $("now").href = progress || !news ? "#jobs-name" : `/result/${news.number}`;
    later = setTimeout(readJobs, document.hidden ? UNSEEN : jobs.some(({ state }) => isMoving(state)) ? OFTEN : RARELY);
  } catch (error) {
    explain(error);
    later = setTimeout(readJobs, RARELY);
  }
}

// ---- The whole ---------------------------------------------------------------------------------------------------------------

/// A file under looks, to be made. What is chosen here is chosen for the folder, too.
async function showOne() {
  const path = `/api/work/files/${number}`, described = await ask(path);
  $("goals").hidden ||= described.is_image;
  await showFile(described, path, () => { keep(); return goal(); }, kept());
  $("go").textContent = T.make;
}

/// The original beside the result of a job.
async function showResult() {
  await readJobs();
  const path = `/api/work/jobs/${number}`, described = await ask(path), job = jobs.find((job) => job.number === number);
  $("right-name").textContent = T.result.name;
  document.querySelector('[data-view="0"]').textContent = T.result.see;
  await showFile(described, path);
  if (!job) return;
  setTitle(job.output);
  $("line").textContent = job.output;
  showFacts([["file", job.output], ["size", sizes(job)], ["lies in", job.place], ["took", T.time(job.seconds)], ["found", job.found]]);
  $("facts").after(element("div", { className: "row actions" }, ...actions(job).slice(1)), link(T.other, `/file/${job.file}`));
  const from = () => $("player").currentTime || $("seek").value / 1000, [original, result] = described.types;
  const play = (name, ...film) => button(name, () => playFile(...film, from()));
  $("plays").append(play(T.play.result, `${path}/play`, job.output, result),
    play(T.play.original, `/api/work/files/${job.file}/play`, job.name, original));
  $("film").hidden = described.is_image;
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
  $("go").addEventListener("click", () => make().catch(explain).then(readJobs));
  $("pause").addEventListener("click", () => ask("/api/work/jobs", { paused: !isPaused }).catch(explain).then(readJobs));
  $("now").addEventListener("click", (event) => {
    if (!$("now").hash) return;
    event.preventDefault();
    $("jobs-name").focus();
  });
  if (view !== "folder") goUp(folder());
  if (view !== "result" && !work.read_only) showGoals();
  await { folder: showFolder, file: showOne, result: showResult }[view]().catch((error) => {
    $("side").hidden = $("folder").hidden = true;
    if (view !== "folder") return say(wordsOf(error));
    $("line").textContent = wordsOf(error);
    goUp("/");
  });
  readJobs();
  document.addEventListener("visibilitychange", () => document.hidden || readJobs());
}
