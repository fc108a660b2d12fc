// Arrows: forces with their torques, velocities and accelerations. What would leave the canvas is cut at its edge.

const SMALLEST_ARROW = 5; // pixels
const SMALLEST_ARC = 0.08; // radians
const HEAD = 11; // pixels
const BORDER = 4; // pixels between a tip and the edge of the canvas

class Arrow {
  constructor(parent, { ink, name, on, radius = 0 }) {
    this.element = svg("g", { class: `arrow ink-${ink}`, "data-name": name, "data-kind": ink, "data-on": on }, parent);
    Object.assign(this, { ink, name, radius, segments: [] });
    this.hit = svg("path", { class: "hit" }, this.element);
    this.shaft = svg("path", { class: "line" }, this.element);
    this.head = svg("path", { class: "area" }, this.element);
    this.arc = svg("path", { class: "line" }, this.element);
    this.arcHead = svg("path", { class: "area" }, this.element);
  }

  // a vector (in world meters) from a point, and an arc about it that sweeps so many radians
  show([x, y], [dx, dy], sweep, view, box) {
    const whole = Math.hypot(dx, dy);
    const canvas = worldBox(view, box, BORDER);
    const room = isInside([x, y], canvas) ? roomAlong([x, y], [dx, dy], canvas) : 0;
    const length = whole * Math.min(1, room);
    const seen = length * view.k > SMALLEST_ARROW;
    this.segments = seen ? [[view.x + view.k * x, view.y - view.k * y, view.k * dx * Math.min(1, room), -view.k * dy * Math.min(1, room)]] : [];
    this.element.classList.toggle("cut", seen && room < 1);
    for (const part of [this.hit, this.shaft, this.head]) part.setAttribute("visibility", seen ? "visible" : "hidden");
    if (seen) this.showShaft([x, y], Math.atan2(dy, dx), length, view.k);
    this.showTorque(sweep, [x, y], HEAD / view.k);
  }

  showShaft([x, y], angle, length, k) {
    const size = HEAD / k;
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    const back = Math.max(0, length - 0.8 * size);
    const text = `M${x} ${y}L${x + back * c} ${y + back * s}`;
    this.shaft.setAttribute("d", text);
    this.hit.setAttribute("d", text);
    this.head.setAttribute("d", headText([x + length * c, y + length * s], angle, Math.min(size, length)));
  }

  showTorque(sweep, center, size) {
    const seen = Math.abs(sweep) > SMALLEST_ARC;
    this.arc.setAttribute("visibility", seen ? "visible" : "hidden");
    this.arcHead.setAttribute("visibility", seen ? "visible" : "hidden");
    if (!seen) return;
    const [line, head] = arcTexts(center, this.radius, sweep, size);
    this.arc.setAttribute("d", line);
    this.arcHead.setAttribute("d", head);
  }
}

function arcTexts([x, y], r, sweep, size) {
  const [start, end] = [Math.PI / 2 - sweep / 2, Math.PI / 2 + sweep / 2];
  const sense = Math.sign(sweep);
  const on = (angle) => [x + r * Math.cos(angle), y + r * Math.sin(angle)];
  const flags = `${Math.abs(sweep) > Math.PI ? 1 : 0} ${sweep > 0 ? 1 : 0}`;
  return [
    `M${on(start).join(" ")}A${r} ${r} 0 ${flags} ${on(end - (sense * 0.5 * size) / r).join(" ")}`,
    headText(on(end), end + sense * (Math.PI / 2 - (0.5 * size) / r), size),
  ];
}

function headText([x, y], angle, size) {
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  const corner = (along, across) => `${x + along * c - across * s} ${y + along * s + across * c}`;
  return `M${corner(0, 0)}L${corner(-size, 0.38 * size)}L${corner(-size, -0.38 * size)}Z`;
}

// the canvas in the world, less a border of some pixels
function worldBox({ k, x, y }, { width, height }, border) {
  return [(border - x) / k, (y - height + border) / k, (width - border - x) / k, (y - border) / k];
}

// how many times a vector fits between a point and the edge of a box around it
function roomAlong([x, y], [dx, dy], [x0, y0, x1, y1]) {
  const along = (p, d, low, high) => (d > 0 ? (high - p) / d : d < 0 ? (low - p) / d : Infinity);
  return Math.min(along(x, dx, x0, x1), along(y, dy, y0, y1));
}

// the largest of 1, 2, 5 times a power of ten that is not above a value
function roundBelow(value) {
  const power = 10 ** Math.floor(Math.log10(value) + 1e-9);
  return [5, 2, 1].map((m) => m * power).find((v) => v <= value * (1 + 1e-9));
}
