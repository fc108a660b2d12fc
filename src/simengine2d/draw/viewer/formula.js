// Formulas that a reader types: arithmetic of channels and measures, "distance(crank.A, rod) - 2*slider.x".

const MEASURES = { x: "m", y: "m", along: "m", across: "m", distance: "m", angle: "rad", direction: "rad", misalignment: "", half_distance2: "m²" };
const FUNCTIONS = { abs: 1, sqrt: 1, sin: 1, cos: 1, tan: 1, asin: 1, acos: 1, atan: 1, exp: 1, log: 1, atan2: 2, hypot: 2, min: 2, max: 2 };
const CONSTANTS = { pi: Math.PI, e: Math.E, deg: Math.PI / 180 };
const BINARY = { "+": (a, b) => a + b, "-": (a, b) => a - b, "*": (a, b) => a * b, "/": (a, b) => a / b };

// a measure of two frames, each a pose: x, y and the angle of its axis
function measured(kind, a, b) {
  const [dx, dy] = minus(b, a);
  const [c, s] = [Math.cos(a[2]), Math.sin(a[2])];
  switch (kind) {
    case "x": return dx;
    case "y": return dy;
    case "along": return c * dx + s * dy;
    case "across": return c * dy - s * dx;
    case "distance": return Math.hypot(dx, dy);
    case "half_distance2": return (dx * dx + dy * dy) / 2;
    case "angle": return b[2] - a[2];
    case "direction": return Math.atan2(c * dy - s * dx, c * dx + s * dy);
    default: return Math.sin(b[2] - a[2]); // misalignment: v_a . u_b
  }
}

// a direction goes on where it has turned around once
function countTurns(angles) {
  for (let i = 1; i < angles.length; i++) angles[i] -= 2 * Math.PI * Math.round((angles[i] - angles[i - 1]) / (2 * Math.PI));
}

class Formula {
  // of one result; `value(i)` is its value in row i, in SI units
  constructor(text, result) {
    Object.assign(this, { text, result, place: 0, unit: undefined });
    this.value = this.sum();
    if (this.rest()) throw new Error(`'${this.rest()}' is not expected here`);
  }

  // reading

  rest() {
    return this.text.slice(this.place).trimStart();
  }

  take(word) {
    const rest = this.rest();
    if (!rest.startsWith(word)) return false;
    this.place = this.text.length - rest.length + word.length;
    return true;
  }

  need(word) {
    if (!this.take(word)) throw new Error(`'${word}' is missing before '${this.rest() || "the end"}'`);
  }

  // the longest of these names that comes next; names may contain dots, spaces and signs
  name(names) {
    const rest = this.rest();
    const goesOn = (name) => /[\w.]/.test(rest[name.length] ?? "") && /\w$/.test(name);
    const fitting = names.filter((name) => rest.startsWith(name) && !goesOn(name)).sort((a, b) => b.length - a.length);
    return fitting.length && this.take(fitting[0]) ? fitting[0] : null;
  }

  chain(operators, part) {
    let left = part();
    for (;;) {
      const operator = operators.find((one) => this.take(one));
      if (!operator) return left;
      this.unit = "";
      const [a, b] = [left, part()];
      this.unit = "";
      left = (i) => BINARY[operator](a(i), b(i));
    }
  }

  sum() {
    return this.chain(["+", "-"], () => this.chain(["*", "/"], () => this.signed()));
  }

  signed() {
    if (!this.take("-")) return this.power();
    const value = this.signed();
    return (i) => -value(i);
  }

  power() {
    const base = this.single();
    if (!this.take("^")) return base;
    const exponent = this.signed();
    this.unit = "";
    return (i) => base(i) ** exponent(i);
  }

  single() {
    const number = this.rest().match(/^(\d+\.?\d*|\.\d+)(e[+-]?\d+)?/i);
    if (number && this.take(number[0])) return () => Number(number[0]);
    if (this.take("(")) {
      const value = this.sum();
      this.need(")");
      return value;
    }
    const channel = this.name([...this.result.channel.keys()]);
    if (channel) return this.channel(channel);
    const constant = this.name(Object.keys(CONSTANTS));
    if (constant) return () => CONSTANTS[constant];
    const call = this.rest().match(/^(\w+)\s*\(/);
    if (!call) throw new Error(this.rest() ? `'${this.rest()}' is no channel of this motion` : "a value is missing at the end");
    this.take(call[0]);
    return call[1] in MEASURES ? this.measure(call[1]) : this.call(call[1]);
  }

  channel(name) {
    const { column, unit, factor = 1 } = this.result.find(name);
    this.unit ??= [unit, factor];
    return (i) => this.result.columns[column][i];
  }

  call(name) {
    if (!(name in FUNCTIONS)) throw new Error(`there is no function '${name}'; there are ${[...Object.keys(MEASURES), ...Object.keys(FUNCTIONS)].join(", ")}`);
    this.unit = "";
    const values = [this.sum()];
    while (values.length < FUNCTIONS[name]) {
      this.need(",");
      values.push(this.sum());
    }
    this.need(")");
    this.unit = "";
    return (i) => Math[name](...values.map((value) => value(i)));
  }

  measure(kind) {
    const a = this.frame();
    this.need(",");
    const b = this.frame();
    this.need(")");
    this.unit ??= MEASURES[kind] ? this.result.units[MEASURES[kind]] ?? "" : ["", 1];
    const { result } = this;
    const values = Array.from(result.t, (_, i) => measured(kind, result.framePose(a, i), result.framePose(b, i)));
    if (kind === "direction") countTurns(values);
    return (i) => values[i];
  }

  // a body, a point of one, or any place in a body's axes: rod.at(0.1, 0)
  frame() {
    const bodies = new Map(this.result.carriers.map(({ name }, carrier) => [name, [carrier, 0, 0, 0]]));
    const points = Object.entries(this.result.points).map(([name, { carrier, x, y, angle = 0 }]) => [name, [carrier, x, y, angle]]);
    const frames = new Map([...bodies, ...points]);
    const free = [...bodies.keys()].find((name) => this.rest().startsWith(`${name}.at(`));
    if (free === undefined) {
      const name = this.name([...frames.keys()]);
      if (name) return frames.get(name);
      throw new Error(`'${this.rest().split(/[,)]/)[0]}' is no body or point; there are ${[...frames.keys()].join(", ")}`);
    }
    this.take(`${free}.at(`);
    const { unit } = this;
    const [x, y] = [this.sum(), this.need(",") ?? this.sum()];
    this.need(")");
    this.unit = unit;
    const [, length] = this.result.units.m;
    return [bodies.get(free)[0], x(0) * length, y(0) * length, 0];
  }
}
