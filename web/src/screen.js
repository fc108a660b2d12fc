// The screen: the player in the middle of the page. Each answer of the server makes a new player, which takes over what
// the reader had chosen of the old one: time, view, arrows, traces and plots.

const EMPTY_BOUNDS = [-0.4, -0.5, 1.6, 1]; // meters: what an empty page shows
const NOTHING = {
  name: "nothing yet", label: "", status: "", notes: [], size: 0.02, bounds: EMPTY_BOUNDS, forceScale: 0, torqueScale: 0,
  units: { m: ["m", 1], "m/s": ["m/s", 1], "m/s²": ["m/s²", 1], N: ["N", 1], "N m": ["N m", 1] },
  carriers: [{ name: "ground" }], marks: [], labels: [], arrows: [], points: {}, centers: [], bodies: [], inks: {}, channels: [],
  t: "AAAAAAAAAAA=", columns: "",
};
const EMPTY = { title: "", kinds: {}, results: [NOTHING], options: { channels: [], trace: [], forces: true, labels: true, speed: 1, play: false, at: null } };

export class Screen {
  // `onShow` is called whenever the picture changes, `plotsBox` gets the plots, `runs` know what was before
  constructor(pane, plotsBox, runs, onShow) {
    Object.assign(this, { pane, plotsBox, runs, onShow, data: EMPTY, comparing: false, theme: "light", player: null });
    this.colors = document.head.appendChild(html("style"));
    this.show(null, true);
  }

  // `fresh`: another model, of which nothing is known
  show(data, fresh = false) {
    this.data = data ?? EMPTY;
    this.mount(fresh);
  }

  mount(fresh = false) {
    const settings = !fresh && this.player ? this.player.settings : null;
    const usual = this.player?.options.speed;
    this.player?.end();
    this.setColors();
    const root = html("div", { class: "player" });
    const channels = settings?.channels.length ? settings.channels.map(([name]) => name) : this.data.options.channels;
    this.player = new Player(root, { ...this.shown, options: { ...this.data.options, channels, theme: this.theme, play: false } }, html("div"));
    this.plotsBox.replaceChildren(this.player.plots.element);
    this.pane.replaceChildren(root); // whole, so that the browser lays it out once
    const { stage, legend } = this.player;
    stage.measure();
    stage.onShow = () => {
      legend.show();
      this.onShow();
    };
    if (settings) this.player.take(keptSettings(settings, this.player, this.data.options, usual));
    else this.player.seek(this.player.span[0]);
  }

  // the motion, and that before the last edit as a ghost
  get shown() {
    const before = this.runs.before?.player;
    if (!this.comparing || !before || this.data === EMPTY) return this.data;
    const [now, then] = [this.data.results[0], before.results[0]];
    return { ...this.data, results: [{ ...now, label: "now" }, { ...then, label: "before" }] };
  }

  compare(on) {
    this.comparing = on;
    this.mount();
  }

  setTheme(theme) {
    this.theme = theme;
    this.player.setTheme(theme);
  }

  // colors that a model gives to its bodies
  setColors() {
    const own = new Set(this.shown.results.flatMap(({ marks }) => marks.map(({ ink }) => ink)).filter((ink) => /^[0-9a-f]{6}$/.test(ink)));
    this.colors.textContent = [...own].map((ink) => `.simengine2d .ink-${ink} { stroke: #${ink}; stroke-width: 1.5px } .simengine2d .ink-${ink}.area { fill: color-mix(in srgb, #${ink} 30%, var(--paper)) }`).join("\n");
  }

  // time

  get result() {
    return this.player.results[0];
  }

  get atRest() {
    return !this.player.playing && !this.pulled && this.player.time <= this.player.span[0];
  }

  // the pose as drawn
  rest() {
    this.letGo();
    this.player.pause();
    this.player.seek(this.player.span[0]);
  }

  play() {
    this.letGo();
    if (!this.player.playing) this.player.play();
  }

  toggle() {
    this.letGo();
    this.player.toggle();
  }

  // places

  get view() {
    return this.player.stage.view;
  }

  get box() {
    return this.player.stageBox.getBoundingClientRect();
  }

  // of a pointer, in pixels from the corner of the canvas
  local({ clientX, clientY }) {
    const { left, top } = this.box;
    return [clientX - left, clientY - top];
  }

  toWorld([px, py]) {
    const { k, x, y } = this.view;
    return [(px - x) / k, (y - py) / k];
  }

  toScreen([wx, wy]) {
    const { k, x, y } = this.view;
    return [x + k * wx, y - k * wy];
  }

  panBy(dx, dy) {
    const { stage } = this.player;
    stage.pan = [stage.pan[0] + dx, stage.pan[1] + dy];
    stage.show(stage.time);
  }

  zoomBy(factor, point) {
    this.player.stage.zoomBy(factor, point);
  }

  // all of the motion that is shown now
  fit() {
    const { stage } = this.player;
    stage.bounds = [...this.result.bounds];
    stage.fit();
  }

  // what is drawn under a point of the window: bodies, joints and forces by their names, the topmost first
  namesAt(x, y) {
    const found = document.elementsFromPoint(x, y).filter((element) => this.pane.contains(element));
    return [...new Set(found.map((element) => element.closest("[data-name]")?.dataset.name).filter(Boolean))];
  }

  // a mechanism in the hand: poses that the server computes

  pull(poses) {
    const { result } = this;
    const own = Object.getPrototypeOf(result).poses;
    this.pulled = poses;
    result.poses = (place) => own.call(result, place).map((pose, i) => poses[result.carriers[i].name] ?? pose);
    this.pane.classList.add("pulled");
    this.player.stage.show(this.player.time);
  }

  letGo() {
    if (!this.pulled) return;
    this.pulled = null;
    delete this.result.poses;
    this.pane.classList.remove("pulled");
    this.player.stage.show(this.player.time);
  }
}

// what still makes sense for other results
function keptSettings(settings, player, options, usual) {
  const known = settings.channels.filter(([name]) => player.plots.charts.some((chart) => chart.name === name));
  const shown = Object.fromEntries(Object.entries(settings.shown).filter(([name]) => player.toggles[name]));
  const traces = [...new Set([...settings.traces, ...options.trace])];
  return { ...settings, shown, traces, channels: known.length ? known : options.channels.map((name) => [name, ""]), speed: Number(settings.speed) === usual ? String(options.speed) : settings.speed };
}
