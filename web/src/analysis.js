// What is computed after each edit: the file's own analysis, or another one to try.

const KINDS = { "": "as it can move", kinematics: "kinematics", dynamics: "dynamics", inverse_dynamics: "inverse dynamics", equilibrium: "equilibrium", modes: "modes" };

export class AnalysisMenu {
  constructor(studio, menu) {
    Object.assign(this, { studio, menu, asked: null });
    menu.append(...Object.entries(KINDS).map(([value, word]) => html("option", { value }, word)));
    this.end = html("input", { type: "text", inputmode: "decimal", class: "until", "aria-label": "Until what time", title: "Until what time, in seconds" });
    this.until = html("label", { class: "until-label" }, "until", this.end, "s");
    this.mode = html("select", { class: "mode", "aria-label": "Mode", title: "Which mode swings", hidden: true });
    menu.after(this.until, this.mode);
    menu.addEventListener("change", () => this.take(menu.value));
    this.mode.addEventListener("change", () => this.ask({ kind: "modes", mode: Number(this.mode.value) }));
    this.end.addEventListener("change", () => this.setEnd(this.end.value.trim()));
  }

  take(kind) {
    return this.ask(kind ? { kind } : null);
  }

  async ask(asked) {
    this.asked = asked;
    const wasStill = !this.studio.screen.player.moves;
    await this.studio.look();
    if (wasStill || asked?.kind === "modes") this.studio.screen.play();
  }

  // the end is written into the file, unless another analysis than the file's is being tried
  setEnd(text) {
    if (this.asked) return this.ask({ ...this.asked, t_end: Number(text) });
    const { used } = this.studio;
    if (/^analysis:/m.test(this.studio.editor.text)) return this.studio.edit({ do: "set_field", element: "analysis", field: "t_end", text });
    return this.studio.edit({ do: "set_analysis", analysis: { kind: used?.kind ?? "dynamics", t_end: Number(text) } });
  }

  // what was run
  show(used) {
    const isMode = used?.kind === "modes";
    const why = /^analysis:/m.test(this.studio.editor.text) ? "as in the file" : "as it can move";
    this.menu.options[0].textContent = used && !this.asked ? `${KINDS[used.kind] ?? used.kind} (${why})` : why;
    this.until.hidden = used?.t_end === undefined;
    if (document.activeElement !== this.end) this.end.value = used?.t_end ?? "";
    this.mode.hidden = !isMode;
    if (!isMode) return;
    this.mode.replaceChildren(...used.frequencies.map((hertz, i) => html("option", { value: i, selected: i === used.mode }, `${i + 1}: ${shortNumber(hertz)} Hz`)));
  }
}
