// The player: time, controls and keyboard around the stage and the plots.

const SPEEDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];
const NARROW = 720; // pixels
const KEYS = [
  ["space", "play or pause"],
  ["← →", "one frame back or on (with shift: ten)"],
  ["home end", "begin, end"],
  ["[ ]", "slower, faster"],
  ["+ − 0", "zoom in, out, fit"],
  ["f w v a", "forces, weights, velocities, accelerations"],
  ["t l c", "traces, labels, centers of mass"],
  ["d", "dark or light"],
];

class Player {
  // `keyboard` is what hears the keys: the whole document where the page has nothing else, or the player itself
  constructor(root, data, keyboard = root) {
    this.root = root;
    this.keyboard = keyboard;
    this.results = data.results.map((result) => new Result(result));
    this.options = data.options;
    this.kinds = data.kinds;
    for (const scale of ["forceScale", "torqueScale"]) {
      const common = Math.min(...this.results.map((result) => result[scale]).filter((value) => value > 0));
      for (const result of this.results) result[scale] = Number.isFinite(common) ? common : 0;
    }
    const times = this.results.map(({ t }) => [t[0], t[t.length - 1]]);
    this.span = [Math.min(...times.map(([a]) => a)), Math.max(...times.map(([, b]) => b))];
    this.time = this.span[0];
    this.playing = false;
    this.build(data);
    this.unfollow = () => {};
    if (data.options.theme) this.setTheme(data.options.theme);
    else this.unfollow = followTheme(this.root, (theme) => this.setTheme(theme));
    this.seek(data.options.at ?? this.span[0]);
    if (data.options.play && this.moves && !matchMedia("(prefers-reduced-motion: reduce)").matches) this.play();
  }

  get moves() {
    return this.span[1] > this.span[0];
  }

  // parts

  build(data) {
    this.root.classList.add("simengine2d");
    this.root.tabIndex = 0;
    this.tip = html("div", { class: "tip", hidden: true });
    this.stageBox = html("div", { class: "stage-box" }, this.tip);
    this.stage = new Stage(this.results, this.stageBox, (mark, point) => this.hover(mark, point), () => this.legend && this.legend.show());
    this.legend = new Legend(this.results, data.kinds, this.stage);
    this.plots = new Plots(this.results, this.span, this.options.channels, (t) => this.seek(t));
    const notes = data.results.flatMap(({ notes }) => notes);
    this.root.append(
      html("header", {}, html("h1", {}, data.title), this.chips(), this.themeButton()),
      html("div", { class: "body" }, html("div", { class: "left" }, this.stageBox, this.legend.element, this.transport(), this.switches()), this.plots.element),
      html("footer", {}, ...notes.map((note) => html("p", {}, note)), this.help()),
    );
    this.stage.measure(); // all parts have their places now
    this.onKey = (event) => this.key(event);
    this.keyboard.addEventListener("keydown", this.onKey);
    // what was clicked gives the keys back; whoever uses the keyboard alone keeps the focus
    this.root.addEventListener("click", (event) => event.detail && event.target.closest("button, label, input:not([type=range], [type=text])") && this.root.focus({ preventScroll: true }));
    this.root.addEventListener("change", (event) => event.target.tagName === "SELECT" && this.root.focus({ preventScroll: true }));
    new ResizeObserver(() => this.root.classList.toggle("narrow", this.root.clientWidth < NARROW)).observe(this.root);
  }

  // what differs between several results, or how one has ended
  chips() {
    const box = html("span", { class: "legend" });
    if (this.results.length < 2) return html("span", { class: "status" }, this.results[0].status);
    this.results.forEach(({ label }, number) => {
      const input = html("input", { type: "checkbox", checked: true, onchange: () => this.stage.actors[number].group.toggleAttribute("hidden", !input.checked) });
      const line = swatch(24, () => svg("path", { class: `curve curve-${number}`, d: "M1 8H23", "stroke-dasharray": number ? "6 3" : "none" }));
      box.append(html("label", { class: `chip chip-${number}` }, input, line, label));
    });
    return box;
  }

  themeButton() {
    return html("button", { type: "button", class: "theme", "aria-label": "Dark or light", title: "Dark or light (d)", onclick: () => this.turnTheme() }, "◐");
  }

  transport() {
    this.playButton = html("button", { type: "button", class: "play", "aria-label": "Play", title: "Play or pause (space)", onclick: () => this.toggle() }, "▶");
    this.scrub = html("input", { type: "range", class: "scrub", min: this.span[0], max: this.span[1], step: "any", "aria-label": "Time" });
    this.scrub.addEventListener("input", () => this.seek(Number(this.scrub.value)));
    this.clock = html("output", { class: "clock" });
    const speeds = SPEEDS.map((speed) => html("option", { value: speed, selected: speed === this.options.speed }, `${speed}×`));
    this.speed = html("select", { class: "speed", "aria-label": "Speed", title: "Speed ([ and ])" }, ...speeds);
    return html("div", { class: "transport", hidden: !this.moves }, this.playButton, this.scrub, this.clock, this.speed);
  }

  switches() {
    const box = html("div", { class: "switches" });
    this.toggles = {};
    const add = (name, label, key, on, change) => {
      const input = html("input", { type: "checkbox", name, checked: on, onchange: () => change(input.checked) });
      this.toggles[name] = input;
      box.append(html("label", { title: `${label} (${key})` }, input, label));
      change(on);
    };
    const show = (name) => (on) => {
      this.root.classList.toggle(`hide-${name}`, !on);
      this.stage.view.hidden[on ? "delete" : "add"](name);
      this.stage.show(this.time);
    };
    const has = (test) => this.results.some(test);
    if (has(({ arrows }) => arrows.some(({ constant }) => !constant))) add("forces", "Forces", "f", this.options.forces, show("forces"));
    if (has(({ arrows }) => arrows.some(({ constant }) => constant))) add("weights", "Weights", "w", false, show("weights"));
    if (has(({ arrows }) => arrows.length)) {
      this.scale = html("input", { type: "range", class: "scale", min: -1.5, max: 1.5, step: 0.05, value: 0, "aria-label": "Length of force arrows", title: "Length of force arrows" });
      this.scale.addEventListener("input", () => this.setScale());
      box.append(this.scale);
    }
    if (this.moves && has(({ carriers }) => carriers.some(({ second }) => second))) {
      add("velocity", "Velocities", "v", false, show("velocity"));
      add("acceleration", "Accelerations", "a", false, show("acceleration"));
    }
    add("labels", "Labels", "l", this.options.labels, show("labels"));
    add("centers", "Centers", "c", false, show("centers"));
    if (this.moves) {
      add("traces", "Traces", "t", true, show("traces"));
      box.append(this.traceMenu(), this.followMenu());
    }
    const name = this.results[0].name;
    box.append(saveMenu("the picture", { PNG: () => savePicture(this.stage.svg, name, "png"), SVG: () => savePicture(this.stage.svg, name, "svg") }));
    box.append(html("button", { type: "button", title: "Fit (0)", onclick: () => this.stage.fit() }, "Fit"));
    return box;
  }

  traceMenu() {
    const names = [...new Set(this.results.flatMap(({ points }) => Object.keys(points)))];
    const rows = names.map((name) => {
      const input = html("input", { type: "checkbox", class: "trace-box", value: name, checked: this.options.trace.includes(name), onchange: () => this.setTrace(name, input.checked) });
      if (input.checked) this.setTrace(name, true);
      return html("label", {}, input, name);
    });
    return html("details", { class: "menu" }, html("summary", {}, "points"), html("div", {}, ...rows));
  }

  followMenu() {
    const bodies = this.results[0].bodies.map((name) => html("option", { value: name }, name));
    const menu = html("select", { class: "follow", "aria-label": "Follow a body" }, html("option", { value: "" }, "follow …"), ...bodies);
    menu.addEventListener("change", () => {
      this.stage.follow = menu.value;
      this.stage.pan = [0, 0];
      this.stage.show(this.time);
    });
    return menu;
  }

  help() {
    const rows = KEYS.map(([keys, what]) => html("div", {}, html("kbd", {}, keys), ` ${what}`));
    return html("details", { class: "help" }, html("summary", {}, "Keys"), ...rows, html("div", {}, "Drag to pan, scroll or pinch to zoom, double-click to fit. In a plot, drag to move through time, scroll to zoom, drag with shift to pan, double-click to see all."));
  }

  // settings

  setTheme(theme) {
    this.root.dataset.theme = theme;
  }

  // from now on as the reader wants it
  turnTheme() {
    this.unfollow();
    this.setTheme(this.root.dataset.theme === "dark" ? "light" : "dark");
  }

  setScale() {
    this.stage.view.forces = 10 ** Number(this.scale.value);
    this.stage.show(this.time);
  }

  setTrace(name, on) {
    for (const actor of this.stage.actors) {
      if (actor.result.points[name]) actor.toggleTrace(name, on);
      actor.setPoints([...actor.traces.keys()]);
    }
    this.stage.show(this.time);
  }

  // what the reader has chosen, for a player of other results that takes this one's place
  get settings() {
    const { zoom, pan, bounds, follow } = this.stage;
    return {
      time: this.time, playing: this.playing, speed: this.speed.value, scale: this.scale && this.scale.value,
      shown: Object.fromEntries(Object.entries(this.toggles).map(([name, { checked }]) => [name, checked])),
      traces: [...this.stage.actors[0].traces.keys()],
      channels: this.plots.charts.map(({ name, over }) => [name, over]),
      stage: { zoom, pan, bounds, follow },
    };
  }

  take({ time, playing, speed, scale, shown, traces, channels, stage }) {
    this.speed.value = speed;
    if (this.scale && scale !== undefined) this.scale.value = scale;
    Object.assign(this.stage, stage);
    for (const [name, on] of Object.entries(shown)) if (this.toggles[name] && this.toggles[name].checked !== on) this.toggles[name].click();
    for (const box of this.root.querySelectorAll(".trace-box")) if (box.checked !== traces.includes(box.value)) box.click();
    this.plots.set(channels);
    this.stage.view.forces = 10 ** Number(scale || 0);
    this.seek(time);
    if (playing) this.play();
  }

  // time

  seek(t) {
    this.time = Math.min(this.span[1], Math.max(this.span[0], t));
    this.stage.show(this.time);
    this.plots.show(this.time);
    this.scrub.value = this.time;
    this.onTime(this.time);
    this.clock.textContent = `t = ${this.time.toFixed(this.digits)} s`;
    this.scrub.setAttribute("aria-valuetext", this.clock.textContent);
  }

  // for whoever wants to follow
  onTime() {}

  get digits() {
    return Math.min(9, Math.max(0, 3 - Math.floor(Math.log10(this.span[1] - this.span[0] || 1))));
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  play() {
    if (!this.moves) return;
    if (this.time >= this.span[1]) this.seek(this.span[0]);
    this.playing = true;
    this.setPlayButton();
    let last = performance.now();
    const tick = (now) => {
      if (!this.playing || !this.root.isConnected) return;
      let next = this.time + (Number(this.speed.value) * (now - last)) / 1000;
      if (next > this.span[1]) next = this.span[0]; // round and round
      last = now;
      this.seek(next);
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  pause() {
    this.playing = false;
    this.setPlayButton();
  }

  // nothing of it goes on
  end() {
    this.pause();
    this.unfollow();
    this.keyboard.removeEventListener("keydown", this.onKey);
  }

  setPlayButton() {
    this.playButton.textContent = this.playing ? "❚❚" : "▶";
    this.playButton.setAttribute("aria-label", this.playing ? "Pause" : "Play");
  }

  step(count) {
    this.pause();
    const { t } = this.results[0];
    const { i } = this.results[0].locate(this.time + 1e-12);
    this.seek(t[Math.min(t.length - 1, Math.max(0, i + count))]);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (["SELECT", "SUMMARY"].includes(event.target.tagName) || event.target.type === "text") return;
    if (event.target.type === "range" && event.key.startsWith("Arrow") && event.target !== this.scrub) return;
    const flip = (name) => this.toggles[name] && this.toggles[name].click();
    const faster = (by) => {
      this.speed.selectedIndex = Math.min(SPEEDS.length - 1, Math.max(0, this.speed.selectedIndex + by));
    };
    const many = event.shiftKey ? 10 : 1;
    const actions = {
      " ": () => event.target.tagName !== "BUTTON" && event.target.type !== "checkbox" && this.toggle(),
      ArrowLeft: () => this.step(-many),
      ArrowRight: () => this.step(many),
      Home: () => this.seek(this.span[0]),
      End: () => this.seek(this.span[1]),
      "[": () => faster(-1),
      "]": () => faster(1),
      "+": () => this.stage.zoomBy(1.25),
      "=": () => this.stage.zoomBy(1.25),
      "-": () => this.stage.zoomBy(0.8),
      0: () => this.stage.fit(),
      f: () => flip("forces"),
      w: () => flip("weights"),
      v: () => flip("velocity"),
      a: () => flip("acceleration"),
      t: () => flip("traces"),
      l: () => flip("labels"),
      c: () => flip("centers"),
      d: () => this.turnTheme(),
    };
    const action = actions[event.key];
    if (!action) return;
    if (action() !== false) event.preventDefault();
  }

  // what is under the pointer, with its values now
  hover(mark, point) {
    this.tip.hidden = !mark || !mark.dataset.name;
    if (this.tip.hidden) return;
    const { name, kind, on } = mark.dataset;
    const result = this.results[Number(mark.closest(".actor").dataset.result)];
    const rows = this.values(mark, result).map(([what, value, unit]) =>
      html("div", {}, html("span", {}, what), html("b", {}, shortNumber(value)), html("i", {}, unit)));
    const words = on && kind !== "weight" ? [html("p", {}, `${this.kinds[kind]}, on ${on}`)] : [];
    this.tip.replaceChildren(html("strong", {}, name), ...words, ...rows);
    this.tip.style.left = `${Math.max(0, Math.min(point[0] + 14, this.stageBox.clientWidth - this.tip.offsetWidth - 4))}px`;
    this.tip.style.top = `${Math.max(0, Math.min(point[1] + 14, this.stageBox.clientHeight - this.tip.offsetHeight - 4))}px`;
  }

  // names, values and units: of a velocity, a weight, or all channels of a body, joint or force
  values({ dataset }, result) {
    const { name, kind } = dataset;
    const vector = (x, y, si) => {
      const [unit, factor] = result.units[si];
      return [["x", x], ["y", y], ["size", Math.hypot(x, y)]].map(([part, value]) => [part, value / factor, unit]);
    };
    if (kind === "velocity" || kind === "acceleration") return vector(dataset.x, dataset.y, kind === "velocity" ? "m/s" : "m/s²");
    if (kind === "weight") return vector(dataset.fx, dataset.fy, "N");
    const place = result.locate(this.time);
    return result.channels.filter(({ group }) => group === name).map((channel) => result.find(channel.name))
      .map((channel) => [channel.name.startsWith(`${name}.`) ? channel.name.slice(name.length + 1) : channel.name, result.shown(place, channel), channel.unit]);
  }
}

function mount(root, data, keyboard) {
  root.player = new Player(root, data, keyboard);
  return root.player;
}
