// Plots: one small chart per channel, all results in it, with a common cursor.

const MARGIN = { left: 58, right: 22, top: 8, bottom: 20 };
const CHART_HEIGHT = 130;

// about `count` round numbers between low and high
function ticks(low, high, count) {
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw) || 10 * power;
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
  return found;
}

class Chart {
  constructor(name, results, onSeek, onRemove) {
    this.name = name;
    this.curves = results.map((result, number) => ({ result, number, channel: result.channel.get(name) })).filter(({ channel }) => channel);
    this.unit = this.curves[0].channel.unit;
    this.value = html("output", { class: "value" });
    const remove = html("button", { type: "button", class: "remove", "aria-label": `Remove the plot of ${name}`, title: "Remove", onclick: onRemove }, "×");
    const caption = html("figcaption", {}, html("span", { class: "name" }, name), html("span", { class: "unit" }, this.unit), this.value, remove);
    this.element = html("figure", { class: "chart", "data-channel": name }, caption);
    this.svg = svg("svg", { role: "img", "aria-label": `${name}, ${this.unit}, over time`, height: CHART_HEIGHT }, this.element);
    this.listen(onSeek);
  }

  range() {
    let [low, high] = [Infinity, -Infinity];
    for (const { result, channel } of this.curves) {
      for (const value of result.columns[channel.column]) {
        if (value < low) low = value;
        if (value > high) high = value;
      }
    }
    if (!Number.isFinite(low)) return [-1, 1];
    const size = Math.max(Math.abs(low), Math.abs(high));
    // what only rounding moves is a straight line
    const pad = high - low > 1e-6 * size ? 0.06 * (high - low) : 0.1 * (size || 1);
    return [low - pad, high + pad];
  }

  draw([t0, t1]) {
    const width = Math.max(180, this.element.getBoundingClientRect().width);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${CHART_HEIGHT}`);
    this.svg.setAttribute("width", width);
    this.svg.replaceChildren();
    const [low, high] = this.range();
    this.span = [t0, t1];
    this.x = (t) => MARGIN.left + (t1 > t0 ? (t - t0) / (t1 - t0) : 0) * (width - MARGIN.left - MARGIN.right);
    this.y = (v) => CHART_HEIGHT - MARGIN.bottom - ((v - low) / (high - low)) * (CHART_HEIGHT - MARGIN.top - MARGIN.bottom);
    this.width = width;
    this.drawAxes(t0, t1, low, high);
    for (const curve of this.curves) this.drawCurve(curve);
    this.cursor = svg("line", { class: "cursor", y1: MARGIN.top, y2: CHART_HEIGHT - MARGIN.bottom }, this.svg);
    this.dots = this.curves.map(({ number }) => svg("circle", { class: `dot curve-${number}`, r: 3.5 }, this.svg));
    this.probe = svg("line", { class: "probe", y1: MARGIN.top, y2: CHART_HEIGHT - MARGIN.bottom, visibility: "hidden" }, this.svg);
  }

  drawAxes(t0, t1, low, high) {
    const grid = svg("g", { class: "grid" }, this.svg);
    for (const v of ticks(low, high, 4)) {
      const y = this.y(v);
      svg("line", { x1: MARGIN.left, x2: this.width - MARGIN.right, y1: y, y2: y }, grid);
      svg("text", { x: MARGIN.left - 6, y, dy: "0.32em", "text-anchor": "end" }, grid).textContent = shortNumber(v);
    }
    if (t1 <= t0) return;
    for (const t of ticks(t0, t1, Math.max(2, Math.floor(this.width / 90)))) {
      const x = this.x(t);
      svg("line", { x1: x, x2: x, y1: MARGIN.top, y2: CHART_HEIGHT - MARGIN.bottom }, grid);
      if (x < this.width - MARGIN.right - 8) svg("text", { x, y: CHART_HEIGHT - 6, "text-anchor": "middle" }, grid).textContent = shortNumber(t);
    }
    svg("text", { class: "second", x: this.width - 4, y: CHART_HEIGHT - 6, "text-anchor": "end" }, grid).textContent = "s";
  }

  // many points: of each pixel column the lowest and the highest, so that no peak is lost
  drawCurve({ result, number, channel }) {
    const values = result.columns[channel.column];
    const every = Math.max(1, Math.floor(result.count / this.width));
    let text = "";
    const add = (i) => {
      if (Number.isFinite(values[i])) text += `${text ? "L" : "M"}${this.x(result.t[i]).toFixed(2)} ${this.y(values[i]).toFixed(2)}`;
    };
    for (let i = 0; i < result.count; i += every) {
      let [lowest, highest] = [i, i];
      for (let k = i; k < Math.min(i + every, result.count); k++) {
        if (values[k] < values[lowest]) lowest = k;
        if (values[k] > values[highest]) highest = k;
      }
      add(Math.min(lowest, highest));
      if (lowest !== highest) add(Math.max(lowest, highest));
    }
    add(result.count - 1);
    svg("path", { class: `curve curve-${number}`, d: text }, this.svg);
  }

  valuesAt(t) {
    return this.curves.map(({ result, channel }) => result.value(result.locate(t), channel.column, channel.rate));
  }

  show(t) {
    if (!this.cursor) return;
    const values = this.valuesAt(t);
    for (const key of ["x1", "x2"]) this.cursor.setAttribute(key, this.x(t));
    values.forEach((value, k) => {
      this.dots[k].setAttribute("cx", this.x(t));
      this.dots[k].setAttribute("cy", this.y(value));
    });
    if (this.probed === undefined) this.value.textContent = values.map(shortNumber).join(" | ");
  }

  listen(onSeek) {
    const time = (event) => {
      const box = this.svg.getBoundingClientRect();
      const part = (event.clientX - box.left - MARGIN.left) / (this.width - MARGIN.left - MARGIN.right);
      return this.span[0] + Math.min(1, Math.max(0, part)) * (this.span[1] - this.span[0]);
    };
    this.svg.addEventListener("pointerdown", (event) => {
      this.svg.setPointerCapture(event.pointerId);
      this.dragging = true;
      onSeek(time(event));
    });
    this.svg.addEventListener("pointermove", (event) => {
      const t = time(event);
      if (this.dragging) onSeek(t);
      this.probed = t;
      for (const key of ["x1", "x2"]) this.probe.setAttribute(key, this.x(t));
      this.probe.setAttribute("visibility", "visible");
      this.value.textContent = `${this.valuesAt(t).map(shortNumber).join(" | ")} at ${shortNumber(t)} s`;
    });
    const leave = () => {
      this.dragging = false;
      this.probed = undefined;
      this.probe.setAttribute("visibility", "hidden");
    };
    for (const kind of ["pointerup", "pointercancel", "pointerleave"]) this.svg.addEventListener(kind, leave);
  }
}

class Plots {
  constructor(results, span, chosen, onSeek) {
    Object.assign(this, { results, span, onSeek, charts: [], time: span[0] });
    this.picker = html("select", { "aria-label": "Add a plot of a channel", class: "picker", onchange: () => this.pick() });
    this.list = html("div", { class: "charts" });
    this.element = html("section", { class: "plots", "aria-label": "Plots" }, this.list, this.picker);
    this.fillPicker();
    for (const name of chosen) this.add(name);
    new ResizeObserver(() => this.redraw()).observe(this.list);
  }

  fillPicker() {
    const groups = new Map();
    for (const { name, unit, group } of this.results.flatMap((result) => result.channels)) {
      if (!groups.has(group)) groups.set(group, new Map());
      groups.get(group).set(name, unit);
    }
    this.picker.append(html("option", { value: "" }, "+ add a plot …"));
    for (const [group, channels] of groups) {
      const options = [...channels].map(([name, unit]) => html("option", { value: name }, `${name}  [${unit}]`));
      this.picker.append(html("optgroup", { label: group }, ...options));
    }
  }

  pick() {
    if (this.picker.value) this.add(this.picker.value);
    this.picker.value = "";
  }

  add(name) {
    if (this.charts.some((chart) => chart.name === name) || !this.results.some((result) => result.channel.has(name))) return;
    const chart = new Chart(name, this.results, this.onSeek, () => this.remove(chart));
    this.charts.push(chart);
    this.list.append(chart.element);
    chart.draw(this.span);
    chart.show(this.time);
  }

  remove(chart) {
    this.charts = this.charts.filter((other) => other !== chart);
    chart.element.remove();
  }

  redraw() {
    for (const chart of this.charts) chart.draw(this.span);
    this.show(this.time);
  }

  show(t) {
    this.time = t;
    for (const chart of this.charts) chart.show(t);
  }
}
