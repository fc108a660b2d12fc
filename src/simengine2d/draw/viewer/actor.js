// An actor: one result on the stage, moved from pose to pose.

const LONGEST_TRACE = 2000; // points of a drawn path
const MOST_BETWEEN = 16; // points between two outputs
const LONG_ARROW = 0.2; // of the fastest point, as a part of the picture's diagonal

class Actor {
  constructor(result, world, number) {
    this.result = result;
    this.group = svg("g", { class: "actor", "data-result": number }, world);
    const layer = (name) => svg("g", { class: name }, this.group);
    this.traceLayer = layer("traces");
    const marks = layer("marks");
    const centers = layer("centers");
    this.layers = { forces: layer("forces"), weights: layer("weights"), velocity: layer("velocity"), acceleration: layer("acceleration") };
    this.marks = result.marks.map((mark) => this.makeMark(mark, marks));
    this.centers = result.centers.map((mark) => this.makeMark(mark, centers));
    this.forces = result.arrows.map((data) => ({ data, arrow: new Arrow(this.layers[data.constant ? "weights" : "forces"], data) }));
    this.labels = new Labels(result.labels, layer("labels"), result.size);
    this.traces = new Map();
    this.setPoints([]);
  }

  makeMark(mark, parent) {
    const element = svg("path", { class: `ink-${mark.ink} ${mark.area ? "area" : "line"}`, "data-name": mark.name }, parent);
    if (mark.ends) return { element, mark };
    element.dataset.carrier = this.result.carriers[mark.carrier].name;
    element.setAttribute("d", pathText(mark.paths.map((path) => pairs(path, 2, (n, i) => [n[i], n[i + 1]])), mark.area));
    return { element, mark };
  }

  // poses

  show(t, view, box) {
    const result = this.result;
    this.place = result.locate(t);
    this.poses = result.poses(this.place);
    for (const { element, mark } of this.marks) {
      if (mark.ends) element.setAttribute("d", pathText(this.stretched(mark), mark.area));
      else element.setAttribute("transform", this.transform(mark.carrier));
    }
    // what is hidden need not move
    const shown = (name) => !view.hidden.has(name);
    if (shown("centers")) for (const { element, mark } of this.centers) element.setAttribute("transform", this.transform(mark.carrier));
    for (const { data, arrow } of this.forces) if (shown(data.constant ? "weights" : "forces")) this.showForce(data, arrow, view, box);
    for (const kind of ["velocity", "acceleration"]) if (shown(kind)) this.showMotion(kind, view, box);
    if (shown("traces")) for (const trace of this.traces.values()) this.showTrace(trace);
    if (shown("labels")) this.labels.show(this.poses, view, box, this.arrows(view).flatMap((arrow) => arrow.segments));
  }

  transform(carrier) {
    const [x, y, phi] = this.poses[carrier];
    const c = Math.cos(phi);
    const s = Math.sin(phi);
    return `matrix(${c} ${s} ${-s} ${c} ${x} ${y})`;
  }

  stretched({ ends, paths }) {
    const [ax, ay] = at(this.poses[ends[0]], ends[1], ends[2]);
    const [bx, by] = at(this.poses[ends[3]], ends[4], ends[5]);
    const length = Math.hypot(bx - ax, by - ay);
    const [ux, uy] = length > 0 ? [(bx - ax) / length, (by - ay) / length] : [1, 0];
    return paths.map((path) => pairs(path, 3, (n, i) => {
      const s = n[i] + n[i + 1] * length;
      return [ax + s * ux - n[i + 2] * uy, ay + s * uy + n[i + 2] * ux];
    }));
  }

  // arrows

  // those that are shown
  arrows({ hidden }) {
    const forces = this.forces.filter(({ data }) => !hidden.has(data.constant ? "weights" : "forces")).map(({ arrow }) => arrow);
    const motions = ["velocity", "acceleration"].filter((kind) => !hidden.has(kind)).flatMap((kind) => this.motions[kind]);
    return [...forces, ...motions];
  }

  showForce(data, arrow, view, box) {
    const { result } = this;
    const [fx, fy, torque] = data.constant || data.columns.map((k) => result.value(this.place, k));
    const scale = result.forceScale * view.forces;
    arrow.show(at(this.poses[data.carrier], data.x, data.y), [scale * fx, scale * fy], torque * result.torqueScale, view, box);
    Object.assign(arrow.element.dataset, { fx, fy, torque });
  }

  // the points whose velocities and accelerations are shown; the mass centers where none are chosen
  setPoints(names) {
    const { result } = this;
    const chosen = names.filter((name) => result.points[name]).map((name) => result.points[name]);
    const centers = result.bodies.map((name) => ({ name, x: 0, y: 0, carrier: result.carriers.findIndex((carrier) => carrier.name === name) }));
    this.points = (chosen.length ? chosen : centers).filter(({ carrier }) => result.carriers[carrier].second);
    this.motions = {};
    for (const kind of ["velocity", "acceleration"]) {
      this.layers[kind].replaceChildren();
      this.motions[kind] = this.points.map((point) => new Arrow(this.layers[kind], { ink: kind, name: `${kind} of ${point.name}` }));
    }
    this.motionScale = {};
  }

  // meters per m/s or m/s²
  scaleOf(kind) {
    this.motionScale[kind] ??= LONG_ARROW * this.result.diagonal / (this.largest(kind) || Infinity);
    return this.motionScale[kind];
  }

  largest(kind) {
    let largest = 0;
    for (let i = 0; i < this.result.count; i++) {
      for (const point of this.points) largest = Math.max(largest, Math.hypot(...this.result.motion(kind, point, { i, u: 0, h: 0 })));
    }
    return largest;
  }

  showMotion(kind, view, box) {
    const scale = this.scaleOf(kind);
    this.points.forEach((point, n) => {
      const [x, y] = this.result.motion(kind, point, this.place);
      const arrow = this.motions[kind][n];
      arrow.show(at(this.poses[point.carrier], point.x, point.y), [scale * x, scale * y], 0, view, box);
      Object.assign(arrow.element.dataset, { x, y });
    });
  }

  // traces: a cubic between outputs, so that paths are round however far apart these are

  toggleTrace(point, on) {
    const old = this.traces.get(point);
    if (old) old.group.remove();
    this.traces.delete(point);
    if (on) this.traces.set(point, this.makeTrace(this.result.points[point]));
  }

  makeTrace(point) {
    const { result } = this;
    const step = Math.max(1, Math.ceil(result.count / LONGEST_TRACE));
    const between = step > 1 ? 1 : Math.max(1, Math.min(MOST_BETWEEN, Math.floor(LONGEST_TRACE / result.count)));
    const texts = [];
    for (let i = 0; i < result.count; i += step) {
      for (let part = 0; part < (i + 1 < result.count ? between : 1); part++) {
        const place = { i, u: part / between, h: i + 1 < result.count ? result.t[i + 1] - result.t[i] : 0 };
        texts.push(at(result.pose(point.carrier, place), point.x, point.y).join(","));
      }
    }
    const group = svg("g", { class: "trace", "data-name": point.name }, this.traceLayer);
    svg("polyline", { class: `whole ink-${point.ink} line`, points: texts.join(" ") }, group);
    const past = svg("polyline", { class: `past ink-${point.ink} line` }, group);
    const dot = svg("circle", { class: `ink-${point.ink} area`, r: 0.35 * result.size }, group);
    return { group, past, dot, texts, perOutput: between / step, point };
  }

  showTrace({ past, dot, texts, perOutput, point }) {
    const here = at(this.poses[point.carrier], point.x, point.y);
    const count = Math.floor((this.place.i + this.place.u) * perOutput + 1e-9) + 1;
    past.setAttribute("points", `${texts.slice(0, count).join(" ")} ${here.join(",")}`);
    dot.setAttribute("cx", here[0]);
    dot.setAttribute("cy", here[1]);
  }
}
