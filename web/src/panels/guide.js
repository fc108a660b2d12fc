// Help: the keys, and a first mechanism in five steps on the empty drawing.

const STEPS = [
  ["Take Ground (G) and click two places: the supports.", ({ points }) => points.filter(({ ground }) => ground).length >= 2],
  ["Take Link (L) and drag from a support to where the crank ends.", ({ bodies }) => bodies.length >= 2],
  ["Two more links: from the end of the crank across, and down to the other support.", ({ bodies, points }) => bodies.length >= 4 && points.filter(({ joint }) => joint).length >= 4],
  ["Take Motor (M) and click the first support.", ({ elements }) => elements.some(({ kind }) => kind === "driver")],
  ["It moves. Press Escape to draw on, Space to play; read Forces and Plots at the right.", () => false],
];
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
  }

  // only on a drawing that began empty
  show() {
    const { drawing } = this.studio;
    if (drawing.bodies.length <= 1 && !drawing.points.length) this.began = true;
    this.box.hidden = !this.began || localStorage.getItem("guide") === "off";
    if (this.box.hidden) return;
    const now = STEPS.findIndex(([, isMade]) => !isMade(drawing));
    const close = html("button", { type: "button", "aria-label": "Close the guide", title: "Close", onclick: () => this.close() }, "×");
    this.box.replaceChildren(close, html("strong", {}, `A four-bar, ${now + 1} of ${STEPS.length}: `), STEPS[now][0]);
  }

  close() {
    localStorage.setItem("guide", "off");
    this.box.hidden = true;
  }

  help() {
    const rows = KEYS.map(([keys, what]) => html("tr", {}, html("th", { scope: "row" }, keys), html("td", {}, what)));
    const box = html("dialog", { class: "ask wide", "aria-label": "Keys" }, html("h2", {}, "Keys"), html("table", { class: "keys" }, ...rows));
    const again = () => {
      localStorage.removeItem("guide");
      box.close();
      this.show();
    };
    box.append(html("div", { class: "buttons" }, html("button", { type: "button", onclick: again }, "First steps"), html("button", { type: "button", class: "main", onclick: () => box.close() }, "Close")));
    box.addEventListener("close", () => box.remove());
    document.body.append(box);
    box.showModal();
  }
}
