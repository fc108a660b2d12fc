// Reading forces: the largest of every joint and when, those on one body, and what else can be drawn over the motion.

export class ForcesPanel {
  constructor(studio, box) {
    Object.assign(this, { studio, box });
  }

  show() {
    const { peaks, readings } = this.studio;
    if (!readings) return;
    this.box.replaceChildren(
      html("h2", {}, "Largest forces"), peaks.length ? this.table(peaks) : html("p", { class: "quiet" }, "Forces are known where there is a motion or an equilibrium."),
      html("h2", {}, "Over the drawing"), ...readings.switches(),
      ...(readings.freeBody ? [html("h2", {}, `Free body: ${readings.freeBody}`), this.balance()] : []),
    );
  }

  table(peaks) {
    const { N: [force, f], "N m": [torque, m] } = this.studio.screen.result.units;
    const head = ["joint", "on", force, torque, "at, s"].map((word, i) => html("th", { scope: "col", class: i > 1 ? "number" : "" }, word));
    return html("table", { class: "peaks" }, html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...peaks.map((peak) => this.peak(peak, f, m))));
  }

  // all digits are in the title, and the value before the last edit
  peak({ joint, body, force, torque, at }, f, m) {
    const old = this.studio.runs.before?.peaks.find((each) => each.joint === joint);
    const change = old && old.force !== force ? `; before ${old.force / f}` : "";
    const row = html("tr", { tabindex: "0", "data-joint": joint, title: "Show when" },
      html("td", {}, joint), html("td", {}, body),
      html("td", { class: "number", title: `${force / f}${change}`, "data-force": force }, shortNumber(force / f), ...(change ? [html("small", {}, arrowOf(force - old.force))] : [])),
      html("td", { class: "number", title: String(torque / m), "data-torque": torque }, shortNumber(torque / m)),
      html("td", { class: "number", title: String(at) }, String(Number(at.toPrecision(3)))));
    const go = () => this.go(joint, at);
    row.addEventListener("click", go);
    row.addEventListener("keydown", ({ key }) => key === "Enter" && go());
    return row;
  }

  go(joint, t) {
    const { screen, selection, drawing } = this.studio;
    screen.letGo();
    screen.player.pause();
    screen.player.seek(t);
    selection.named(joint, drawing);
  }

  // what acts on the free body at the time that is shown
  balance() {
    this.balanceBox = html("table", { class: "peaks balance" });
    this.showBalance();
    return this.balanceBox;
  }

  showBalance() {
    if (!this.balanceBox?.isConnected && !this.studio.readings.freeBody) return;
    const { N: [force, f], "N m": [torque, m] } = this.studio.screen.result.units;
    const rows = this.studio.readings.loads().map(({ name, fx, fy, torque: moment }) => html("tr", {}, html("td", {}, name), ...[fx / f, fy / f, moment / m].map((value) => html("td", { class: "number" }, shortNumber(value)))));
    this.balanceBox?.replaceChildren(html("tr", {}, ...["", `x, ${force}`, `y, ${force}`, torque].map((word) => html("th", {}, word))), ...rows);
  }
}

const arrowOf = (change) => (change > 0 ? " ↑" : " ↓");
