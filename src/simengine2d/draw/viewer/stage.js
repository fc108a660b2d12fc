// The stage: the mechanisms of all results, drawn as SVG and moved from pose to pose.

const LONGEST_TRACE = 2000; // points of a drawn path
const SMALLEST_ARROW = 0.3; // in symbol sizes

class Actor {
  // one result on the stage
  constructor(result, world, number) {
    this.result = result;
    this.group = svg("g", { class: "actor", "data-result": number }, world);
    const layer = (name) => svg("g", { class: name }, this.group);
    this.traceLayer = layer("traces");
    const marks = layer("marks");
    this.centerLayer = layer("centers");
    this.arrowLayer = layer("arrows");
    this.labelLayer = layer("labels");
    this.marks = result.marks.map((mark) => this.makeMark(mark, marks));
    this.centers = result.centers.map((mark) => this.makeMark(mark, this.centerLayer));
    this.arrows = result.arrows.map((arrow) => this.makeArrow(arrow));
    this.labels = result.labels.map((label) => this.makeLabel(label));
    this.traces = new Map();
  }

  makeMark(mark, parent) {
    const element = svg("path", { class: `ink-${mark.ink} ${mark.area ? "area" : "line"}`, "data-name": mark.name }, parent);
    if (mark.ends) return { element, mark };
    element.dataset.carrier = this.result.carriers[mark.carrier].name;
    element.setAttribute("d", pathText(mark.paths.map((path) => pairs(path, 2, (n, i) => [n[i], n[i + 1]])), mark.area));
    return { element, mark };
  }

  makeArrow(arrow) {
    const element = svg("g", { class: `arrow ink-${arrow.ink}`, "data-name": arrow.name }, this.arrowLayer);
    return {
      arrow,
      element,
      shaft: svg("path", { class: "line" }, element),
      head: svg("path", { class: "area" }, element),
      arc: svg("path", { class: "line" }, element),
      arcHead: svg("path", { class: "area" }, element),
    };
  }

  makeLabel(label) {
    const side = label.dx > 0.4 ? "start" : label.dx < -0.4 ? "end" : "middle";
    const element = svg("text", { class: `label ink-${label.ink}`, "text-anchor": side }, this.labelLayer);
    element.textContent = label.text;
    element.setAttribute("dy", label.dy > 0.4 ? "-0.1em" : label.dy < -0.4 ? "0.8em" : "0.35em");
    return { element, label };
  }

  // poses

  show(t, view) {
    const result = this.result;
    this.place = result.locate(t);
    this.poses = result.poses(this.place);
    for (const { element, mark } of this.marks) {
      if (mark.ends) element.setAttribute("d", pathText(this.stretched(mark), mark.area));
      else element.setAttribute("transform", this.transform(mark.carrier));
    }
    // what is hidden need not move
    if (!view.hidden.has("centers")) for (const { element, mark } of this.centers) element.setAttribute("transform", this.transform(mark.carrier));
    if (!view.hidden.has("labels")) for (const label of this.labels) this.showLabel(label, view);
    if (!view.hidden.has("forces")) for (const arrow of this.arrows) this.showArrow(arrow, view);
    if (!view.hidden.has("traces")) for (const trace of this.traces.values()) this.showTrace(trace);
  }

  showLabel({ element, label }, { k }) {
    const [x, y] = at(this.poses[label.carrier], label.x, label.y);
    element.setAttribute("transform", `translate(${x + label.gap * label.dx} ${y + label.gap * label.dy}) scale(${1 / k} ${-1 / k})`);
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

  showArrow({ arrow, element, shaft, head, arc, arcHead }, view) {
    const result = this.result;
    const [fx, fy, torque] = arrow.columns.map((k) => result.value(this.place, k));
    const [x, y] = at(this.poses[arrow.carrier], arrow.x, arrow.y);
    const scale = result.forceScale * view.forces;
    const length = scale * Math.hypot(fx, fy);
    const size = 11 / view.k; // of heads: 11 pixels
    const seen = length > SMALLEST_ARROW * result.size;
    shaft.setAttribute("visibility", seen ? "visible" : "hidden");
    head.setAttribute("visibility", seen ? "visible" : "hidden");
    if (seen) {
      const angle = Math.atan2(fy, fx);
      const tip = [x + length * Math.cos(angle), y + length * Math.sin(angle)];
      const back = Math.max(0, length - 0.8 * size);
      shaft.setAttribute("d", `M${x} ${y}L${x + back * Math.cos(angle)} ${y + back * Math.sin(angle)}`);
      head.setAttribute("d", headText(tip, angle, size));
    }
    this.showTorque(torque * result.torqueScale, [x, y], size, arc, arcHead);
    element.dataset.fx = fx;
    element.dataset.fy = fy;
  }

  showTorque(sweep, [x, y], size, arc, head) {
    const seen = Math.abs(sweep) > 0.08;
    arc.setAttribute("visibility", seen ? "visible" : "hidden");
    head.setAttribute("visibility", seen ? "visible" : "hidden");
    if (!seen) return;
    const r = 3.2 * this.result.size;
    const [start, end] = [Math.PI / 2 - sweep / 2, Math.PI / 2 + sweep / 2];
    const on = (angle) => [x + r * Math.cos(angle), y + r * Math.sin(angle)];
    const flags = `${Math.abs(sweep) > Math.PI ? 1 : 0} ${sweep > 0 ? 1 : 0}`;
    arc.setAttribute("d", `M${on(start).join(" ")}A${r} ${r} 0 ${flags} ${on(end - Math.sign(sweep) * 0.5 * size / r).join(" ")}`);
    head.setAttribute("d", headText(on(end), end + Math.sign(sweep) * (Math.PI / 2 - 0.5 * size / r), size));
  }

  // traces

  toggleTrace(point, on) {
    const old = this.traces.get(point);
    if (old) old.group.remove();
    this.traces.delete(point);
    if (on) this.traces.set(point, this.makeTrace(this.result.points[point]));
  }

  makeTrace({ carrier, x, y, ink, name }) {
    const result = this.result;
    const step = Math.max(1, Math.ceil(result.count / LONGEST_TRACE));
    const { pose } = result.carriers[carrier];
    const texts = [];
    for (let i = 0; i < result.count; i += step) {
      const place = pose.map((k) => result.columns[k][i]);
      texts.push(at(place, x, y).join(","));
    }
    const group = svg("g", { class: "trace", "data-name": name }, this.traceLayer);
    svg("polyline", { class: `whole ink-${ink} line`, points: texts.join(" ") }, group);
    const past = svg("polyline", { class: `past ink-${ink} line` }, group);
    const dot = svg("circle", { class: `ink-${ink} area`, r: 0.35 * result.size }, group);
    return { group, past, dot, texts, step, carrier, x, y };
  }

  showTrace({ past, dot, texts, step, carrier, x, y }) {
    const here = at(this.poses[carrier], x, y);
    past.setAttribute("points", `${texts.slice(0, Math.floor(this.place.i / step) + 1).join(" ")} ${here.join(",")}`);
    dot.setAttribute("cx", here[0]);
    dot.setAttribute("cy", here[1]);
  }
}

function headText([x, y], angle, size) {
  const corner = (along, across) =>
    `${x + along * Math.cos(angle) - across * Math.sin(angle)} ${y + along * Math.sin(angle) + across * Math.cos(angle)}`;
  return `M${corner(0, 0)}L${corner(-size, 0.38 * size)}L${corner(-size, -0.38 * size)}Z`;
}

class Stage {
  constructor(results, element, onHover) {
    this.svg = svg("svg", { class: "stage", role: "img", tabindex: "-1" }, element);
    this.svg.setAttribute("aria-label", `Drawing of ${results.map((result) => result.name).join(", ")}`);
    this.world = svg("g", { class: "world" }, this.svg);
    this.actors = results.map((result, number) => new Actor(result, this.world, number));
    this.view = { k: 1, x: 0, y: 0, forces: 1, hidden: new Set() };
    this.follow = "";
    this.zoom = 1;
    this.pan = [0, 0];
    this.time = 0;
    this.bounds = [0, 1, 2, 3].map((c) => Math[c < 2 ? "min" : "max"](...results.map((result) => result.bounds[c])));
    this.listen(onHover);
    this.measure();
    new ResizeObserver(() => {
      this.measure();
      this.show(this.time);
    }).observe(element);
  }

  // asking for the size makes the browser lay out the page, so it is asked only when it has changed
  measure() {
    this.box = this.svg.getBoundingClientRect();
  }

  fit() {
    this.zoom = 1;
    this.pan = [0, 0];
    this.show(this.time);
  }

  // where the world's middle and scale are on the screen
  arrange() {
    const { width, height } = this.box;
    const [x0, y0, x1, y1] = this.bounds;
    const k = Math.max(1e-9, Math.min(width / (x1 - x0), height / (y1 - y0))) * this.zoom;
    let [x, y] = [(x0 + x1) / 2, (y0 + y1) / 2];
    const leader = this.actors[0].result.carriers.findIndex(({ name }) => name === this.follow);
    if (this.follow && leader >= 0) [x, y] = this.actors[0].result.poses(this.actors[0].result.locate(this.time))[leader];
    Object.assign(this.view, { k, x: width / 2 + this.pan[0] - k * x, y: height / 2 + this.pan[1] + k * y });
    this.world.setAttribute("transform", `matrix(${k} 0 0 ${-k} ${this.view.x} ${this.view.y})`);
  }

  show(t) {
    this.time = t;
    this.arrange();
    for (const actor of this.actors) actor.show(t, this.view);
  }

  zoomBy(factor, point = null) {
    const { width, height } = this.box;
    const [px, py] = point || [width / 2, height / 2];
    const zoom = Math.min(200, Math.max(0.2, this.zoom * factor));
    const ratio = zoom / this.zoom;
    // the point under the pointer stays where it is
    this.pan = [px - width / 2 - ratio * (px - width / 2 - this.pan[0]), py - height / 2 - ratio * (py - height / 2 - this.pan[1])];
    this.zoom = zoom;
    this.show(this.time);
  }

  listen(onHover) {
    const element = this.svg;
    const pointers = new Map();
    const local = (event) => {
      const box = element.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    const spread = () => {
      const [a, b] = [...pointers.values()];
      return [Math.hypot(a[0] - b[0], a[1] - b[1]), [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2]];
    };
    element.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoomBy(Math.exp(-0.0015 * event.deltaY), local(event));
    }, { passive: false });
    element.addEventListener("dblclick", () => this.fit());
    element.addEventListener("pointerdown", (event) => {
      element.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, local(event));
    });
    element.addEventListener("pointermove", (event) => {
      const before = pointers.get(event.pointerId);
      if (!before) return onHover(event.target.closest("[data-name]"), local(event));
      const now = local(event);
      const old = pointers.size === 2 ? spread() : null;
      pointers.set(event.pointerId, now);
      if (old) {
        const [distance, middle] = spread();
        this.zoomBy(distance / Math.max(1, old[0]), middle);
      } else {
        this.pan = [this.pan[0] + now[0] - before[0], this.pan[1] + now[1] - before[1]];
        this.show(this.time);
      }
    });
    for (const kind of ["pointerup", "pointercancel"]) element.addEventListener(kind, (event) => pointers.delete(event.pointerId));
    element.addEventListener("pointerleave", () => onHover(null));
  }
}
