"use strict";
// Shows the values under the pointer in all charts, and the histogram and the curve of that moment. Without it the page shows
// those of all frames.
const { unit, end, points, levels } = JSON.parse(document.getElementById("data").textContent);
const all = selector => [...document.querySelectorAll(selector)];
const number = value => value.toLocaleString("en", { maximumSignificantDigits: 4, useGrouping: false });
const said = (plot, text) => { plot.closest("figure").querySelector("output").textContent = text; };
const first = points.at[0] ?? 0;
const length = end > first ? end - first : 1;

// The last of these positions that is not behind the time.
function last(at, time) {
  let [low, high] = [0, at.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (at[middle] <= time) low = middle; else high = middle - 1;
  }
  return low;
}

const bytes = text => text && Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
const layers = levels && { before: bytes(levels.before), after: bytes(levels.after), curve: bytes(levels.curve) };
// The bytes of a layer at a time.
const column = (layer, time) => {
  const start = last(levels.at, time) * levels.bins;
  return layers[layer].subarray(start, start + levels.bins);
};
const share = byte => (byte / 255) ** 2;
const code = byte => levels.black + byte / 255 * (levels.white - levels.black);
const binOf = part => Math.min(levels.bins - 1, Math.max(0, Math.floor(part * levels.bins)));
const named = bin => {
  const from = levels.black + bin * levels.width, to = Math.min(from + levels.width - 1, levels.white);
  return to > from ? `levels ${from} to ${to}` : `level ${from}`;
};
// A frame has no curve where all of it is zero.
const about = levels && levels.width > 1 ? "about " : "";
const became = (curve, bin) =>
  curve.some(Boolean) ? `${named(bin)} became ${about}${Math.round(code(curve[bin]))}` : "no one curve";

const paths = all(".plot[data-levels] path:not(.grid)").map(path => [path, path.getAttribute("d")]);
// The moment that is shown, and the one that a click keeps.
let shown = null;
let kept = null;

// Draws the histogram and the curve of a moment.
function draw(time) {
  for (const [path, whole] of paths) {
    if (time === null) { path.setAttribute("d", whole); continue; }
    if (path.classList.contains("line")) {
      const curve = column("curve", time);
      const line = [...curve].map((value, bin) => `${bin ? "L" : "M"}${bin} ${1 - value / 255}`).join("");
      path.setAttribute("d", curve.some(Boolean) ? line : "");
      continue;
    }
    const shares = [...column(path.classList.contains("before") ? "before" : "after", time)].map(share);
    const { top } = path.closest(".plot").dataset;
    path.setAttribute("d", `M0 1${shares.map((part, bin) => `V${1 - Math.min(1, part / top)}H${bin + 1}`).join("")}V1Z`);
  }
}

// Shows a moment in all charts; null shows all frames. `part` is how high the pointer is in a picture.
function show(time, part) {
  shown = time;
  document.body.classList.toggle("pointed", time !== null);
  draw(time);
  if (time === null) { all("output").forEach(output => { output.textContent = ""; }); return; }
  document.body.style.setProperty("--time", (time - first) / length);
  const index = last(points.at, time);
  const at = `${number(points.at[index])}${unit}`;
  for (const plot of all("[data-metrics]")) {
    const names = [...plot.closest("figure").querySelectorAll(".key")].map(key => key.textContent);
    const values = plot.dataset.metrics.split(" ").map((metric, line) => {
      const [low, high] = points.low ? [number(points.low[metric][index]), number(points.high[metric][index])] : [];
      const range = low !== high ? ` (${low} to ${high})` : "";
      return `${names[line] ? names[line] + " " : ""}${number(points.mean[metric][index])}${range}`;
    });
    said(plot, `${at}: ${values.join(", ")}`);
  }
  all("[data-levels]").forEach(plot => said(plot, `at ${at}`));
  for (const plot of all("[data-picture]")) {
    const layer = plot.dataset.picture;
    if (part === undefined) { said(plot, at); continue; }
    const bin = binOf(part), bytes = column(layer, time);
    said(plot, `${at}: ${layer === "curve" ? became(bytes, bin) : `${named(bin)}: ${number(100 * share(bytes[bin]))} %`}`);
  }
}

// Shows a level of the histogram and of the curve: of the moment that is shown, or of all frames.
function level(plot, part) {
  const bin = binOf(part);
  for (const other of all("[data-levels]")) {
    other.classList.add("level");
    other.style.setProperty("--level", part);
    if (shown === null) {
      const mean = layer => {
        const sums = layers[layer], of = layer === "curve" ? code : value => 100 * share(value);
        let sum = 0, count = 0;
        for (let start = 0; start < sums.length; start += levels.bins) {
          if (layer === "curve" && !sums.subarray(start, start + levels.bins).some(Boolean)) continue;
          sum += of(sums[start + bin]);
          count += 1;
        }
        return number(sum / count);
      };
      said(other, other.dataset.levels === "curve"
        ? `${named(bin)} became ${mean("curve")} on average`
        : `${named(bin)}: before ${mean("before")} %, after ${mean("after")} %`);
    } else {
      said(other, other.dataset.levels === "curve"
        ? became(column("curve", shown), bin)
        : `${named(bin)}: before ${number(100 * share(column("before", shown)[bin]))} %, `
          + `after ${number(100 * share(column("after", shown)[bin]))} %`);
    }
  }
}

for (const plot of all(".plot")) {
  const point = event => {
    const box = plot.getBoundingClientRect();
    const across = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    if (plot.dataset.levels) { level(plot, across); return; }
    const up = plot.dataset.picture ? 1 - (event.clientY - box.top) / box.height : undefined;
    show(first + across * length, up);
  };
  plot.addEventListener("pointermove", point);
  plot.addEventListener("pointerdown", event => {
    point(event);
    if (!plot.dataset.levels) kept = shown;
  });
  plot.addEventListener("pointerleave", event => {
    if (plot.dataset.levels) all(".level").forEach(other => other.classList.remove("level"));
    // A finger leaves what it has shown.
    else if (event.pointerType === "mouse") show(kept);
  });
}
for (const button of all("button")) {
  button.addEventListener("click", () => {
    kept = Number(button.dataset.at);
    show(kept);
  });
}
document.addEventListener("keydown", event => {
  if (event.key === "Escape") {
    kept = null;
    show(null);
  }
});
