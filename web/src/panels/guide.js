// Help: the keys, and a first mechanism in six steps, whose next places are marked on the drawing.

// Steps: the tool, what to do, whether it is done, and the lines to draw or places to click as suggestions.
const STEPS = [
  ["ground", "Take Ground (G) and click the two marked places: the supports.", (now) => now.supports.length >= 2, () => [[[0, 0]], [[1, 0]]]],
  ["link", "Take Link (L) and drag from the left support upward: the crank.", (now) => now.links >= 1, ({ left, size }) => [[left, [left[0], left[1] + 0.3 * size]]]],
  ["link", "Two more links: from the end of the crank across, and down to the other support.", (now) => now.links >= 3 && now.pins >= 4, ({ left, right, size, free }) => {
    const top = [left[0] + 0.8 * size, left[1] + 0.7 * size];
    return [[free[0] ?? left, top], [top, right]];
  }],
  ["motor", "Take Motor (M) and click the left support.", (now) => now.kinds.has("driver"), ({ left }) => [[left]]],
  ["force", "It moves! Press Escape to draw on. Take Force (F) and drag downward from a pin.", (now) => now.kinds.has("force"), () => []],
  ["", "Space plays. Read what the pins bear under Forces, curves under Plots; Ctrl+S saves. Right-click anything for more.", () => false, () => []],
];

// what has been drawn so far, and where
function situation({ points, bodies, elements }) {
  const supports = points.filter(({ ground }) => ground).map(({ x, y }) => [x, y]).sort((a, b) => a[0] - b[0]);
  const [left = [0, 0], right = [1, 0]] = [supports[0], supports.at(-1)];
  const free = points.filter(({ ground }) => !ground).map(({ x, y }) => [x, y]);
  const size = Math.hypot(right[0] - left[0], right[1] - left[1]) || 1;
  return { supports, left, right, free, size, links: bodies.length - 1, pins: points.filter(({ joint }) => joint).length, kinds: new Set(elements.map(({ kind }) => kind)) };
}

const KEYS = [
  ["V L P J G S E K D M F T", "tools: select, link, plate, point, ground, slider, gears, spring, damper, motor, force, torque"],
  ["arrows, Enter", "move the cursor on the grid, click there; in Select they move the selected point (Shift: a tenth)"],
  ["N, Shift+N", "select the next point, link or force"],
  ["X, right click, long press", "menu of what is selected: joint types, locks, motor, copy, mirror"],
  ["Space, Home, Escape", "play or pause; back to the drawing"],
  ["Delete", "delete what is selected"],
  ["+ − 0", "zoom, show all; two fingers or the wheel zoom, too"],
  ["Ctrl+Z, Ctrl+Shift+Z", "undo and redo, without limit, of drawing and typing"],
  ["Ctrl+C, Ctrl+V, Ctrl+D, Ctrl+A", "copy, paste, both at once, select all links"],
  ["Ctrl+S, Ctrl+Shift+S, Ctrl+O", "save, save as, open"],
  ["Alt, Shift", "while drawing: off the grid, steps of 15°"],
];

export class Guide {
  constructor(studio) {
    Object.assign(this, { studio, began: false });
    this.box = html("aside", { class: "guide", "aria-label": "First steps", hidden: true });
    studio.canvas.after(this.box);
    studio.overlay.readers.push((layer) => this.draw(layer));
  }

  // another file: only a drawing that begins empty is guided
  restart() {
    this.began = false;
  }

  show() {
    const { drawing, tools } = this.studio;
    if (drawing.bodies.length <= 1 && !drawing.points.length) this.began = true;
    this.box.hidden = !this.began || localStorage.getItem("guide") === "off";
    tools.suggest(this.box.hidden ? "" : STEPS[this.step][0]);
    if (this.box.hidden) return;
    const now = this.step;
    const close = html("button", { type: "button", "aria-label": "Close the guide", title: "Close", onclick: () => this.close() }, "×");
    this.box.replaceChildren(close, html("strong", {}, `A four-bar, ${now + 1} of ${STEPS.length}: `), STEPS[now][1]);
  }

  get step() {
    const now = situation(this.studio.drawing);
    return STEPS.findIndex(([, , isMade]) => !isMade(now));
  }

  // the places of the next step: rings to click, lines to drag
  draw(layer) {
    const { screen, drawing } = this.studio;
    if (this.box.hidden || !drawing || !screen.atRest) return;
    for (const places of STEPS[this.step][3](situation(drawing))) {
      const pixels = places.map((place) => screen.toScreen(place));
      if (pixels.length > 1) svg("path", { class: "suggested", d: `M${pixels.map((pixel) => pixel.join(" ")).join("L")}` }, layer);
      for (const [cx, cy] of pixels) svg("circle", { class: "suggested", cx, cy, r: 11 }, layer);
    }
  }

  close() {
    localStorage.setItem("guide", "off");
    this.show();
    this.studio.overlay.show();
  }

  help() {
    const rows = KEYS.map(([keys, what]) => html("tr", {}, html("th", { scope: "row" }, keys), html("td", {}, what)));
    const box = html("dialog", { class: "ask wide", "aria-label": "Keys" }, html("h2", {}, "Keys"), html("table", { class: "keys" }, ...rows));
    const again = () => {
      localStorage.removeItem("guide");
      this.began = true;
      box.close();
      this.show();
      this.studio.overlay.show();
    };
    box.append(html("div", { class: "buttons" }, html("button", { type: "button", onclick: again }, "First steps"), html("button", { type: "button", class: "main", onclick: () => box.close() }, "Close")));
    box.addEventListener("close", () => box.remove());
    document.body.append(box);
    box.showModal();
  }
}
