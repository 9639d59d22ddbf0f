// Equalizes and draws, beside the page: pictures come in as messages, and both canvases are ours.
import init, { Equalizer, options } from "./histeq.js";

// What the planes of a VideoFrame are called by the library. Other frames are drawn, and read as RGBA.
const FORMATS = { I420: "yuv420p", I422: "yuv422p", I444: "yuv444p", NV12: "nv12" };
const MATRICES = { bt709: "bt709", "bt2020-ncl": "bt2020" };
const TRANSFERS = { pq: "pq", hlg: "hlg" };

let before, after; // the contexts of both canvases
let asked = {}; // options by name
let equalizer, made; // and what it was made for
let last; // the last picture, for other options
const scratch = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true, alpha: false });

// The bytes of a picture, and what they are. Of what has alpha, that is lost.
async function read(image) {
  const { width, height } = image instanceof VideoFrame ? image.visibleRect : image;
  const format = FORMATS[image.format];
  if (format && !image.rotation && !image.flip && width % 2 === 0 && height % 2 === 0) {
    const bytes = new Uint8Array(image.allocationSize());
    await image.copyTo(bytes);
    const { matrix, transfer, fullRange } = image.colorSpace;
    const properties = {
      range: fullRange ? "full" : "limited",
      matrix: MATRICES[matrix] ?? "bt601",
      transfer: TRANSFERS[transfer] ?? "sdr",
    };
    return { format, width, height, bytes, properties, colorSpace: image.colorSpace, planes: image.format };
  }
  Object.assign(scratch.canvas, { width, height });
  scratch.drawImage(image, 0, 0, width, height);
  return { format: "rgba", width, height, bytes: new Uint8Array(scratch.getImageData(0, 0, width, height).data.buffer), properties: {} };
}

// An equalizer for such pictures: that of the picture before, if it serves.
function open({ format, width, height, properties }, isLive) {
  const wanted = JSON.stringify([format, width, height, properties, isLive]);
  if (wanted === made) return;
  close();
  const opened = new Equalizer(format, width, height);
  try {
    for (const [name, value] of Object.entries({ ...properties, rate: 30, live: isLive, ...asked })) opened.set(name, String(value));
    if (opened.outputFormat() !== format) throw new Error("this page shows pictures in the format in which they came");
  } catch (error) {
    opened.free();
    throw error;
  }
  [equalizer, made] = [opened, wanted];
}

function close() {
  equalizer?.free();
  equalizer = made = undefined;
}

// The picture, equalized, and how long that took, in ms.
function equalize(picture, isLive) {
  open(picture, isLive);
  const begin = performance.now();
  let done = equalizer.push(picture.bytes);
  if (!isLive) equalizer.finish();
  done ??= equalizer.collect();
  const time = performance.now() - begin;
  if (!isLive) close();
  return [done, time];
}

function draw(context, image, { width, height }) {
  if (context.canvas.width !== width || context.canvas.height !== height) Object.assign(context.canvas, { width, height });
  if (image instanceof ImageData) context.putImageData(image, 0, 0);
  else context.drawImage(image, 0, 0, width, height);
}

function drawBytes(context, bytes, { width, height, planes, colorSpace }) {
  if (!planes) return draw(context, new ImageData(new Uint8ClampedArray(bytes.buffer), width, height), { width, height });
  const frame = new VideoFrame(bytes, { format: planes, codedWidth: width, codedHeight: height, timestamp: 0, colorSpace });
  draw(context, frame, { width, height });
  frame.close();
}

async function show(image, isLive) {
  const begin = performance.now();
  const picture = await read(image);
  const [done, time] = equalize(picture, isLive);
  if (done) {
    // One as the other, so that colours differ by nothing but the equalizer.
    if (picture.planes) draw(before, image, picture);
    else drawBytes(before, picture.bytes.slice(), picture);
    drawBytes(after, done, picture);
  }
  image.close();
  last = picture;
  const { format, width, height } = picture;
  postMessage({ kind: "shown", format, width, height, time, whole: performance.now() - begin });
}

const takes = {
  canvases({ canvases }) {
    [before, after] = canvases.map(canvas => canvas.getContext("2d", { alpha: false }));
  },
  // Of pictures that stand still, at once; of others with the next one.
  options({ values, again }) {
    asked = values;
    close();
    if (!again || !last) return;
    const [done, time] = equalize(last, false);
    drawBytes(after, done, last);
    const { format, width, height } = last;
    postMessage({ kind: "shown", format, width, height, time, whole: time, again });
  },
  restart: close,
  show: ({ image, isLive }) => show(image, isLive),
  async save() {
    postMessage({ kind: "saved", blob: await after.canvas.convertToBlob({ type: "image/png" }) });
  },
};

const ready = init().then(() => {
  const looks = options().find(({ name }) => name === "look");
  postMessage({ kind: "ready", looks: looks.names.map((name, at) => [name, looks.abouts[at]]), standard: looks.defaultValue });
});

// One after the other.
let queue = ready.catch(error => postMessage({ kind: "failed", text: `the library does not load: ${error.message ?? error}` }));
onmessage = ({ data }) => {
  queue = queue.then(() => takes[data.kind](data)).catch(error => {
    close();
    data.image?.close();
    postMessage({ kind: "failed", text: error.message ?? String(error) });
  });
};
