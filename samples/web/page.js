// The page: where pictures come from, and the controls. worker.js equalizes and draws.
const $ = id => document.getElementById(id);
const [file, camera, sample, look, strength, share, pause, save, stage, divider, said] =
  ["file", "camera", "sample", "look", "strength", "share", "pause", "save", "stage", "divider", "said"].map($);

// Any option of equalization may stand in the address: index.html?look=night&method=global.
const given = Object.fromEntries(new URLSearchParams(location.search));

// A frame that is drawn, and one that waits: more would only be late.
const MOST_UNDER_WAY = 2;

const worker = new Worker("worker.js", { type: "module" });
const canvases = [$("before"), $("after")].map(canvas => canvas.transferControlToOffscreen());
worker.postMessage({ kind: "canvases", canvases }, canvases);

let video; // what plays
let name = "picture"; // of what is shown
let underWay = 0;
let times = []; // when frames were shown, and how long they took: of the last second
let told = 0; // when the page last said so

function say(text, isWrong = false) {
  said.textContent = text;
  said.classList.toggle("wrong", isWrong);
  // Times are not read out.
  said.ariaLive = isWrong ? "assertive" : "off";
}

function post(image, isLive) {
  underWay += 1;
  worker.postMessage({ kind: "show", image, isLive }, [image]);
}

function stop() {
  if (!video) return;
  video.srcObject?.getTracks().forEach(track => track.stop());
  if (video.src) URL.revokeObjectURL(video.src);
  video.pause();
  video.onerror = null;
  video.removeAttribute("src");
  video = undefined;
}

function begin(newName) {
  stop();
  name = newName;
  times = [];
  worker.postMessage({ kind: "restart" });
  update();
}

function update() {
  pause.disabled = !video;
  pause.textContent = video?.paused ? "Play" : "Pause";
  camera.textContent = video?.srcObject ? "Stop webcam" : "Webcam";
}

async function showPicture(blob, newName) {
  const image = await createImageBitmap(blob, { premultiplyAlpha: "none" });
  begin(newName);
  post(image, false);
}

async function play(source, newName) {
  begin(newName);
  const own = (video = document.createElement("video"));
  Object.assign(own, { muted: true, loop: true, playsInline: true });
  own.onplay = own.onpause = update;
  const failed = new Promise((_, reject) => (own.onerror = () => reject(own.error)));
  if (source instanceof MediaStream) own.srcObject = source;
  else own.src = source;
  const next = async () => {
    if (video !== own) return;
    own.requestVideoFrameCallback(next);
    if (underWay >= MOST_UNDER_WAY) return;
    const image = "VideoFrame" in window ? new VideoFrame(own) : await createImageBitmap(own);
    if (video === own) post(image, true);
    else image.close();
  };
  own.requestVideoFrameCallback(next);
  await Promise.race([own.play(), failed]);
}

// Does something that may fail, and says why.
async function attempt(what, work) {
  try {
    await work();
  } catch (error) {
    say(`${what}: ${error.message || error.name || error}`, true);
    update();
  }
}

function open(blob) {
  if (!blob) return;
  const base = blob.name.replace(/\.[^.]*$/, "") || "picture";
  const isVideo = blob.type.startsWith("video/");
  attempt(`${blob.name} does not open`, () => (isVideo ? play(URL.createObjectURL(blob), base) : showPicture(blob, base)));
}

function change() {
  share.textContent = `${Math.round(strength.value * 100)} %`;
  $("about").textContent = look.selectedOptions[0]?.title ?? "";
  const values = { ...given, look: look.value };
  if (strength.value < 1) values.strength = strength.value;
  worker.postMessage({ kind: "options", values, again: !video || video.paused });
}

const hears = {
  ready({ looks, standard }) {
    look.replaceChildren(...looks.map(([value, about]) => Object.assign(new Option(value, value), { title: about })));
    look.value = looks.some(([value]) => value === given.look) ? given.look : standard;
    strength.value = given.strength ?? 1;
    look.disabled = false;
    change();
    say("Ready");
    document.body.dataset.state = "ready";
  },
  shown({ format, width, height, time, whole, again }) {
    if (!again) underWay -= 1;
    stage.hidden = save.disabled = false;
    $("empty").hidden = true;
    stage.style.setProperty("--aspect", width / height);
    const now = performance.now();
    times = [...times.filter(([when]) => when > now - 1000), [now, time, whole]];
    const mean = of => times.reduce((sum, each) => sum + each[of], 0) / times.length;
    const isPlaying = video && !video.paused;
    const [own, all] = isPlaying ? [mean(1), mean(2)] : [time, whole];
    const rate = isPlaying ? `, ${times.length} frames a second, ${all.toFixed(1)}\u00a0ms with reading and drawing` : "";
    // As often as one can read.
    if (!isPlaying || now > told + 250) {
      say(`${width} × ${height} as ${format}: equalized in ${own.toFixed(1)}\u00a0ms${rate}`);
      told = now;
    }
    document.body.dataset.state = "shown";
    document.body.dataset.frames = 1 + Number(document.body.dataset.frames ?? 0);
  },
  saved({ blob }) {
    const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: `${name}-equalized.png` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  },
  failed({ text }) {
    underWay = 0;
    say(text, true);
    document.body.dataset.state = "failed";
  },
};
worker.onmessage = ({ data }) => hears[data.kind](data);
worker.onerror = ({ message }) => say(`the equalizer does not start: ${message ?? "no worker"}`, true);

file.oninput = () => {
  open(file.files[0]);
  file.value = "";
};
camera.onclick = () => attempt("no webcam", async () => {
  if (video?.srcObject) {
    stop();
    return update();
  }
  if (!navigator.mediaDevices) throw new Error("a webcam takes https, or localhost");
  const wanted = { width: { ideal: 1280 }, height: { ideal: 720 }, frameRate: { ideal: 30 } };
  await play(await navigator.mediaDevices.getUserMedia({ video: wanted }), "webcam");
});
sample.onclick = () => attempt("no sample", () => play("sample.mp4", "sample"));
pause.onclick = () => (video.paused ? video.play() : video.pause());
save.onclick = () => worker.postMessage({ kind: "save" });
look.oninput = strength.oninput = change;
divider.oninput = () => stage.style.setProperty("--at", divider.value);

for (const kind of ["dragover", "dragleave", "drop"]) {
  addEventListener(kind, event => {
    event.preventDefault();
    document.body.classList.toggle("over", kind === "dragover");
    if (kind === "drop") open(event.dataTransfer.files[0]);
  });
}
