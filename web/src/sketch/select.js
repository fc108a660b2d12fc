// Select, drag points, and pull the mechanism.

import { Tool } from "./tool.js";
import { Pull } from "./pull.js";

export class SelectTool extends Tool {
  wants(place) {
    return Boolean(place.pin || this.bodyAt(place) || this.elementAt(place));
  }

  hover() {
    this.studio.overlay.cursor = null;
  }

  // what a click means: a point, else a body, else another element
  thingAt(place) {
    if (place.pin) return { kind: "point", name: place.pin };
    const [element, body] = [this.elementAt(place), this.bodyAt(place)];
    if (element && (!body || place.names.indexOf(element) < place.names.indexOf(body))) return { kind: "element", name: element };
    return body ? { kind: "body", name: body } : null;
  }

  down(place) {
    this.start = place;
    this.drag = null;
  }

  move(place) {
    this.drag ??= this.begin(this.start);
    this.drag?.to(place);
  }

  begin(place) {
    if (place.pin) return new PinDrag(this.studio, place.pin);
    const body = this.bodyAt(place);
    return body ? new Pull(this.studio, body, place) : null;
  }

  up(place, moved) {
    if (!moved) return this.click(this.start);
    this.drag?.end();
    this.drag = null;
    return undefined;
  }

  click(place) {
    this.studio.selection.pick(this.thingAt(place), place.shift);
  }

  cancel() {
    this.drag?.end();
    this.drag = null;
  }

  // a double click opens the form
  double(place) {
    if (this.thingAt(place)) this.studio.readPanel("model");
    else this.studio.screen.fit();
  }
}

// a point in the hand: the text follows, the picture too, and all of it is one step of undo
class PinDrag {
  constructor(studio, pin) {
    Object.assign(this, { studio, pin, base: studio.editor.text, text: null, wanted: null, busy: null });
    studio.dragging = true;
  }

  to(place) {
    this.wanted = place.place;
    this.studio.overlay.cursor = { place: place.place, pin: null };
    this.busy ??= this.follow();
  }

  async follow() {
    while (this.wanted) {
      const to = this.wanted;
      this.wanted = null;
      const answer = await this.studio.tryEdit(this.base, { do: "move_point", point: this.pin, to });
      if (!answer) continue;
      this.text = answer.text;
      this.studio.editor.preview(answer.text);
      await this.studio.looked();
    }
    this.busy = null;
  }

  async end() {
    await this.busy;
    this.studio.dragging = false;
    this.studio.overlay.cursor = null;
    if (this.text !== null) this.studio.editor.settle(this.text);
    this.studio.overlay.show();
  }
}
