// Labels: upright, beside their spots, clear of each other, of pins, and as far as possible of links and arrows.
// Every label has candidates around its spot. The cheapest is taken, one label after the other, those of pins first,
// since a body's name may slide along its bar. `label_places.py` does the same for figures.

const ANGLES = Array.from({ length: 16 }, (_, i) => (i * Math.PI) / 8);
const EXTRAS = [0, 0.7, 1.5, 2.5]; // further off, in heights of a label
const SLIDES = [0, -0.3, 0.3, -0.6, 0.6]; // along a bar, in halves of it
const LABEL_HEIGHT = 16; // pixels
const EDGE = 3; // pixels between a label and the edge of the canvas
const COST = { forbidden: 1000, pin: 20, line: 5, arrow: 3, narrow: 4, further: 3, slid: 1, inward: 0.5, aside: 8, moved: 4 };

class Labels {
  constructor(labels, parent, size) {
    this.size = size;
    this.items = labels.map((label) => this.make(label, parent)).sort((a, b) => b.label.pin - a.label.pin);
  }

  make(label, parent) {
    const group = svg("g", { class: "named" }, parent);
    const leader = svg("path", { class: "leader" }, group);
    const element = svg("text", { class: `label ink-${label.ink}`, "text-anchor": "middle", dy: "0.34em" }, group);
    element.textContent = label.text;
    return { label, group, leader, element, width: 0, offset: null };
  }

  // all in pixels; `arrows` are segments [x, y, dx, dy] of what else is drawn
  show(poses, view, box, arrows) {
    const toScreen = ([x, y]) => [view.x + view.k * x, view.y - view.k * y];
    const spot = ([carrier, x, y]) => toScreen(at(poses[carrier], x, y));
    for (const item of this.items) {
      const { label } = item;
      item.at = spot([label.carrier, label.x, label.y]);
      item.lines = label.clear.map((one) => minus(spot(one), item.at));
      item.width = item.width || textWidth(item.element) + 6;
    }
    const middle = mean(this.items.map((item) => item.at));
    const size = this.size * view.k;
    const crowd = {
      canvas: [EDGE, EDGE, box.width - EDGE, box.height - EDGE],
      taken: [],
      pins: this.items.filter(({ label }) => label.pin).map((item) => pinBox(item, size, view.k)),
      lines: this.items.flatMap((item) => item.lines.map((line) => [...item.at, ...line])),
      arrows,
    };
    for (const item of this.items) this.place(item, crowd, middle, size, view);
  }

  place(item, crowd, middle, size, view) {
    let best = null;
    for (const candidate of candidates(item, minus(item.at, middle), size, view.k)) {
      if (best && candidate.cost >= best.cost) continue; // the rest can only cost more
      const half = [item.width / 2, LABEL_HEIGHT / 2];
      const [x, y] = candidate.middle;
      const box = [x - half[0], y - half[1], x + half[0], y + half[1]];
      const cost = candidate.cost + crowdCost(box, crowd) + moveCost(candidate.middle, item);
      if (!best || cost < best.cost) best = { ...candidate, cost, box };
    }
    const free = best.cost < COST.forbidden && isInside(item.at, crowd.canvas);
    item.group.setAttribute("visibility", free ? "visible" : "hidden");
    item.offset = free ? minus(best.middle, item.at) : null;
    if (!free) return;
    crowd.taken.push(best.box);
    // the world is scaled and upside down
    const [x, y] = [(best.middle[0] - view.x) / view.k, (view.y - best.middle[1]) / view.k];
    item.group.setAttribute("transform", `translate(${x} ${y}) scale(${1 / view.k} ${-1 / view.k})`);
    item.leader.setAttribute("d", best.far ? leaderText(best.box, best.middle, item.at) : "");
  }
}

function* candidates({ label, at: spot, lines, width }, outward, size, k) {
  const gap = label.gap ? k * label.gap : size;
  const aside = label.gap ? 0 : COST.aside;
  if (!label.gap) yield { middle: spot, cost: 0, far: false };
  const directions = ANGLES.map((angle) => ({ u: [Math.cos(angle), Math.sin(angle)], cost: aside + narrowness(angle, label, lines) }));
  const length = Math.hypot(...outward) || 1;
  for (const slide of label.pin || !lines.length ? [0] : SLIDES) {
    const line = slide ? lines[slide > 0 ? 0 : lines.length - 1] : [0, 0];
    const foot = [spot[0] + Math.abs(slide) * line[0], spot[1] + Math.abs(slide) * line[1]];
    for (const extra of EXTRAS) {
      for (const { u, cost } of directions) {
        const r = gap + extra * LABEL_HEIGHT;
        const corner = [(width / 2) * clamp(1.6 * u[0]), (LABEL_HEIGHT / 2) * clamp(1.6 * u[1])];
        const inward = COST.inward * (1 - (u[0] * outward[0] + u[1] * outward[1]) / length);
        yield {
          middle: [foot[0] + r * u[0] + corner[0], foot[1] + r * u[1] + corner[1]],
          cost: cost + inward + COST.further * extra + COST.slid * Math.abs(slide),
          far: extra > 1,
        };
      }
    }
  }
}

// none right between lines far apart, most along a line
function narrowness(angle, label, lines) {
  let apart = label.above ? turnBetween(angle, Math.PI / 2) : Math.PI; // on the screen, y is down
  for (const [dx, dy] of lines) if (dx || dy) apart = Math.min(apart, turnBetween(angle, Math.atan2(dy, dx)));
  return COST.narrow * (1 - apart / Math.PI);
}

function crowdCost(box, { canvas, taken, pins, lines, arrows }) {
  if (box[0] < canvas[0] || box[1] < canvas[1] || box[2] > canvas[2] || box[3] > canvas[3]) return COST.forbidden;
  if (taken.some((other) => overlap(box, other))) return COST.forbidden;
  const count = (things, test) => things.reduce((sum, thing) => sum + test(box, thing), 0);
  return COST.pin * count(pins, overlap) + COST.line * count(lines, crosses) + COST.arrow * count(arrows, crosses);
}

// labels do not jump about for nothing
function moveCost(middle, { offset, at: spot }) {
  if (!offset) return 0;
  const moved = Math.hypot(middle[0] - spot[0] - offset[0], middle[1] - spot[1] - offset[1]);
  return COST.moved * Math.min(1, moved / (2 * LABEL_HEIGHT));
}

// the room of a pin, of the support below it, and of the arrow of a motor around it
function pinBox({ at: [x, y], label }, size, k) {
  const half = (k * label.gap > 2 * size ? 2.6 : 0.9) * size;
  return [x - half, y - half, x + half, y + (label.above ? 2.6 * size : half)];
}

function leaderText([x0, y0, x1, y1], [mx, my], [x, y]) {
  const near = [Math.min(x1, Math.max(x0, x)), Math.min(y1, Math.max(y0, y))];
  return `M${near[0] - mx} ${near[1] - my}L${x - mx} ${y - my}`;
}

// the lengths that SVG gives are wrong where the world is scaled much
let pen = null;

function textWidth(element) {
  pen ??= document.createElement("canvas").getContext("2d");
  pen.font = getComputedStyle(element).font;
  return pen.measureText(element.textContent).width;
}

// geometry

const minus = (a, b) => [a[0] - b[0], a[1] - b[1]];
const clamp = (value) => Math.min(1, Math.max(-1, value));
const mean = (points) => [0, 1].map((c) => points.reduce((sum, point) => sum + point[c], 0) / (points.length || 1));
const overlap = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
const isInside = ([x, y], [x0, y0, x1, y1]) => x >= x0 && x <= x1 && y >= y0 && y <= y1;
const turnBetween = (a, b) => Math.abs(((((a - b + Math.PI) % (2 * Math.PI)) + 2 * Math.PI) % (2 * Math.PI)) - Math.PI);

// whether a segment goes through a box: some 0 <= s <= 1 lies within all four edges
function crosses(box, [x, y, dx, dy]) {
  let [enter, leave] = [0, 1];
  for (const [p, d, low, high] of [[x, dx, box[0], box[2]], [y, dy, box[1], box[3]]]) {
    if (Math.abs(d) < 1e-9) {
      if (p < low || p > high) return false;
      continue;
    }
    const [first, second] = [(low - p) / d, (high - p) / d];
    enter = Math.max(enter, Math.min(first, second));
    leave = Math.min(leave, Math.max(first, second));
  }
  return enter <= leave;
}
