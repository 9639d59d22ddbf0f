// chromium.mjs URL FOLDER: the page in Chromium, over its debugging pipe. FOLDER has picture.png, and picture.raw, expected.raw and
// half.raw: as RGBA the picture, and what the program makes of it with the look natural and with half of night. Says how long 720p
// takes, and leaves screenshots in FOLDER.
import { spawn } from "node:child_process";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";

const [url, folder] = process.argv.slice(2);
const chromium = spawn("chromium", [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--force-color-profile=srgb", "--remote-debugging-pipe",
  "--use-fake-device-for-media-stream=fps=30", "--use-fake-ui-for-media-stream", `--user-data-dir=${folder}/profile`, "about:blank",
], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
const over = new Promise((_, reject) => {
  chromium.on("error", reject);
  chromium.on("exit", code => reject(new Error(`Chromium ended: ${code}`)));
});
over.catch(() => {});

// Calls by their number, and what goes wrong in the page.
const calls = new Map(), wrong = [];
let received = "", count = 0, session;
chromium.stdio[4].on("data", data => {
  const texts = (received + data).split("\0");
  received = texts.pop();
  for (const message of texts.map(text => JSON.parse(text))) {
    const { id, method, params, result, error } = message;
    if (method === "Runtime.exceptionThrown") wrong.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === "Log.entryAdded" && params.entry.level === "error") wrong.push(params.entry.text);
    if (!calls.has(id)) continue;
    const [resolve, reject] = calls.get(id);
    calls.delete(id);
    if (error) reject(new Error(error.message));
    else resolve(result);
  }
});
function call(method, params = {}, sessionId = session) {
  const answer = new Promise((resolve, reject) => calls.set((count += 1), [resolve, reject]));
  chromium.stdio[3].write(`${JSON.stringify({ id: count, method, params, sessionId: sessionId ?? undefined })}\0`);
  return Promise.race([answer, over]);
}
async function evaluate(expression) {
  const { result, exceptionDetails } = await call("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true, userGesture: true });
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result.value;
}
const sleep = time => new Promise(resolve => setTimeout(resolve, time));
async function until(condition, what) {
  for (const end = Date.now() + 30000; Date.now() < end; await sleep(50)) {
    if (await evaluate(condition).catch(() => false)) return;
  }
  throw new Error(`not in 30 seconds: ${what}; the page says '${await evaluate("document.getElementById('said').textContent")}'`);
}
const check = (holds, what) => {
  if (!holds) throw new Error(what);
};

async function open(query, [width, height], isPhone = false) {
  await call("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: isPhone ? 2 : 1, mobile: isPhone });
  await call("Page.navigate", { url: `${url}/index.html${query}` });
  await until(`location.search === ${JSON.stringify(query)} && document.body?.dataset.state === "ready"`, "the library loads");
}
const shown = 'document.body.dataset.state === "shown"';
// The processor time of all of Chromium, in seconds.
const busy = async () => (await call("SystemInfo.getProcessInfo", {}, null)).processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0);
const frames = () => evaluate("Number(document.body.dataset.frames ?? 0)");
async function drop(file) {
  const at = { x: 300, y: 400, data: { items: [], files: [file], dragOperationsMask: 1 } };
  for (const type of ["dragEnter", "dragOver", "drop"]) await call("Input.dispatchDragEvent", { type, ...at });
}
async function dropPicture(file) {
  const before = await frames();
  await drop(file);
  await until(`${shown} && Number(document.body.dataset.frames) > ${before}`, `${file} is shown`);
}
// What a canvas shows, as RGBA.
const pixels = async id => Buffer.from(await evaluate(`(async () => {
  const from = document.getElementById("${id}"), to = new OffscreenCanvas(from.width, from.height).getContext("2d");
  await new Promise(requestAnimationFrame);
  to.drawImage(from, 0, 0);
  const bytes = to.getImageData(0, 0, from.width, from.height).data;
  let text = "";
  for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  return btoa(text);
})()`), "base64");
async function set(id, value) {
  const before = await frames();
  await evaluate(`{ const input = document.getElementById("${id}"); input.value = ${JSON.stringify(value)}; input.dispatchEvent(new Event("input")) }`);
  return before;
}
async function screenshot(name, clip) {
  const { data } = await call("Page.captureScreenshot", { format: "png", ...(clip && { clip: { ...clip, scale: 1 } }) });
  writeFileSync(`${folder}/${name}.png`, Buffer.from(data, "base64"));
}
const fits = async () => check(await evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page is wider than its window");

async function main() {
  const { targetId } = await call("Target.createTarget", { url: "about:blank" });
  session = (await call("Target.attachToTarget", { targetId, flatten: true })).sessionId;
  for (const domain of ["Page", "Runtime", "Log"]) await call(`${domain}.enable`);
  await call("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: `${folder}/saved` });

  // A picture that is dropped, before and after.
  await open("", [1280, 1000]);
  await screenshot("empty");
  await dropPicture(`${folder}/picture.png`);
  const picture = readFileSync(`${folder}/picture.raw`), expected = readFileSync(`${folder}/expected.raw`);
  check(picture.equals(await pixels("before")), "the original is not as it was dropped");
  check(expected.equals(await pixels("after")), "the equalized picture is not the program's");
  // The divider, by its pixels: at 1:1, with the arrow keys. The name tags are at the bottom.
  const [width, height] = await evaluate(`{ const stage = document.getElementById("stage"); const { width, height } = document.getElementById("after");
    stage.style.width = width + "px"; [width, height] }`);
  await evaluate("document.getElementById('divider').focus()");
  for (let n = 0; n < 40; n += 1) {
    for (const type of ["keyDown", "keyUp"]) await call("Input.dispatchKeyEvent", { type, key: "ArrowLeft", code: "ArrowLeft", windowsVirtualKeyCode: 37 });
  }
  check(await evaluate("document.getElementById('divider').value") === "30", "the arrow keys do not move the divider");
  await evaluate("document.activeElement.blur()");
  const box = await evaluate(`{ const { x, y } = document.getElementById("stage").getBoundingClientRect(); ({ x: x + scrollX, y: y + scrollY }) }`);
  await screenshot("divided", { ...box, width, height });
  writeFileSync(`${folder}/size`, `${width} ${height}`);
  // Other options, and a saved file.
  let before = await set("look", "night");
  before = await set("strength", "0.5");
  await until(`Number(document.body.dataset.frames) > ${before} && document.getElementById("share").value === "50 %"`, "other options");
  await sleep(300);
  check(readFileSync(`${folder}/half.raw`).equals(await pixels("after")), "half of night is not the program's");
  await evaluate("document.getElementById('save').click()");
  for (let n = 0; n < 100 && !(existsSync(`${folder}/saved`) && readdirSync(`${folder}/saved`).includes("picture-equalized.png")); n += 1) await sleep(100);
  check(readdirSync(`${folder}/saved`).includes("picture-equalized.png"), "no file was saved");
  // What is no picture is told, and the page goes on.
  writeFileSync(`${folder}/no.png`, "no");
  await drop(`${folder}/no.png`);
  await until("document.getElementById('said').textContent.startsWith('no.png does not open')", "an error is told");
  await dropPicture(`${folder}/picture.png`);

  // The webcam.
  for (const [query, seconds] of [["?look=exact", 6], ["?method=global", 6], ["", 6], ["?method=clahe", 6]]) {
    await open(query, [1280, 1000]);
    await evaluate("document.getElementById('camera').click()");
    await until(shown, "the webcam is shown");
    await sleep(2000);
    const first = await frames(), begin = performance.now(), used = await busy();
    await sleep(1000 * seconds);
    const count = await frames() - first, rate = count / (performance.now() - begin) * 1000;
    const each = 1000 * (await busy() - used) / count;
    const said = await evaluate("document.getElementById('said').textContent");
    check(said.startsWith("1280 × 720"), `the webcam has another size: ${said}`);
    console.log(`webcam ${query || "default"}: ${rate.toFixed(1)} frames a second, ${each.toFixed(1)} ms of processor time each; ${said}`);
    // A machine that is busy with other work shows fewer than the 30 that it could.
    check(rate >= 10, "the webcam stands still");
    await evaluate("document.getElementById('camera').click()");
  }

  // The sample, wide and narrow.
  for (const [name, size, isPhone] of [["wide", [1280, 900], false], ["narrow", [390, 844], true]]) {
    await open("", size, isPhone);
    await evaluate("document.getElementById('sample').click()");
    await until(`${shown} && Number(document.body.dataset.frames) > 30`, "the sample plays");
    await evaluate("document.getElementById('pause').click()");
    await set("divider", "50");
    await sleep(500);
    await fits();
    await screenshot(name);
  }
  wrong.splice(0, wrong.length, ...wrong.filter(text => !text.includes("no.png")));
  check(wrong.length === 0, `the page reports: ${wrong.join("; ")}`);
}

try {
  await main();
  console.log("the page in Chromium: the bytes of the program, on both sides of the divider");
} catch (error) {
  console.log(`FAILED: ${error.message}`);
  if (session) await screenshot("failed").catch(() => {});
  process.exitCode = 1;
} finally {
  chromium.removeAllListeners("exit");
  chromium.kill();
}
