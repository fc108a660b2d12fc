// The stage: the mechanisms of all results on one canvas, which is panned and zoomed.

class Stage {
  constructor(results, element, onHover, onShow) {
    this.onShow = onShow;
    this.svg = svg("svg", { class: "stage", role: "img", tabindex: "-1" }, element);
    this.svg.setAttribute("aria-label", `Drawing of ${results.map((result) => result.name).join(", ")}`);
    this.world = svg("g", { class: "world" }, this.svg);
    this.actors = results.map((result, number) => new Actor(result, this.world, number));
    this.view = { k: 1, x: 0, y: 0, forces: 1, hidden: new Set(["velocity", "acceleration", "weights"]) };
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
    if (!this.box.width) this.measure();
    if (!this.box.width) return; // not in the document yet
    this.arrange();
    for (const actor of this.actors) actor.show(t, this.view, this.box);
    this.onShow();
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
      // a finger does not hover
      if (event.pointerType === "touch") onHover(event.target.closest("[data-name]"), local(event));
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
    element.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && onHover(null));
  }
}
