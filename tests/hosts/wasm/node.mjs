// node.mjs MODULES INPUTS VECTORS: every conformance vector through the library in Node, which takes no thread and no clock, as in
// a browser; then how long 720p takes. The last line has the number of vectors.
// node.mjs MODULES film IN OUT: raw frames of 1280x720, 25 a second, as a file, under the look natural.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [modules, inputs, vectors, out] = process.argv.slice(2);
const { Equalizer, initSync, options } = await import(pathToFileURL(`${modules}/histeq.js`));
initSync({ module: readFileSync(`${modules}/histeq_bg.wasm`) });

// FNV-1a of 64 bits, as four digits of 16 bits.
function hash(bytes) {
  let a = 0x2325, b = 0x8422, c = 0x9ce4, d = 0xcbf2;
  for (const byte of bytes) {
    a ^= byte;
    // Times 2^40 + 0x1b3.
    const low = a * 0x1b3, second = b * 0x1b3 + (low >>> 16);
    const third = c * 0x1b3 + (second >>> 16) + (a << 8), fourth = d * 0x1b3 + (third >>> 16) + (b << 8);
    [a, b, c, d] = [low & 0xffff, second & 0xffff, third & 0xffff, fourth & 0xffff];
  }
  return [d, c, b, a].map(digits => digits.toString(16).padStart(4, "0")).join("");
}

function equalizer(row, asked) {
  const made = new Equalizer(row.format, Number(row.width), Number(row.height));
  for (const name of ["range", "matrix", "transfer"]) made.set(name, row[name]);
  made.set("rate", "10");
  made.set("live", String(row.delivery === "live"));
  for (const option of asked) made.set(...option.split("="));
  return made;
}

// All frames that come out of these.
function outputs(made, frames) {
  const done = [];
  const take = frame => frame && done.push(frame);
  for (const frame of frames) take(made.push(frame));
  made.finish();
  for (let frame; (frame = made.collect()); ) take(frame);
  return done;
}

// The frames that lie in these bytes.
function split(bytes, count) {
  const size = bytes.length / count;
  return Array.from({ length: count }, (_, n) => bytes.subarray(n * size, (n + 1) * size));
}

if (inputs === "film") {
  const bytes = new Uint8Array(readFileSync(vectors));
  writeFileSync(out, Buffer.concat(outputs(new Equalizer("yuv420p", 1280, 720), split(bytes, bytes.length / (1280 * 720 * 1.5)))));
  process.exit();
}

const lines = readFileSync(vectors, "utf8").split("\n").filter(line => line && !line.startsWith("#"));
const head = lines.shift().split("\t");
let wrong = 0;
for (const line of lines) {
  const row = Object.fromEntries(line.split("\t").map((cell, at) => [head[at], cell]));
  const bytes = new Uint8Array(readFileSync(`${inputs}/${row.input}.raw`));
  const frames = split(bytes, Number(row.frames));
  const asked = row.options.split(" ");
  const made = equalizer(row, asked);
  if (asked.includes("smooth=scene")) frames.forEach(frame => made.survey(frame));
  const found = outputs(made, frames).map(hash).join(",");
  if (found !== row.output || made.outputFormat() !== row.output_format) {
    wrong += 1;
    console.log(`${row.format} ${row.range} ${row.delivery} ${row.options}: other bytes`);
  }
  made.free();
}

// Errors are exceptions with the words of the library, and a wrong frame ends nothing.
function says(pattern, work) {
  try {
    work();
  } catch (error) {
    if (pattern.test(error.message)) return;
    throw error;
  }
  throw new Error(`nothing was thrown: ${pattern}`);
}
const made = new Equalizer("gray", 4, 2);
says(/no pixel format gry/, () => new Equalizer("gry", 4, 2));
says(/not 0x2/, () => new Equalizer("gray", 0, 2));
says(/look is one of natural, /, () => made.set("look", "no"));
says(/rate is not -1/, () => made.set("rate", "-1"));
says(/no option threads/, () => made.set("threads", "1"));
made.set("look", "exact");
says(/8 bytes/, () => made.push(new Uint8Array(7)));
if ((made.push(Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8)) ?? made.collect()).length !== 8) throw new Error("no picture");
says(/before the first frame/, () => made.set("rate", "25"));
made.set("strength", "0.5");
made.set("gray", "true");
made.free();
if (options().find(({ name }) => name === "look").names.length < 4) throw new Error("no looks");

// A street at night as 1280x720: noise and a ramp.
const row = { format: "yuv420p", width: 1280, height: 720, range: "limited", matrix: "bt709", transfer: "sdr", delivery: "live" };
let noise = 1;
const frames = Array.from({ length: 4 }, () => Uint8Array.from({ length: (1280 * 720 * 3) / 2 }, (_, at) => {
  if (at >= 1280 * 720) return 128;
  noise = (Math.imul(1664525, noise) + 1013904223) >>> 0;
  return 24 + ((at % 1280) >> 4) + (noise >>> 29);
}));
for (const asked of [["look=exact"], ["method=global"], ["look=natural"], ["look=natural", "denoise=1"], ["method=clahe"]]) {
  const made = equalizer({ ...row }, [...asked]);
  made.set("rate", "30");
  const times = [];
  for (let n = 0; n < (asked[1] ? 12 : 40); n += 1) {
    const begin = performance.now();
    made.push(frames[n % 4]) ?? made.collect();
    times.push(performance.now() - begin);
  }
  made.free();
  times.sort((one, other) => one - other);
  console.log(`720p ${asked.join(" ")}: ${times[times.length >> 1].toFixed(1)} ms a frame, at least ${times[0].toFixed(1)}`);
}
console.log(`${lines.length - wrong} of ${lines.length} vectors`);
process.exit(wrong ? 1 : 0);
