// What can be read off the motion: instant centers, marks of equal time, angles between links, a free body with its forces.

const LONGEST = 120; // pixels of the largest force on a free body
const MARKS = 24; // of equal time on a path
const POOR = 40; // degrees: a smaller transmission angle pushes the pin rather than the link
const FLAT = 1e-9; // rad/s: below it a body does not turn

export class Readings {
  constructor(studio) {
    Object.assign(this, { studio, freeBody: null, on: { centers: false, marks: false, angles: false, compare: false } });
    this.sheet = document.head.appendChild(html("style"));
    studio.overlay.readers.push((layer) => this.draw(layer));
  }

  switches() {
    const words = { centers: "Instant centers", marks: "Marks of equal time on the paths", angles: "Angles between links, transmission angle μ", compare: "The run before the last edit" };
    return Object.entries(words).map(([name, word]) => {
      const box = html("input", { type: "checkbox", "data-reading": name, checked: this.on[name] });
      box.addEventListener("change", () => this.turn(name, box.checked));
      return html("label", { class: "check" }, box, word);
    });
  }

  turn(name, on) {
    this.on[name] = on;
    if (name === "compare") this.studio.screen.compare(on);
    this.studio.overlay.show();
  }

  // of a free body everything else is pale
  show() {
    const { drawing } = this.studio;
    if (this.freeBody && !drawing.bodies.some(({ name }) => name === this.freeBody)) this.freeBody = null;
    const name = this.freeBody && CSS.escape(this.freeBody);
    this.sheet.textContent = name ? `.canvas .marks path:not([data-carrier="${name}"]) { opacity: 0.12 } .canvas :is(.forces, .weights, .labels) { display: none }` : "";
    this.studio.forces.show();
    this.studio.overlay.show();
  }

  get place() {
    const { result, player } = this.studio.screen;
    return result.locate(player.time);
  }

  draw(layer) {
    if (!this.studio.drawing || !this.studio.screen.result.bodies.length) return;
    if (this.on.centers) this.drawCenters(layer);
    if (this.on.marks) this.drawMarks(layer);
    if (this.on.angles) this.drawAngles(layer);
    if (this.freeBody) this.drawLoads(layer);
  }

  // instant centers: v_P = 0 at P = r + (-yd, xd)/w

  drawCenters(layer) {
    const { result } = this.studio.screen;
    result.carriers.forEach((carrier, k) => {
      if (!carrier.rate) return;
      const [x, y] = result.pose(k, this.place);
      const [xd, yd, w] = carrier.rate.map((column, c) => result.value(this.place, column, carrier.second?.[c]));
      if (Math.abs(w) > FLAT) this.center(layer, carrier.name, [x - yd / w, y + xd / w]);
    });
  }

  center(layer, name, place) {
    const [x, y] = this.studio.screen.toScreen(place);
    const { width, height } = this.studio.screen.player.stage.box;
    if (x < 0 || y < 0 || x > width || y > height) return;
    const group = svg("g", { class: "instant-center", "data-center": name }, layer);
    svg("path", { d: `M${x - 6} ${y}H${x + 6}M${x} ${y - 6}V${y + 6}` }, group);
    svg("circle", { cx: x, cy: y, r: 4 }, group);
    svg("text", { x: x + 7, y: y - 7, class: "note" }, group).textContent = `P ${name}`;
  }

  // equal times on the paths that are shown

  drawMarks(layer) {
    const { screen } = this.studio;
    const { result, player } = screen;
    const [t0, t1] = player.span;
    for (const trace of player.stage.actors[0].traces.keys()) {
      const { carrier, x, y } = result.points[trace];
      for (let i = 0; i < MARKS; i++) {
        const [cx, cy] = screen.toScreen(at(result.pose(carrier, result.locate(t0 + ((t1 - t0) * i) / MARKS)), x, y));
        svg("circle", { class: "time-mark", cx, cy, r: i % 6 ? 2 : 3.5 }, layer);
      }
    }
  }

  // the angle between two links at each pin that joins two moving bars; where neither is driven, such as coupler and
  // output, it is the transmission angle, 90 degrees at best

  drawAngles(layer) {
    const { screen, drawing } = this.studio;
    const driven = new Set(drawing.elements.filter(({ kind }) => kind === "driver").flatMap((driver) => driver.bodies));
    for (const { id, bodies } of drawing.points) {
      const moving = bodies.filter((name) => name !== "ground").map((name) => this.axisFrom(name, id));
      if (moving.length !== 2 || moving.includes(null)) continue;
      const [[p, u], [, v]] = moving;
      const angle = Math.abs(Math.atan2(u[0] * v[1] - u[1] * v[0], u[0] * v[0] + u[1] * v[1]));
      const isInput = bodies.some((name) => driven.has(name) && name !== "ground");
      const degrees = (180 / Math.PI) * (isInput ? angle : Math.min(angle, Math.PI - angle));
      const [x, y] = screen.toScreen(p);
      const kind = !isInput && degrees < POOR ? "angle-note poor" : "angle-note";
      svg("text", { x: x + 10, y: y + 18, class: kind, "data-angle": id }, layer).textContent = `${isInput ? "" : "μ = "}${degrees.toFixed(1)}°`;
    }
  }

  // where a pin of a bar is now, and the direction from it to the bar's other end
  axisFrom(name, id) {
    const { result } = this.studio.screen;
    const body = this.studio.drawing.bodies.find((each) => each.name === name);
    const others = body.points.filter((point) => point !== id);
    const carrier = result.carriers.findIndex((each) => each.name === name);
    if (carrier < 0 || !others.length) return null;
    const find = (wanted) => this.studio.drawing.points.find((point) => point.id === wanted);
    const here = this.moved(find(id), body, carrier);
    const far = this.moved(find(others.at(-1)), body, carrier);
    return [here, [far[0] - here[0], far[1] - here[1]]];
  }

  // a point of a body, from where it is drawn to where it is now
  moved({ x, y }, { pose }, carrier) {
    const [c, s] = [Math.cos(pose[2]), Math.sin(pose[2])];
    const [dx, dy] = [x - pose[0], y - pose[1]];
    return at(this.studio.screen.result.pose(carrier, this.place), c * dx + s * dy, -s * dx + c * dy);
  }

  // all that acts on the free body: what its joints' arrows say, turned round where they are drawn on the other side

  loads() {
    const { result } = this.studio.screen;
    const own = result.arrows.filter(({ on }) => on === this.freeBody);
    const known = new Set(own.map(({ name }) => name));
    const elements = this.studio.drawing.elements.filter(({ name, bodies }) => bodies.length === 2 && bodies.includes(this.freeBody) && !known.has(name)).map(({ name }) => name);
    const others = result.arrows.filter(({ name, on }) => on !== this.freeBody && elements.includes(name));
    return [...own.map((data) => this.load(data, 1)), ...others.map((data) => this.load(data, -1))];
  }

  load({ name, carrier, x, y, constant, columns }, sign) {
    const { result } = this.studio.screen;
    const [fx, fy, torque] = (constant ?? columns.map((k) => result.value(this.place, k))).map((value) => sign * value);
    return { name, fx, fy, torque, place: at(result.pose(carrier, this.place), x, y) };
  }

  drawLoads(layer) {
    const loads = this.loads();
    const { screen } = this.studio;
    const [unit, factor] = screen.result.units.N;
    const largest = Math.max(...loads.map(({ fx, fy }) => Math.hypot(fx, fy)), 1e-300);
    for (const { name, fx, fy, place } of loads) {
      const [x, y] = screen.toScreen(place);
      const size = Math.hypot(fx, fy);
      if (size < 1e-6 * largest) continue;
      const [dx, dy] = [(LONGEST * fx) / largest, (-LONGEST * fy) / largest];
      const angle = Math.atan2(dy, dx);
      const tip = (turn) => `${x + dx - 9 * Math.cos(angle + turn)} ${y + dy - 9 * Math.sin(angle + turn)}`;
      svg("path", { class: "load", "data-load": name, d: `M${x} ${y}L${x + dx} ${y + dy}M${tip(0.4)}L${x + dx} ${y + dy}L${tip(-0.4)}` }, layer);
      svg("text", { x: x + dx + 6, y: y + dy - 4, class: "note" }, layer).textContent = `${name} ${shortNumber(size / factor)} ${unit}`;
    }
    this.studio.forces.showBalance();
  }
}
