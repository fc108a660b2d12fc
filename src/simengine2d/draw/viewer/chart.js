// A chart: one channel of all results over time, or over another channel.

const MARGIN = { left: 58, right: 22, top: 8, bottom: 20 };
const SMALLEST_CHART = [180, 90]; // pixels

// about `count` numbers between low and high that are 1, 2 or 5 times a power of ten apart
function ticks(low, high, count) {
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * (1 - 1e-9));
  const round = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) round.push(k * step);
  return round;
}

// the numbers of an axis, all with as many digits as their distance needs
function tickTexts(values) {
  const [step, largest] = [values.length > 1 ? values[1] - values[0] : 1, Math.max(...values.map(Math.abs))];
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  if (largest >= 1e6 || digits > 5) return values.map(shortNumber);
  return values.map((value) => value.toFixed(digits).replace(/^-(?=0(\.0*)?$)/, "").replace("-", "\u2212"));
}

class Chart {
  constructor(name, results, { onSeek, onZoom, onRemove, onOver }) {
    Object.assign(this, { name, results, onSeek, onZoom, over: "", length: results[0].units.m[0] });
    this.value = html("output", { class: "value" });
    const remove = html("button", { type: "button", class: "remove", "aria-label": `Remove the plot of ${name}`, title: "Remove", onclick: () => onRemove(this) }, "×");
    this.overMenu = html("select", { class: "over", "aria-label": `What ${name} is plotted over`, title: "Plot over time or another channel", onchange: () => onOver(this, this.overMenu.value) });
    const menu = saveMenu(`the plot of ${name}`, { PNG: () => savePicture(this.svg, name, "png"), SVG: () => savePicture(this.svg, name, "svg"), CSV: () => this.saveValues() });
    this.unitText = html("span", { class: "unit" });
    const caption = html("figcaption", {}, html("span", { class: "name" }, name), this.unitText, this.overMenu, this.value, menu, remove);
    this.element = html("figure", { class: "chart", "data-channel": name }, caption);
    this.box = html("div", { class: "chart-box" });
    this.element.append(this.box);
    this.svg = svg("svg", { role: "img" }, this.box);
    this.setOver("");
    this.listen();
  }

  // over a channel, or over time where it is ""
  setOver(over) {
    this.over = over;
    this.view = null; // as much as there is
    this.curves = this.results.map((result, number) => ({ result, number, y: result.find(this.name), x: over ? result.find(over) : null }))
      .filter(({ x, y }) => y && (x || !over));
    const [{ x, y }] = this.curves;
    [this.unit, this.overUnit] = [y.unit, over ? x.unit : "s"];
    this.unitText.textContent = this.unit;
    this.svg.setAttribute("aria-label", `${this.name}, ${this.unit}, over ${over || "time"}`);
  }

  // a point of a curve: what it is over, and its value
  at({ result, x, y }, t) {
    const place = result.locate(t);
    return [x ? result.shown(place, x) : t, result.shown(place, y)];
  }

  // ranges

  rangeOf(values, unit) {
    let [low, high] = [Infinity, -Infinity];
    for (const value of values) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
    if (!Number.isFinite(low)) return [-1, 1];
    const size = Math.max(Math.abs(low), Math.abs(high), unit === this.length ? this.results[0].diagonal / this.results[0].units.m[1] : 0);
    // what only rounding moves is a straight line
    const pad = high - low > 1e-6 * size ? 0.06 * (high - low) : 0.1 * (Math.max(Math.abs(low), Math.abs(high), 1e-3 * size) || 1);
    return [low - pad, high + pad];
  }

  // the x and y that are shown; over time, as much as the common window says
  ranges(window) {
    const all = (key) => this.curves.flatMap(({ result, [key]: channel }) => result.shownValues(channel));
    if (!this.over) return [window, this.rangeOf(this.curves.flatMap(({ result, y }) => result.shownValues(y, ...rowsIn(result, window))), this.unit)];
    return this.view || this.equalized([this.rangeOf(all("x"), this.overUnit), this.rangeOf(all("y"), this.unit)]);
  }

  // a path in the plane has one scale
  equalized([[x0, x1], [y0, y1]]) {
    if (this.unit !== this.length || this.overUnit !== this.length) return [[x0, x1], [y0, y1]];
    const [w, h] = [this.width - MARGIN.left - MARGIN.right, this.height - MARGIN.top - MARGIN.bottom];
    const per = Math.max((x1 - x0) / w, (y1 - y0) / h) / 2;
    const [mx, my] = [(x0 + x1) / 2, (y0 + y1) / 2];
    return [[mx - per * w, mx + per * w], [my - per * h, my + per * h]];
  }

  // drawing

  draw(window, { width, height }) {
    [this.width, this.height] = [Math.max(SMALLEST_CHART[0], width), Math.max(SMALLEST_CHART[1], height)];
    for (const [key, value] of Object.entries({ viewBox: `0 0 ${this.width} ${this.height}`, width: this.width, height: this.height })) this.svg.setAttribute(key, value);
    this.svg.replaceChildren();
    const [[x0, x1], [y0, y1]] = this.shown = this.ranges(window);
    const part = (value, low, high) => (high > low ? (value - low) / (high - low) : 0);
    this.x = (v) => MARGIN.left + part(v, x0, x1) * (this.width - MARGIN.left - MARGIN.right);
    this.y = (v) => this.height - MARGIN.bottom - part(v, y0, y1) * (this.height - MARGIN.top - MARGIN.bottom);
    this.drawAxes();
    const inside = svg("svg", { "aria-hidden": "true", x: MARGIN.left, y: MARGIN.top - 4, width: this.width - MARGIN.left - MARGIN.right, height: this.height - MARGIN.top - MARGIN.bottom + 8 }, this.svg);
    const shifted = svg("g", { transform: `translate(${-MARGIN.left} ${4 - MARGIN.top})` }, inside);
    for (const curve of this.curves) this.drawCurve(curve, window, shifted);
    const upright = { y1: MARGIN.top, y2: this.height - MARGIN.bottom };
    this.cursor = svg("line", { class: "cursor", ...upright, visibility: this.over ? "hidden" : "visible" }, shifted);
    this.dots = this.curves.map(({ number }) => svg("circle", { class: `dot curve-${number}`, r: 3.5 }, shifted));
    this.probe = svg("line", { class: "probe", ...upright, visibility: "hidden" }, shifted);
  }

  drawAxes() {
    const [[x0, x1], [y0, y1]] = this.shown;
    const [right, bottom] = [this.width - MARGIN.right, this.height - MARGIN.bottom];
    const grid = svg("g", { class: "grid" }, this.svg);
    const rows = ticks(y0, y1, Math.max(2, Math.floor(this.height / 34)));
    tickTexts(rows).forEach((text, i) => {
      const y = this.y(rows[i]);
      svg("line", { x1: MARGIN.left, x2: right, y1: y, y2: y }, grid);
      svg("text", { x: MARGIN.left - 6, y, dy: "0.32em", "text-anchor": "end" }, grid).textContent = text;
    });
    svg("text", { class: "second", x: this.width - 4, y: this.height - 6, "text-anchor": "end" }, grid).textContent = this.overUnit;
    if (x1 <= x0) return;
    const columns = ticks(x0, x1, Math.max(2, Math.floor(this.width / 65)));
    tickTexts(columns).forEach((text, i) => {
      const x = this.x(columns[i]);
      svg("line", { x1: x, x2: x, y1: MARGIN.top, y2: bottom }, grid);
      if (x < right - 8) svg("text", { x, y: this.height - 6, "text-anchor": "middle" }, grid).textContent = text;
    });
  }

  drawCurve(curve, window, parent) {
    const { result, number, y } = curve;
    const [first, last] = this.over ? [0, result.count - 1] : rowsIn(result, window);
    const rows = last - first + 1;
    let text = "";
    const add = (x, v) => {
      if (Number.isFinite(x) && Number.isFinite(v)) text += `${text ? "L" : "M"}${this.x(x).toFixed(2)} ${this.y(v).toFixed(2)}`;
    };
    if (!this.over && rows > 2 * this.width) this.addPeaks(result, y, first, last, add);
    else {
      // few rows: cubics between them, where rates are known
      const between = Math.min(12, Math.max(1, Math.ceil((1.5 * this.width) / rows)));
      for (let i = first; i <= last; i++) {
        const step = i < last ? (result.t[i + 1] - result.t[i]) / between : 0;
        for (let part = 0; part < (i < last ? between : 1); part++) add(...this.at(curve, result.t[i] + part * step));
      }
    }
    svg("path", { class: `curve curve-${number}`, d: text }, parent);
  }

  // many rows: of each pixel column the lowest and the highest, so that no peak is lost
  addPeaks(result, { column, factor = 1 }, first, last, add) {
    const values = result.columns[column];
    const every = Math.max(1, Math.floor((last - first + 1) / this.width));
    for (let i = first; i <= last; i += every) {
      let [lowest, highest] = [i, i];
      for (let k = i; k < Math.min(i + every, last + 1); k++) {
        if (values[k] < values[lowest]) lowest = k;
        if (values[k] > values[highest]) highest = k;
      }
      for (const k of [Math.min(lowest, highest), Math.max(lowest, highest)]) add(result.t[k], values[k] / factor);
    }
    add(result.t[last], values[last] / factor);
  }

  show(t) {
    if (!this.cursor) return;
    const points = this.curves.map((curve) => this.at(curve, t));
    for (const key of ["x1", "x2"]) this.cursor.setAttribute(key, this.x(t));
    points.forEach(([x, y], k) => {
      this.dots[k].setAttribute("cx", this.x(x));
      this.dots[k].setAttribute("cy", this.y(y));
    });
    if (this.probed === undefined) this.value.textContent = points.map(([, y]) => shortNumber(y)).join(" | ");
  }

  // pointer: over time, a drag moves through it and a drag with shift pans; over a channel, a drag pans

  listen() {
    this.svg.addEventListener("pointerdown", (event) => {
      this.svg.setPointerCapture(event.pointerId);
      this.drag = this.over || event.shiftKey ? this.local(event) : "seek";
      if (this.drag === "seek") this.onSeek(this.time(event));
    });
    this.svg.addEventListener("pointermove", (event) => this.move(event));
    this.svg.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(0.0015 * event.deltaY), this.local(event));
    }, { passive: false });
    this.svg.addEventListener("dblclick", () => this.setView(null));
    const leave = () => {
      this.drag = this.probed = undefined;
      if (this.probe) this.probe.setAttribute("visibility", "hidden");
    };
    for (const kind of ["pointerup", "pointercancel", "pointerleave"]) this.svg.addEventListener(kind, leave);
  }

  // where the pointer is, as parts of the plot from its lower left corner
  local(event) {
    const box = this.svg.getBoundingClientRect();
    return [(event.clientX - box.left - MARGIN.left) / (this.width - MARGIN.left - MARGIN.right), (box.bottom - event.clientY - MARGIN.bottom) / (this.height - MARGIN.top - MARGIN.bottom)];
  }

  time(event) {
    const [t0, t1] = this.shown[0];
    return t0 + Math.min(1, Math.max(0, this.local(event)[0])) * (t1 - t0);
  }

  move(event) {
    if (this.drag && this.drag !== "seek") {
      const now = this.local(event);
      const [before, shown] = [this.drag, this.shown];
      this.drag = now;
      return this.setView(shown.map(([low, high], c) => [low, high].map((v) => v - (now[c] - before[c]) * (high - low))));
    }
    if (this.over) return undefined;
    const t = this.time(event);
    if (this.drag) this.onSeek(t);
    this.probed = t;
    for (const key of ["x1", "x2"]) this.probe.setAttribute(key, this.x(t));
    this.probe.setAttribute("visibility", "visible");
    this.value.textContent = `${this.curves.map((curve) => shortNumber(this.at(curve, t)[1])).join(" | ")} at ${shortNumber(t)} s`;
    return undefined;
  }

  // what is under the pointer stays there
  zoom(factor, point) {
    this.setView(this.shown.map(([low, high], c) => [low, high].map((v) => {
      const fixed = low + point[c] * (high - low);
      return fixed + factor * (v - fixed);
    })));
  }

  setView(view) {
    if (!this.over) return this.onZoom(view && view[0]);
    this.view = view;
    return this.onZoom();
  }

  saveValues() {
    const columns = this.curves.flatMap(({ result, x, y }) => {
      const label = this.curves.length > 1 ? ` of ${result.label}` : "";
      const values = (channel) => result.shownValues(channel);
      const first = x ? { name: this.over + label, unit: x.unit, values: values(x) } : { name: `t${label}`, unit: "s", values: [...result.t] };
      return [first, { name: this.name + label, unit: y.unit, values: values(y) }];
    });
    save(new Blob([csvText(columns)], { type: "text/csv" }), `${this.name}.csv`);
  }
}

// the first and the last row that a window of time touches
function rowsIn(result, [t0, t1]) {
  const last = result.locate(t1);
  return [result.locate(t0).i, Math.min(result.count - 1, last.i + (last.u > 0 ? 1 : 0))];
}
