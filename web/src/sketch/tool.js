// What all tools have in common: a gesture is a press, moves and a release, or a click; clicks of two places do as well
// as a drag from one to the other.

export class Tool {
  constructor(studio) {
    this.studio = studio;
  }

  // whether a gesture that begins here is the tool's; else it moves the view
  wants() {
    return true;
  }

  down() {}
  move() {}
  up() {}
  click() {}
  cancel() {}
  double() {}

  hover(place) {
    this.studio.overlay.cursor = place && { place: place.place, pin: place.pin };
  }

  // the first body drawn at a place
  bodyAt({ names }) {
    return this.bodiesAt({ names })[0] ?? null;
  }

  bodiesAt({ names }) {
    const known = new Set(this.studio.drawing?.bodies.filter(({ ground }) => !ground).map(({ name }) => name));
    return names.filter((name) => known.has(name));
  }

  elementAt({ names }) {
    const known = new Set(this.studio.drawing?.elements.map(({ name }) => name));
    return names.find((name) => known.has(name)) ?? null;
  }

  // what an end is fixed to: a point that is there, a place on a body, or a place
  anchor(place) {
    if (place.pin) return place.pin;
    const body = this.bodyAt(place);
    return body ? { body, at: place.place } : place.place;
  }
}

// one click
export class ClickTool extends Tool {
  constructor(studio, act) {
    super(studio);
    this.act = act;
  }

  up(place) {
    this.act(this, place);
  }
}

// from one place to another; where `single`, a click without the other is enough
export class SpanTool extends Tool {
  constructor(studio, act, { single = false } = {}) {
    super(studio);
    Object.assign(this, { act, single, start: null });
  }

  down(place) {
    this.isFirst = !this.start;
    this.start ??= place;
    this.band(place);
  }

  move(place) {
    this.band(this.turned(place));
  }

  hover(place) {
    super.hover(place);
    if (this.start && place) this.band(this.turned(place));
  }

  up(place, moved) {
    if (this.isFirst && !moved && !this.single) return; // the other end comes with the next click
    const { start } = this;
    this.cancel();
    this.act(this, start, moved || !this.isFirst ? this.turned(place, start) : null);
  }

  cancel() {
    this.start = null;
    this.studio.overlay.band = [];
    this.studio.overlay.show();
  }

  band(place) {
    this.studio.overlay.band = [this.start.place, place.place];
    this.studio.overlay.show();
  }

  // with shift, in steps of 15 degrees
  turned(place, start = this.start) {
    if (!place.shift || place.pin || !start) return place;
    const [x, y] = [place.place[0] - start.place[0], place.place[1] - start.place[1]];
    const step = Math.PI / 12;
    const [angle, length] = [Math.round(Math.atan2(y, x) / step) * step, Math.hypot(x, y)];
    const there = [start.place[0] + length * Math.cos(angle), start.place[1] + length * Math.sin(angle)].map((v) => Number(v.toPrecision(9)));
    return { ...place, place: there, point: there };
  }
}

// any number of places, until one of them is chosen again, or Enter
export class ManyTool extends Tool {
  constructor(studio, act) {
    super(studio);
    Object.assign(this, { act, places: [] });
  }

  up(place) {
    const [x, y] = place.pixel;
    const isAgain = this.places.some(({ pixel }) => Math.hypot(pixel[0] - x, pixel[1] - y) < 10);
    if (isAgain) return this.finish();
    this.places.push(place);
    return this.band();
  }

  hover(place) {
    super.hover(place);
    if (place && this.places.length) this.band(place);
  }

  band(place = null) {
    this.studio.overlay.band = [...this.places, ...(place ? [place] : [])].map((each) => each.place);
    this.studio.overlay.show();
  }

  finish() {
    const { places } = this;
    this.cancel();
    if (places.length > 1) this.act(this, places);
  }

  cancel() {
    this.places = [];
    this.studio.overlay.band = [];
    this.studio.overlay.show();
  }
}
