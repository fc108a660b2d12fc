// Mouse, pen and fingers on the drawing: where they point to, and what a tool makes of it.

import { gridStep, snapped } from "./grid.js";

const NEAR = 12; // pixels within which a point is meant
const NEAR_FINGER = 24;
const STILL = 4; // pixels that a click may move
const LONG = 600; // milliseconds of a long press

export class Pointer {
  constructor(studio, canvas) {
    Object.assign(this, { studio, canvas, fingers: new Map(), active: null, snap: true });
    const on = (kind, act) => canvas.addEventListener(kind, act, true);
    on("pointerdown", (event) => this.down(event));
    on("pointermove", (event) => this.move(event));
    on("pointerup", (event) => this.up(event));
    on("pointercancel", (event) => this.cancel(event));
    on("pointerleave", () => this.leave());
    on("dblclick", (event) => this.onStage(event) && this.double(event));
    on("contextmenu", (event) => this.onStage(event) && this.menu(event));
  }

  onStage(event) {
    return Boolean(event.target.closest?.(".stage-box"));
  }

  // where a pointer points to: a point that is there, or a place on the grid
  placeOf(event) {
    const { screen } = this.studio;
    return this.placeAt(screen.local(event), { touch: event.pointerType === "touch", free: event.altKey, shift: event.shiftKey, event });
  }

  placeAt(pixel, { touch = false, free = false, shift = false, event = null } = {}) {
    const { screen } = this.studio;
    const exact = screen.toWorld(pixel);
    const pin = this.pinNear(pixel, touch ? NEAR_FINGER : NEAR);
    const place = pin ? [pin.x, pin.y] : this.gridded(exact, free);
    const names = event ? screen.namesAt(event.clientX, event.clientY) : [];
    return { pixel, exact, place, pin: pin?.id ?? null, names, shift, point: pin?.id ?? place };
  }

  // on the grid; off it, a hundredth of it is as fine as anyone draws
  gridded(exact, free) {
    const step = gridStep(this.studio.screen.view);
    return snapped(exact, this.snap && !free ? step : step / 100);
  }

  pinNear([px, py], near) {
    const { screen, drawing } = this.studio;
    if (!drawing || !screen.atRest) return null;
    const distances = drawing.points.map((point) => {
      const [x, y] = screen.toScreen([point.x, point.y]);
      return [Math.hypot(x - px, y - py), point];
    });
    const [best] = distances.sort((a, b) => a[0] - b[0]);
    return best && best[0] <= near ? best[1] : null;
  }

  // gestures

  down(event) {
    if (!this.onStage(event)) return;
    this.canvas.focus({ preventScroll: true });
    this.studio.menu.close();
    if (event.pointerType === "touch" && this.pinch(event)) return;
    if (event.button !== 0) return;
    const { tool } = this.studio.tools;
    const place = this.placeOf(event);
    const timer = event.pointerType === "touch" ? setTimeout(() => this.longPress(event), LONG) : 0;
    this.active = { id: event.pointerId, from: place.pixel, moved: false, timer, passive: !tool.wants(place) };
    if (this.active.passive) return;
    event.stopPropagation();
    event.preventDefault();
    this.canvas.setPointerCapture(event.pointerId);
    tool.down(place);
  }

  move(event) {
    if (this.pinching(event)) return;
    const { active } = this;
    if (!active || active.id !== event.pointerId) {
      if (this.onStage(event) && event.pointerType !== "touch") this.studio.tools.hover(this.placeOf(event));
      return;
    }
    const place = this.placeOf(event);
    const moved = Math.hypot(place.pixel[0] - active.from[0], place.pixel[1] - active.from[1]) > STILL;
    active.moved ||= moved;
    if (active.moved) clearTimeout(active.timer);
    if (active.passive) return;
    event.stopPropagation();
    if (!active.moved) return;
    this.studio.tools.tool.move(place);
  }

  up(event) {
    this.fingers.delete(event.pointerId);
    const { active } = this;
    if (!active || active.id !== event.pointerId) return;
    this.active = null;
    clearTimeout(active.timer);
    if (active.passive) {
      if (!active.moved) this.studio.tools.tool.click(this.placeOf(event));
      return;
    }
    event.stopPropagation();
    this.studio.tools.tool.up(this.placeOf(event), active.moved);
  }

  cancel(event) {
    this.fingers.delete(event.pointerId);
    if (this.active?.id === event.pointerId) this.give();
  }

  // the gesture is none of a tool
  give() {
    if (!this.active) return;
    clearTimeout(this.active.timer);
    if (!this.active.passive) this.studio.tools.tool.cancel();
    this.active = null;
  }

  leave() {
    if (!this.active) this.studio.tools.hover(null);
  }

  double(event) {
    event.stopPropagation(); // the stage would fit
    this.studio.tools.tool.double(this.placeOf(event));
  }

  menu(event) {
    event.preventDefault();
    event.stopPropagation();
    this.give();
    this.studio.openMenu(this.placeOf(event), event.clientX, event.clientY);
  }

  longPress(event) {
    this.give();
    this.studio.openMenu(this.placeOf(event), event.clientX, event.clientY);
  }

  // two fingers move and zoom the view, whatever the tool

  pinch(event) {
    this.fingers.set(event.pointerId, [event.clientX, event.clientY]);
    if (this.fingers.size < 2) return false;
    event.stopPropagation();
    this.give();
    return true;
  }

  pinching(event) {
    if (!this.fingers.has(event.pointerId)) return false;
    const before = this.spread();
    this.fingers.set(event.pointerId, [event.clientX, event.clientY]);
    if (this.fingers.size !== 2) return this.fingers.size > 2;
    event.stopPropagation();
    const after = this.spread();
    const { screen } = this.studio;
    screen.panBy(after.x - before.x, after.y - before.y);
    screen.zoomBy(after.size / Math.max(1, before.size), screen.local({ clientX: after.x, clientY: after.y }));
    return true;
  }

  spread() {
    const [a, b = a] = [...this.fingers.values()];
    return { x: (a[0] + b[0]) / 2, y: (a[1] + b[1]) / 2, size: Math.hypot(a[0] - b[0], a[1] - b[1]) };
  }
}
