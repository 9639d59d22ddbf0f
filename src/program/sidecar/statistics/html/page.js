"use strict";
// Draws the charts of the page from its numbers. Under the pointer it shows the values of that moment in all of them,
// with its histogram and its curve, otherwise those of all frames. The HTML that is made here has only numbers and
// words of this file.
const { unit, end, points, levels } = JSON.parse(document.getElementById("data").textContent);
const charts = document.getElementById("charts");

// Charts of metrics: for each line the metric, its name in the legend, the CSS class of its colour.
const pair = metric => [[`${metric}_before`, "before", "before"], [`${metric}_after`, "after", "after"]];
const METRICS = [
  { title: "Brightness: mean luminance (levels)", lines: pair("mean") },
  { title: "Contrast: standard deviation of luminance (levels)", lines: pair("deviation") },
  { title: "Local contrast: EME, 8 x 8 blocks", lines: pair("eme") },
  { title: "Entropy of luminance (bits)", lines: pair("entropy") },
  { title: "Gain of the stretched levels", lines: [["gain", "", "after"]], fromZero: true },
  {
    title: "Largest slope of the curve (output levels an input level)",
    lines: [["slope", "", "after"]],
    fromZero: true,
  },
  {
    title: "Change of the curve from frame to frame (mean, levels)",
    lines: [["curve_change", "", "after"]],
    fromZero: true,
  },
  {
    title: "Time a frame (milliseconds)",
    lines: [["decode_ms", "decode", "third"], ["equalize_ms", "equalize", "after"], ["encode_ms", "encode", "before"]],
    fromZero: true,
  },
];
// Columns of a picture of levels over time.
const COLUMNS = 480;
// A bin with this many times its part of the samples fills a histogram, and has its full colour in a picture.
const MOST_OF_MEAN = 8, FULL_OF_MEAN = 4;
// A level that moved by this part of the range has its full colour.
const FAR = 0.35;

const number = value => value.toLocaleString("en", { maximumSignificantDigits: 4, useGrouping: false });
const first = points.at[0] ?? 0;
const length = end > first ? end - first : 1;
const time = [first, first + length];

// Where a value is in a range: 0 to 1.
const place = (value, [low, high]) => (value - low) / (high - low);

// About `about` round values in a range, 1, 2 or 5 times a power of ten apart, with their labels.
function ticks([low, high], about) {
  const rough = (high - low) / about, power = 10 ** Math.floor(Math.log10(rough)), rounding = 1e-9;
  const step = power * ([1, 2, 5].find(factor => factor * power >= rough * (1 - rounding)) ?? 10);
  const from = Math.ceil(low / step - rounding), to = Math.floor(high / step + rounding);
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + rounding));
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => {
    const tick = (from + index) * step;
    return [tick, Number(tick.toFixed(decimals))];
  });
}

// Drawings are 1000 wide and 100 high, and are stretched. Positions in them are 0 to 1, from the left and from below.
const xy = ([x, y]) => `${(1000 * x).toFixed(1)} ${(100 - 100 * y).toFixed(2)}`;
const polyline = spots => spots.map((spot, index) => `${index ? "L" : "M"}${xy(spot)}`).join("");
const path = (kind, shape) => `<path class="${kind}" d="${shape}"/>`;
const VIEW = 'viewBox="0 0 1000 100" preserveAspectRatio="none" aria-hidden="true"';
const drawing = paths => `<svg ${VIEW}>${paths.join("")}</svg>`;
// Bars of these heights, as one shape.
const steps = heights => {
  const across = bin => (1000 * (bin + 1) / heights.length).toFixed(2);
  const step = (height, bin) => `V${(100 - 100 * Math.min(1, height)).toFixed(2)}H${across(bin)}`;
  return `M0 100${heights.map(step).join("")}V100Z`;
};

// All charts: the plot, what has the words above it, whether it is over time, and what gives the words.
const drawn = [];

// Adds a chart of `inside`, with labels of the ranges `across` and `up`. `describe` gives the words above it,
// for what is shown.
function add(into, { title, keys = [], across, up, kind, inside, describe }) {
  const key = ([name, colour]) => ` <span class="key ${colour}">${name}</span>`;
  const label = (range, side, from) => ([tick, text]) =>
    `<span class="${side}" style="${from}:${(100 * place(tick, range)).toFixed(2)}%">${text}</span>`;
  const labels = ticks(up, 4).map(label(up, "y", "bottom")).concat(ticks(across, 6).map(label(across, "x", "left")));
  const caption = `<b>${title}</b>${keys.map(key).join("")}<output></output>`;
  into.insertAdjacentHTML("beforeend", `<figure><figcaption>${caption}</figcaption>`
    + `<div class="plot" ${kind}>${inside}${labels.join("")}</div></figure>`);
  const [plot, output] = [".plot", "output"].map(part => into.lastElementChild.querySelector(part));
  drawn.push({ plot, output, isOfTime: across === time, describe });
  return plot;
}

// The last of these positions that is not behind the moment.
function last(at, moment) {
  let [low, high] = [0, at.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (at[middle] <= moment) low = middle; else high = middle - 1;
  }
  return low;
}

// What is shown: a moment, or all frames where it is null; the part of the levels that the pointer is at in a picture,
// and in the histogram or the curve; and the moment that a click keeps.
const shown = { moment: null, part: null, level: null, kept: null };
const when = () => `${number(points.at[last(points.at, shown.moment)])}${unit}`;

// A line through the means, with a band from the lowest to the highest where points have several frames.
function line(metric, colour, up) {
  const spots = values => values.map((value, index) => [place(points.at[index], time), place(value, up)]);
  const mean = spots(points.mean[metric]);
  if (mean.length === 1) return path(`dot ${colour}`, `${polyline(mean)}h0`);
  const around = points.low ? [...spots(points.high[metric]), ...spots(points.low[metric]).reverse()] : [];
  return path(`band ${colour}`, polyline(around)) + path(`line ${colour}`, polyline(mean));
}

function addMetrics({ title, lines, fromZero }) {
  const { low: lowest, high: highest, mean } = points;
  const values = lines.flatMap(([metric]) => lowest ? lowest[metric].concat(highest[metric]) : mean[metric]);
  const high = Math.max(...values), low = fromZero ? 0 : Math.min(...values);
  const room = Math.max((high - low) * 0.06, high * 0.01, 1e-3);
  const up = [fromZero ? 0 : Math.max(0, low - room), high + room];
  const marks = kind => path(kind, points[kind].map(at => `M${xy([place(at, time), 0])}V0`).join(""));
  const grid = path("grid", ticks(up, 4).map(([tick]) => `M${xy([0, place(tick, up)])}H1000`).join(""));
  const describe = () => {
    if (shown.moment === null) return "";
    const index = last(points.at, shown.moment);
    const words = lines.map(([metric, name]) => {
      const [low, high] = points.low ? [number(points.low[metric][index]), number(points.high[metric][index])] : [];
      return `${name && `${name} `}${number(points.mean[metric][index])}${low !== high ? ` (${low} to ${high})` : ""}`;
    });
    return `${when()}: ${words.join(", ")}`;
  };
  add(charts, {
    title, across: time, up, kind: "data-time", describe,
    keys: lines.map(([, name, colour]) => [name, colour]).filter(([name]) => name),
    inside: drawing([
      grid, marks("cut"), marks("flash"), ...lines.map(([metric, , colour]) => line(metric, colour, up)),
    ]),
  });
}

// The charts of levels. Returns what draws the histogram and the curve again.
function addLevels() {
  const { black, white, bins, width, all } = levels;
  const bytes = text => text && Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  const layers = { before: bytes(levels.before), after: bytes(levels.after), curve: bytes(levels.curve) };
  // A layer at a moment: for each bin the share of the samples, or what the level became, 0 to 1. Nothing where there
  // is no curve.
  const at = (layer, moment) => {
    if (moment === null) return all[layer];
    const start = last(levels.at, moment) * bins, column = [...layers[layer].subarray(start, start + bins)];
    if (layer !== "curve") return column.map(byte => (byte / 255) ** 2);
    return column.some(Boolean) ? column.map(byte => byte / 255) : null;
  };
  const codes = [black, white];
  const binOf = part => Math.min(bins - 1, Math.max(0, Math.floor(part * bins)));
  const named = bin => {
    const from = black + bin * width, to = Math.min(from + width - 1, white);
    return to > from ? `levels ${from} to ${to}` : `level ${from}`;
  };
  const percent = (layer, bin) => `${number(100 * at(layer, shown.moment)[bin])} %`;
  const became = bin => {
    const curve = at("curve", shown.moment);
    if (!curve) return "no one curve";
    const code = black + curve[bin] * (white - black);
    const about = width > 1 ? "about " : "";
    const value = shown.moment === null ? `${number(code)} on average` : `${about}${Math.round(code)}`;
    return `${named(bin)} became ${value}`;
  };
  const ofLevel = words => () => {
    if (shown.level !== null) return words(binOf(shown.level));
    return shown.moment === null ? "" : `at ${when()}`;
  };

  const both = charts.appendChild(document.createElement("div"));
  both.className = "pair";
  const top = Math.min(MOST_OF_MEAN / bins, Math.max(...all.before, ...all.after));
  const histogram = add(both, {
    title: "Histogram: how much of the picture has each level (%)",
    keys: [["before", "before"], ["after", "after"]],
    across: codes, up: [0, 100 * top], kind: "data-levels=\"histogram\"",
    inside: drawing([path("histogram before", ""), path("histogram after", "")]),
    describe: ofLevel(bin => `${named(bin)}: before ${percent("before", bin)}, after ${percent("after", bin)}`),
  });
  const curve = layers.curve && add(both, {
    title: "Curve: what each level became",
    across: codes, up: codes, kind: "data-levels=\"curve\"",
    inside: drawing([path("grid", polyline([[0, 0], [1, 1]])), path("line after", "")]),
    describe: ofLevel(became),
  });

  const style = getComputedStyle(document.documentElement);
  const rgb = name => style.getPropertyValue(`--${name}`).match(/[0-9a-f]{2}/g).map(hex => Number.parseInt(hex, 16));
  const [before, after, third] = ["before", "after", "third"].map(rgb);
  // Levels over time: white above, black below. A colour covers the page where there is much of it.
  const addPicture = (layer, title, keys, colour) => {
    const plot = add(charts, {
      title, keys, across: time, up: codes, kind: `data-time data-picture="${layer}"`,
      inside: `<canvas class="fill" width="${COLUMNS}" height="${bins}"></canvas>`,
      describe: () => {
        if (shown.moment === null) return "";
        if (shown.part === null) return when();
        const bin = binOf(shown.part);
        return `${when()}: ${layer === "curve" ? became(bin) : `${named(bin)}: ${percent(layer, bin)}`}`;
      },
    });
    const context = plot.firstElementChild.getContext("2d"), image = context.createImageData(COLUMNS, bins);
    for (let x = 0; x < COLUMNS; x += 1) {
      (at(layer, first + x / (COLUMNS - 1) * length) ?? []).forEach((value, bin) => {
        const [red, green, blue, share] = colour(value, bin);
        image.data.set([red, green, blue, 255 * share], 4 * ((bins - 1 - bin) * COLUMNS + x));
      });
    }
    context.putImageData(image, 0, 0);
  };
  const ofShare = colour => share => [...colour, Math.sqrt(share * bins / FULL_OF_MEAN)];
  addPicture("before", "Histogram over time, before: levels from dark (below) to bright", [], ofShare(before));
  addPicture("after", "Histogram over time, after", [], ofShare(after));
  if (curve) {
    const keys = [["became brighter", "after"], ["became darker", "third"]];
    addPicture("curve", "Curve over time: what each level became", keys, (value, bin) => {
      // Both in 255ths, so that a level that stayed has not moved.
      const moved = value - Math.round(255 * bin / (bins - 1)) / 255;
      return [...(moved > 0 ? after : third), Math.abs(moved) / FAR];
    });
  } else {
    charts.insertAdjacentHTML("beforeend",
      "<p>Curves are not drawn: with this method, a frame has several curves or none.</p>");
  }

  return () => {
    const set = (plot, kind, shape) => plot.querySelector(kind).setAttribute("d", shape);
    for (const layer of ["before", "after"]) {
      set(histogram, `.${layer}`, steps(at(layer, shown.moment).map(share => share / top)));
    }
    if (!curve) return;
    set(curve, ".line", polyline((at("curve", shown.moment) ?? []).map((value, bin) => [bin / (bins - 1), value])));
  };
}

let drawLevels = () => {};
if (levels) {
  charts.insertAdjacentHTML("beforeend", "<h2>Levels</h2><p>Of all frames, and of one moment under the pointer or "
    + "finger. A click keeps the moment, Escape lets it go.</p>");
  drawLevels = addLevels();
  charts.insertAdjacentHTML("beforeend", "<h2>Measurements</h2>");
  METRICS.forEach(addMetrics);
  charts.insertAdjacentHTML("beforeend", "<p>Dashed lines are cuts, yellow ones the ends of flashes. Across is time in "
    + `${unit ? "seconds" : "frames"}. Where a point stands for several frames, the line is their mean and the band `
    + "goes from the lowest to the highest. Levels are those of the video's own depth.</p>");
}

// Shows what has changed of what is shown.
function show(change) {
  const before = shown.moment;
  Object.assign(shown, change);
  const { moment, level } = shown;
  document.body.classList.toggle("pointed", moment !== null);
  document.body.classList.toggle("leveled", level !== null);
  if (moment !== null) document.body.style.setProperty("--time", place(moment, time));
  if (level !== null) document.body.style.setProperty("--level", level);
  if (moment !== before) drawLevels();
  for (const { output, describe } of drawn) output.textContent = describe();
}

drawLevels();
for (const { plot, isOfTime } of drawn) {
  const point = event => {
    const box = plot.getBoundingClientRect();
    const across = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    const part = "picture" in plot.dataset ? 1 - (event.clientY - box.top) / box.height : null;
    show(isOfTime ? { moment: first + across * length, part } : { level: across });
  };
  plot.addEventListener("pointermove", point);
  plot.addEventListener("pointerdown", event => {
    point(event);
    if (isOfTime) shown.kept = shown.moment;
  });
  plot.addEventListener("pointerleave", event => {
    if (event.pointerType === "mouse") show(isOfTime ? { moment: shown.kept, part: null } : { level: null });
  });
}
for (const button of document.querySelectorAll("button")) {
  const moment = Number(button.dataset.at);
  button.addEventListener("click", () => show({ moment, kept: moment, part: null }));
}
document.addEventListener("keydown", event => {
  if (event.key === "Escape") show({ moment: null, part: null, level: null, kept: null });
});
