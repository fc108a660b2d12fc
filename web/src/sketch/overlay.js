// What lies over the drawing: points that can be grabbed, what is selected, what is being drawn, and marks of messages.

import { Ground } from "./grid.js";

const PIN = 6; // pixels
const DIFFERENT = 2; // pixels: a drawing that is further from what is shown is shown, too

export class Overlay {
  constructor(studio) {
    this.studio = studio;
    this.ground = new Ground();
    this.svg = svg("svg", { class: "overlay", "aria-hidden": "true" });
    this.layers = Object.fromEntries(["ghost", "chosen", "pins", "notes", "reading", "sketch"].map((name) => [name, svg("g", { class: name }, this.svg)]));
    this.cursor = null; // where the keyboard or a tool points to
    this.band = []; // places of what is being drawn
    this.hand = []; // a point of a body that is pulled, and the pointer
    this.readers = []; // draw readings over the motion: functions of a layer
  }

  show() {
    const { screen } = this.studio;
    const box = screen.player.stageBox;
    if (this.svg.parentElement !== box) {
      box.prepend(this.ground.svg);
      box.append(this.svg);
    }
    this.ground.show(screen);
    for (const layer of Object.values(this.layers)) layer.replaceChildren();
    if (screen.atRest) this.showDrawing();
    for (const reader of this.readers) reader(this.layers.reading);
    this.showBand();
  }

  // the drawing, in the pose in which it can be changed

  showDrawing() {
    const { drawing, words } = this.studio;
    if (!drawing) return;
    this.showGhosts(drawing);
    for (const point of drawing.points) this.showPin(point);
    for (const thing of this.studio.selection.all) this.showChosen(thing, drawing);
    for (const { kind, points } of words) if (kind !== "note") for (const place of points) this.ring(place, `word ${kind.replace(" ", "-")}`);
    for (const { kind, of } of drawing.locks) if (kind !== "point") this.showLock(kind, drawing.bodies.find(({ name }) => name === of));
  }

  showPin({ id, x, y, ground, locked, joint }) {
    const [px, py] = this.studio.screen.toScreen([x, y]);
    const kind = `pin${ground ? " grounded" : ""}${locked ? " locked" : ""}${joint ? "" : " free"}`;
    svg("circle", { class: kind, cx: px, cy: py, r: PIN, "data-pin": id }, this.layers.pins);
    if (locked) this.padlock([px + 9, py - 22], this.layers.pins);
  }

  showLock(kind, body) {
    if (!body) return;
    const [x, y] = middle(body.outline.map((place) => this.studio.screen.toScreen(place)));
    this.padlock([x + 6, y - 17], this.layers.notes);
    this.text([x + 20, y - 6], kind, this.layers.notes);
  }

  padlock([x, y], layer) {
    svg("path", { class: "padlock", d: `M${x} ${y + 5}h10v7h-10zM${x + 2} ${y + 5}v-2a3 3 0 0 1 6 0v2` }, layer);
  }

  // bodies that are drawn elsewhere than the assembled mechanism shows them
  showGhosts({ bodies }) {
    const { screen } = this.studio;
    for (const { name, outline, pose } of bodies) {
      const carrier = screen.result.carriers.findIndex((each) => each.name === name);
      if (carrier < 0 || !outline.length || name === "ground") continue;
      const [x, y, phi] = screen.result.pose(carrier, { i: 0, u: 0, h: 0 });
      const size = Math.max(...outline.map((place) => Math.hypot(place[0] - pose[0], place[1] - pose[1])));
      const turn = Math.abs(Math.sin(0.5 * (phi - pose[2]))) * 2;
      if (screen.view.k * (Math.hypot(x - pose[0], y - pose[1]) + size * turn) > DIFFERENT) this.outline(outline, "as-drawn", this.layers.ghost);
    }
  }

  showChosen({ kind, name }, { points, bodies, elements }) {
    const { chosen } = this.layers;
    const { screen } = this.studio;
    if (kind === "point") {
      const point = points.find(({ id }) => id === name);
      if (point) this.ring([point.x, point.y], "chosen", chosen);
    } else if (kind === "body") {
      const body = bodies.find((each) => each.name === name);
      if (body?.outline.length) this.outline(body.outline, "chosen", chosen);
    } else {
      const element = elements.find((each) => each.name === name);
      for (const place of element?.places ?? []) svg("circle", { class: "chosen", cx: screen.toScreen(place)[0], cy: screen.toScreen(place)[1], r: PIN + 5 }, chosen);
    }
  }

  outline(places, kind, layer) {
    const corners = places.map((place) => this.studio.screen.toScreen(place).join(" "));
    svg("path", { class: kind, d: `M${corners.join("L")}${corners.length > 2 ? "Z" : ""}` }, layer);
  }

  ring(place, kind, layer = this.layers.notes) {
    const [cx, cy] = this.studio.screen.toScreen(place);
    svg("circle", { class: kind, cx, cy, r: PIN + 5 }, layer);
  }

  text([x, y], words, layer) {
    svg("text", { x, y, class: "note" }, layer).textContent = words;
  }

  // what is being drawn

  showBand() {
    const { sketch } = this.layers;
    const places = this.band.map((place) => this.studio.screen.toScreen(place));
    if (places.length > 1) svg("path", { class: "band", d: `M${places.map((place) => place.join(" ")).join("L")}` }, sketch);
    if (this.hand.length) svg("path", { class: "hand", d: `M${this.hand.map((place) => this.studio.screen.toScreen(place).join(" ")).join("L")}` }, sketch);
    for (const [cx, cy] of places) svg("circle", { class: "band-point", cx, cy, r: 4 }, sketch);
    if (places.length > 1) this.text([places.at(-1)[0] + 14, places.at(-1)[1] - 10], this.lengthText(), sketch);
    if (!this.cursor) return;
    const [x, y] = this.studio.screen.toScreen(this.cursor.place);
    if (this.cursor.pin) svg("circle", { class: "snap", cx: x, cy: y, r: PIN + 4 }, sketch);
    else svg("path", { class: "cross", d: `M${x - 8} ${y}H${x + 8}M${x} ${y - 8}V${y + 8}` }, sketch);
  }

  lengthText() {
    const [[ax, ay], [bx, by]] = this.band.slice(-2);
    const [unit, factor] = this.studio.screen.result.units.m;
    const turn = (180 / Math.PI) * Math.atan2(by - ay, bx - ax);
    return `${shortNumber(Math.hypot(bx - ax, by - ay) / factor)} ${unit}, ${shortNumber(Number(turn.toFixed(1)))}°`;
  }
}

function middle(places) {
  return [0, 1].map((c) => places.reduce((sum, place) => sum + place[c], 0) / places.length);
}
