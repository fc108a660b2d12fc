// The form of what is selected, field by field as the text writes it; where nothing is, the model's parameters.

const HIDDEN = ["points", "through", "corners"];

export class FormPanel {
  constructor(studio, box) {
    Object.assign(this, { studio, box, sliding: false });
  }

  // written anew after each edit; the field that had the keyboard keeps it
  show() {
    if (this.sliding || !this.studio.drawing) return;
    const field = this.box.contains(document.activeElement) ? document.activeElement.dataset.field : null;
    const { one, all } = this.studio.selection;
    const content = one ? this.thing(one) : all.length ? this.several(all) : this.model();
    this.box.replaceChildren(...content);
    if (field) this.box.querySelector(`[data-field="${CSS.escape(field)}"]`)?.focus();
  }

  // rows

  row(label, value, change, { field = label, unit = "", hint = "" } = {}) {
    const input = html("input", { type: "text", value, spellcheck: "false", autocomplete: "off", "data-field": field, title: hint });
    input.addEventListener("change", () => change(input.value.trim()));
    input.addEventListener("keydown", ({ key }) => {
      if (key === "Escape") input.value = value;
      if (["Escape", "Enter"].includes(key)) this.studio.canvas.focus(); // the keys are the drawing's again
    });
    return html("label", { class: "row" }, html("span", {}, label), input, html("i", {}, unit));
  }

  number(label, si, kind, change) {
    const [unit, factor] = this.studio.screen.result.units[kind] ?? [kind, 1];
    return this.row(label, digits(si / factor), (text) => change(Number(text) * factor), { unit });
  }

  // things

  thing(one) {
    const thing = this.studio.thing(one);
    if (!thing) return [];
    const rows = { point: () => this.point(thing), body: () => this.body(thing), element: () => this.element(thing) }[one.kind]();
    return [html("h2", {}, one.name), ...rows, this.buttons()];
  }

  several(all) {
    return [html("h2", {}, `${all.length} selected`), html("p", {}, all.map(({ name }) => name).join(", ")), this.buttons()];
  }

  buttons() {
    const { studio } = this;
    return html("div", { class: "buttons" },
      html("button", { type: "button", onclick: () => studio.commands.openMenu() }, "More …"),
      html("button", { type: "button", onclick: () => studio.remove() }, "Delete"));
  }

  point({ id, x, y, refs, kind, joint, bodies }) {
    const move = (to) => this.studio.edit({ do: "move_point", point: id, to });
    const element = joint && this.studio.drawing.elements.find(({ name }) => name === joint);
    return [
      html("p", { class: "quiet" }, kind ? `${kind} of ${bodies.join(", ")}` : `point ${refs.join(", ")}`),
      this.number("x", x, "m", (value) => move([value, y])),
      this.number("y", y, "m", (value) => move([x, value])),
      ...(element ? this.fields(element) : []),
    ];
  }

  body(body) {
    const { name, shape, mass, inertia } = body;
    const [unit, factor] = this.studio.screen.result.units.m;
    const own = shape === "bar" ? [
      this.row("length", digits(body.length / factor), (text) => this.studio.edit({ do: "set_length", body: name, length: Number(text) * factor }), { unit }),
      this.row("angle", digits((180 / Math.PI) * body.angle), (text) => this.studio.edit({ do: "set_angle", body: name, angle: (Number(text) * Math.PI) / 180 }), { unit: "°" }),
    ] : [];
    return [html("p", { class: "quiet" }, `${shape ?? "body"}, ${shortNumber(mass)} kg, ${shortNumber(inertia)} kg m²`), ...own, ...this.fields(body)];
  }

  element(element) {
    return [html("p", { class: "quiet" }, `${element.type} of ${element.bodies.join(", ")}`), ...this.fields(element)];
  }

  // as the text writes them, and those that could be written
  fields({ name, editable, type, shape }) {
    const record = this.studio.completer.recordOf({ section: shape !== undefined ? "bodies" : "joints", type, shape });
    const set = (field) => (text) => this.studio.edit({ do: "set_field", element: name, field, text });
    const hint = (field) => record?.properties?.[field]?.description ?? "";
    const rows = Object.entries(editable).filter(([field]) => !HIDDEN.includes(field)).map(([field, text]) => this.row(field, text, set(field), { field: `text ${field}`, hint: hint(field) }));
    const others = Object.keys(record?.properties ?? {}).filter((field) => !(field in editable) && !HIDDEN.includes(field));
    return [...rows, ...(others.length ? [this.more(others, set, hint)] : [])];
  }

  more(fields, set, hint) {
    const menu = html("select", { "aria-label": "Another field" }, html("option", { value: "" }, "another field …"), ...fields.map((field) => html("option", { value: field, title: hint(field) }, field)));
    const box = html("div", { class: "more" }, menu);
    menu.addEventListener("change", () => {
      const row = this.row(menu.value, "", set(menu.value), { field: `text ${menu.value}`, hint: hint(menu.value) });
      box.before(row);
      row.querySelector("input").focus();
      menu.value = "";
    });
    return box;
  }

  // the model

  model() {
    const { parameters } = this.studio;
    const intro = parameters.length ? "Sliders try a value; letting go writes it." : "Select a link, a joint or a force to change its numbers. Parameters of the text appear here as sliders.";
    return [html("h2", {}, "Parameters"), html("p", { class: "quiet" }, intro), ...parameters.map((parameter) => this.parameter(parameter))];
  }

  parameter({ name, value, low, high, text, unit }) {
    const set = (given) => this.studio.edit({ do: "set_parameter", name, value: given });
    const row = this.row(name, text, set, { field: `parameter ${name}`, unit: low === null && value !== null ? `= ${shortNumber(value)}` : unit });
    if (low === null) return row;
    const slider = html("input", { type: "range", min: low, max: high, step: (high - low) / 200, value, "aria-label": name, "data-parameter": name });
    slider.addEventListener("input", () => this.slide(name, Number(slider.value), row));
    slider.addEventListener("change", () => this.settle(name, Number(slider.value)));
    return html("div", { class: "parameter-row" }, row, slider);
  }

  slide(name, value, row) {
    this.sliding = true;
    this.studio.values = { ...this.studio.values, [name]: value };
    row.querySelector("input").value = digits(value);
    this.studio.look();
  }

  async settle(name, value) {
    await this.studio.edit({ do: "set_parameter", name, value: Number(value.toPrecision(6)) });
    this.sliding = false;
    this.studio.values = {};
    this.studio.look();
  }
}

const digits = (value) => String(Number(value.toPrecision(9)));
