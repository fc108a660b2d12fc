// What menus and keys ask for, apart from single edits.

import { toast } from "./dialogs.js";
import { thingMenu } from "./menus.js";

export class Commands {
  constructor(studio) {
    this.studio = studio;
    this.copied = [];
  }

  // a motor, and then it moves
  async motor(where) {
    if (!(await this.studio.edit({ do: "add_driver", ...where }))) return;
    this.studio.tools.take("select");
    this.studio.screen.play();
  }

  // the path of a point, on or off
  trace({ refs, id }) {
    const boxes = [...this.studio.canvas.querySelectorAll(".trace-box")];
    const box = boxes.find(({ value }) => refs.includes(value) && !value.startsWith("ground"));
    if (!box) toast(`${id} has no path: it is fixed, or nothing moves.`);
    else box.click();
  }

  freeBody(name) {
    const { readings } = this.studio;
    readings.freeBody = readings.freeBody === name ? null : name;
    readings.show();
    this.studio.page.showPanel("forces");
  }

  toggleGrid() {
    const { overlay } = this.studio;
    overlay.ground.hasGrid = !overlay.ground.hasGrid;
    overlay.show();
  }

  toggleSnap() {
    const { pointer } = this.studio;
    pointer.snap = !pointer.snap;
    this.studio.say(pointer.snap ? "Places snap to the grid; hold Alt to draw off it." : "Places do not snap to the grid.");
  }

  // selections

  get things() {
    const { drawing } = this.studio;
    if (!drawing) return [];
    const bodies = drawing.bodies.filter(({ ground }) => !ground).map(({ name }) => ({ kind: "body", name }));
    const pins = new Set(drawing.points.map(({ joint }) => joint));
    const elements = drawing.elements.filter(({ name }) => !pins.has(name)).map(({ name }) => ({ kind: "element", name }));
    return [...drawing.points.map(({ id }) => ({ kind: "point", name: id })), ...bodies, ...elements];
  }

  selectAll() {
    this.studio.selection.set(this.things.filter(({ kind }) => kind === "body"));
  }

  selectNext(step) {
    const { things } = this;
    if (!things.length) return;
    const { one } = this.studio.selection;
    const now = one ? things.findIndex(({ name, kind }) => name === one.name && kind === one.kind) : step > 0 ? -1 : 0;
    const next = things[(now + step + things.length) % things.length];
    this.studio.selection.set([next]);
    this.studio.say(`${next.kind} ${next.name}: X opens its menu, arrows move a point.`);
  }

  // of the selection, where it is drawn
  openMenu() {
    const { studio } = this;
    const first = studio.selection.all[0] ?? null;
    const thing = first && studio.thing(first);
    const place = first?.kind === "point" ? [thing.x, thing.y] : thing?.at ?? thing?.pose?.slice(0, 2) ?? studio.keys.place;
    const pixel = studio.screen.toScreen(place);
    const { left, top } = studio.screen.box;
    studio.menu.open(thingMenu(studio, first, studio.pointer.placeAt(pixel)), left + pixel[0] + 12, top + pixel[1]);
  }

  // copies

  get bodies() {
    return this.studio.selection.all.filter(({ kind }) => kind === "body").map(({ name }) => name);
  }

  copy() {
    this.copied = this.bodies;
    this.studio.say(this.copied.length ? `Copied: ${this.copied.join(", ")}.` : "Select the links to copy.");
  }

  paste() {
    if (this.copied.length) this.studio.edit({ do: "copy", elements: this.copied });
  }

  duplicate() {
    this.copy();
    this.paste();
  }
}
