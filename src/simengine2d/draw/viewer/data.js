// Results as the page holds them: columns of numbers, and what lies between two of their rows.

function decode(text, Numbers) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Numbers(bytes.buffer);
}

class Result {
  constructor(data) {
    Object.assign(this, data);
    this.t = decode(data.t, Float64Array);
    this.count = this.t.length;
    const numbers = decode(data.columns, Float32Array);
    this.columns = [];
    for (let k = 0; k < numbers.length; k += this.count) this.columns.push(numbers.subarray(k, k + this.count));
    for (const channel of data.channels) if (channel.sizeOf) channel.column = this.addSize(...channel.sizeOf);
    this.channels = [...data.channels, ...this.pointChannels()];
    this.diagonal = Math.hypot(data.bounds[2] - data.bounds[0], data.bounds[3] - data.bounds[1]);
    this.channel = new Map(this.channels.map((channel) => [channel.name, channel]));
  }

  // the length of a vector, as a new column
  addSize(x, y) {
    const [a, b] = [this.columns[x], this.columns[y]];
    return this.columns.push(a.map((value, i) => Math.hypot(value, b[i]))) - 1;
  }

  // channels of points and the sizes of velocities, whose columns are computed when they are asked for
  pointChannels() {
    const place = { x: ["m", "xd"], y: ["m", "yd"], xd: ["m/s"], yd: ["m/s"], "|v|": ["m/s"], "|a|": ["m/s²"] };
    const of = (group, point, parts) => Object.entries(parts).map(([part, [si, rate]]) => {
      const [unit, factor] = this.units[si];
      return { name: `${group}.${part}`, unit, factor, group, point, part, rateName: rate && `${group}.${rate}` };
    });
    const moves = ({ carrier }) => this.carriers[carrier].second;
    const sizes = { "|v|": place["|v|"], "|a|": place["|a|"] };
    const bodies = this.carriers.map(({ name }, carrier) => ({ name, carrier, x: 0, y: 0 })).filter((body) => this.bodies.includes(body.name) && moves(body));
    return [...bodies.flatMap((body) => of(body.name, body, sizes)),
      ...Object.entries(this.points).filter(([name, point]) => moves(point) && !this.bodies.includes(name)).flatMap(([name, point]) => of(name, point, place))];
  }

  // a channel with its numbers
  find(name) {
    const channel = this.channel.get(name);
    if (channel && channel.column === undefined) {
      const values = channel.measure ? this.measureColumn(channel.measure) : this.pointColumn(channel.point, channel.part);
      channel.column = this.columns.push(values) - 1;
      if (channel.rateName) channel.rate = this.find(channel.rateName).column;
    }
    return channel;
  }

  pointColumn(point, part) {
    const axis = part.startsWith("y") ? 1 : 0;
    return Float32Array.from(this.t, (_, i) => {
      const place = { i, u: 0, h: 0 };
      if (part === "x" || part === "y") return at(this.pose(point.carrier, place), point.x, point.y)[axis];
      const vector = this.motion(part === "|a|" ? "acceleration" : "velocity", point, place);
      return part.startsWith("|") ? Math.hypot(...vector) : vector[axis];
    });
  }

  // what drivers and springs act on
  measureColumn({ kind, weight, a, b }) {
    return Float32Array.from(this.t, (_, i) => weight * measured(kind, this.framePose(a, i), this.framePose(b, i)));
  }

  // where a frame of a carrier is in row i, and the angle of its axis
  framePose([carrier, x, y, angle], i) {
    const pose = this.pose(carrier, { i, u: 0, h: 0 });
    return [...at(pose, x, y), pose[2] + angle];
  }

  // a formula that a reader has typed, as a channel; throws where it cannot be read
  addFormula(text) {
    if (this.channel.has(text)) return;
    const { value, unit } = new Formula(text, this);
    const [name, factor] = unit || ["SI units", 1];
    const column = this.columns.push(Float32Array.from(this.t, (_, i) => value(i))) - 1;
    this.channel.set(text, { name: text, unit: name, factor, group: "formulas", column });
  }

  // the row before t, and how far t is on the way to the next one
  locate(t) {
    const times = this.t;
    const last = times.length - 1;
    if (last === 0 || t <= times[0]) return { i: 0, u: 0, h: 0 };
    if (t >= times[last]) return { i: last, u: 0, h: 0 };
    let low = 0;
    let high = last;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (times[middle] <= t) low = middle;
      else high = middle;
    }
    const h = times[high] - times[low];
    return { i: low, u: (t - times[low]) / h, h };
  }

  // between rows: a cubic through values and rates, a straight line where there are no rates
  value(place, k, rate) {
    const { i, u, h } = place;
    const a = this.columns[k][i];
    if (u === 0) return a;
    const b = this.columns[k][i + 1];
    if (rate === undefined) return a + u * (b - a);
    const da = h * this.columns[rate][i];
    const db = h * this.columns[rate][i + 1];
    const v = 1 - u;
    return v * v * ((1 + 2 * u) * a + u * da) + u * u * ((3 - 2 * u) * b - v * db);
  }

  // a channel in the unit in which it is shown; its columns are in SI units
  shown(place, { column, rate, factor = 1 }) {
    return this.value(place, column, rate) / factor;
  }

  // all values of a channel, as they are shown
  shownValues({ column, factor = 1 }, first = 0, last = this.count - 1) {
    return Array.from(this.columns[column].subarray(first, last + 1), (value) => value / factor);
  }

  poses(place) {
    return this.carriers.map((_, carrier) => this.pose(carrier, place));
  }

  pose(carrier, place) {
    const { pose, rate } = this.carriers[carrier];
    return pose ? pose.map((k, c) => this.value(place, k, rate ? rate[c] : undefined)) : [0, 0, 0];
  }

  // of a point of a carrier: rd + w × s, or rdd + wd × s - w² s with s in global axes
  motion(kind, { carrier, x, y }, place) {
    const { rate, second } = this.carriers[carrier];
    const turned = this.pose(carrier, place);
    const [sx, sy] = minus(at(turned, x, y), turned);
    const rates = rate.map((k, c) => this.value(place, k, second[c]));
    if (kind === "velocity") return [rates[0] - rates[2] * sy, rates[1] + rates[2] * sx];
    const seconds = second.map((k) => this.value(place, k));
    const ww = rates[2] ** 2;
    return [seconds[0] - seconds[2] * sy - ww * sx, seconds[1] + seconds[2] * sx - ww * sy];
  }
}

function at(pose, x, y) {
  const c = Math.cos(pose[2]);
  const s = Math.sin(pose[2]);
  return [pose[0] + c * x - s * y, pose[1] + s * x + c * y];
}

function pairs(numbers, step, make) {
  const points = [];
  for (let i = 0; i < numbers.length; i += step) points.push(make(numbers, i));
  return points;
}

function pathText(paths, closed) {
  return paths.map((points) => "M" + points.map(([x, y]) => `${x} ${y}`).join("L") + (closed ? "Z" : "")).join("");
}

// four digits, and a true minus sign
function shortNumber(value) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  const rounded = Number(value.toPrecision(4));
  const text = size !== 0 && (size < 1e-3 || size >= 1e5) ? rounded.toExponential().replace("+", "") : String(rounded);
  return text.replaceAll("-", "\u2212");
}

const SVG = "http://www.w3.org/2000/svg";

function svg(name, attributes = {}, parent = null) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (parent) parent.append(element);
  return element;
}

function html(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}
