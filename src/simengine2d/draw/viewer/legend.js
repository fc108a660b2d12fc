// The legend: every color on the stage in words, and arrows and arcs of a round size as scales.

const SCALE_LENGTH = 70; // pixels that the arrow of a scale has at most
const SCALE_ARC = 3.6; // radians
const MOST_BODIES = 30;

class Legend {
  constructor(results, kinds, stage) {
    Object.assign(this, { results, kinds, stage });
    this.element = html("div", { class: "explain", "aria-label": "Legend" });
    this.key = "";
  }

  // written again only when it has changed
  show() {
    const { k, forces, hidden } = this.stage.view;
    const { traces, points } = this.stage.actors[0];
    const isCut = this.stage.actors.some((actor) => actor.arrows(this.stage.view).some(({ element }) => element.classList.contains("cut")));
    this.isCut ||= isCut; // it stays once it was needed, so that nothing jumps
    const key = [k, forces, ...hidden, ...traces.keys(), ...points.map(({ name }) => name), this.isCut].join();
    if (key === this.key) return;
    this.key = key;
    this.element.replaceChildren(...this.bodies(), ...this.drivers(), ...this.forces(), ...this.motions(), ...this.paths());
  }

  bodies() {
    const { bodies, inks } = this.results[0];
    const entries = bodies.slice(0, MOST_BODIES).map((name) => entry(swatch(16, () => svg("rect", { class: `ink-${inks[name]} area`, x: 2, y: 3, width: 12, height: 10, rx: 3 })), name));
    return bodies.length > MOST_BODIES ? [...entries, entry("", `and ${bodies.length - MOST_BODIES} more`)] : entries;
  }

  drivers() {
    if (!this.results.some(({ marks }) => marks.some(({ ink }) => ink === "drive"))) return [];
    return [entry(swatch(18, () => arcSwatch("ink-drive", 1.6 * Math.PI, 5.5, 6)), "driver")];
  }

  forces() {
    const { hidden } = this.stage.view;
    const shown = this.results.flatMap(({ arrows }) => arrows).filter(({ constant }) => !hidden.has(constant ? "weights" : "forces"));
    const kinds = Object.keys(this.kinds).filter((kind) => shown.some(({ ink }) => ink === kind));
    if (!kinds.length) return [];
    const entries = kinds.map((kind) => entry(swatch(22, () => arrowSwatch(`ink-${kind}`, 20)), this.kinds[kind]));
    return [...entries, ...this.forceScales(shown)];
  }

  forceScales(shown) {
    const { forceScale, torqueScale, units } = this.results[0];
    const { k, forces } = this.stage.view;
    const entries = [];
    if (forceScale > 0) entries.push(scaleEntry("ink-scale", forceScale * forces * k, units.N));
    if (torqueScale > 0 && shown.some(({ constant }) => !constant)) {
      const [unit, factor] = units["N m"];
      const torque = roundBelow(SCALE_ARC / (torqueScale * factor));
      const arc = swatch(22, () => arcSwatch("ink-scale", torque * factor * torqueScale, 9, 7), 18);
      entries.push(entry(arc, `= ${shortNumber(torque)} ${unit}`));
    }
    if (this.isCut) entries.push(entry(swatch(28, () => arrowSwatch("ink-scale cut", 26)), "longer than drawn"));
    return entries;
  }

  motions() {
    const { hidden, k } = this.stage.view;
    return Object.entries({ velocity: "m/s", acceleration: "m/s²" }).filter(([kind]) => !hidden.has(kind))
      .map(([kind, unit]) => scaleEntry(`ink-${kind}`, this.stage.actors[0].scaleOf(kind) * k, this.results[0].units[unit], `${this.kinds[kind]} `));
  }

  paths() {
    if (this.stage.view.hidden.has("traces")) return [];
    const line = (ink) => swatch(20, () => svg("path", { class: `ink-${ink} line`, d: "M1 8C6 2 12 14 19 7" }));
    return [...this.stage.actors[0].traces.values()].map(({ point }) => entry(line(point.ink), `path of ${point.name}`));
  }
}

function entry(picture, text) {
  return html("span", { class: "entry" }, picture, text);
}

function swatch(width, make, height = 16) {
  const box = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  box.append(make());
  return box;
}

function arrowSwatch(ink, length) {
  const group = svg("g", { class: `arrow ${ink}` });
  svg("path", { class: "line", d: `M0 8H${Math.max(0, length - 8)}` }, group);
  svg("path", { class: "area", d: headText([length, 8], 0, Math.min(9, length)) }, group);
  return group;
}

// an arc above its middle, which turns as in the picture: upwards is y
function arcSwatch(ink, sweep, radius, head) {
  const group = svg("g", { class: `arrow ${ink}`, transform: `translate(${radius + 2} ${radius + 2}) scale(1 -1)` });
  const [line, tip] = arcTexts([0, 0], radius, sweep, head);
  svg("path", { class: "line", d: line }, group);
  svg("path", { class: "area", d: tip }, group);
  return group;
}

// an arrow as long as a round value is drawn, where one SI unit has so many pixels
function scaleEntry(ink, pixelsOfSI, [unit, factor], word = "") {
  const pixels = pixelsOfSI * factor;
  if (!(pixels > 0) || !Number.isFinite(pixels)) return entry("", `${word}0 ${unit}`);
  const value = roundBelow(SCALE_LENGTH / pixels);
  const length = value * pixels;
  const scale = entry(swatch(Math.ceil(length) + 2, () => arrowSwatch(ink, length)), `${word}= ${shortNumber(value)} ${unit}`);
  Object.assign(scale.dataset, { value, unit, length });
  return scale;
}
