// The keyboard: tools by letters, a cursor on the grid by arrows, and the usual combinations.

import { gridStep } from "./sketch/grid.js";

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

export class Keys {
  constructor(studio, document) {
    Object.assign(this, { studio, place: [0, 0] });
    document.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    if (document.querySelector("dialog[open]")) return;
    const isDone = event.ctrlKey || event.metaKey ? this.combination(event) : this.plain(event);
    if (isDone) event.preventDefault();
  }

  // Ctrl and a letter; undo and copy inside a field are the field's own
  combination(event) {
    const { studio } = this;
    const key = event.key.toLowerCase();
    const own = event.target.closest("input, textarea, .cm-editor");
    const always = { s: () => (event.shiftKey ? studio.files.saveAs() : studio.files.save()), o: () => studio.page.open() };
    const drawing = {
      z: () => (event.shiftKey ? studio.redo() : studio.undo()), y: () => studio.redo(),
      a: () => studio.commands.selectAll(), c: () => studio.commands.copy(), v: () => studio.commands.paste(), d: () => studio.commands.duplicate(),
    };
    const act = always[key] ?? (own ? null : drawing[key]);
    act?.();
    return Boolean(act);
  }

  plain(event) {
    if (event.altKey || event.target.closest("input:not([type=checkbox]), textarea, select, .cm-editor, [role=menu]")) return false;
    const isButton = Boolean(event.target.closest("button, summary, input"));
    if (isButton && ["Enter", " "].includes(event.key)) return false;
    const act = ARROWS[event.key] ? this.arrow(event) : this.actions(event)[event.key];
    if (act) {
      act();
      return true;
    }
    const tool = event.key.length === 1 && this.studio.tools.byKey(event.key.toLowerCase());
    if (tool) this.studio.tools.take(tool);
    return Boolean(tool);
  }

  actions({ target, shiftKey }) {
    const { studio } = this;
    const { screen } = studio;
    return {
      " ": () => screen.toggle(),
      Escape: () => this.escape(),
      Delete: () => studio.remove(),
      Backspace: () => studio.remove(),
      Enter: target === studio.canvas ? () => this.click(shiftKey) : null,
      Home: () => screen.rest(),
      "+": () => screen.zoomBy(1.25),
      "=": () => screen.zoomBy(1.25),
      "-": () => screen.zoomBy(0.8),
      0: () => screen.fit(),
      "?": () => studio.guide.help(),
      n: () => studio.commands.selectNext(1),
      N: () => studio.commands.selectNext(-1),
      x: () => studio.commands.openMenu(),
      ContextMenu: () => studio.commands.openMenu(),
    };
  }

  // back to the drawing, in steps
  escape() {
    const { studio } = this;
    if (studio.tools.name !== "select") studio.tools.take("select");
    else if (!studio.screen.atRest) studio.screen.rest();
    else studio.selection.clear();
    studio.tools.tool.cancel();
    studio.overlay.cursor = null;
    studio.overlay.show();
  }

  // a selected point moves by a step of the grid; else the cursor does
  arrow(event) {
    if (event.target !== this.studio.canvas) return null;
    const step = gridStep(this.studio.screen.view) * (event.shiftKey ? 0.1 : 1);
    const [dx, dy] = ARROWS[event.key].map((part) => part * step);
    const { one } = this.studio.selection;
    const point = this.studio.tools.name === "select" && one?.kind === "point" && this.studio.thing(one);
    if (point) return () => this.studio.edit({ do: "move_point", point: point.id, to: [tidy(point.x + dx), tidy(point.y + dy)] });
    return () => this.moveCursor([tidy(this.place[0] + dx), tidy(this.place[1] + dy)]);
  }

  moveCursor(place) {
    const { studio } = this;
    if (!studio.screen.atRest) studio.screen.rest();
    this.place = place;
    studio.tools.hover(this.pointed(false));
    const { pin } = studio.overlay.cursor ?? {};
    studio.say(`${studio.tools.all.get(studio.tools.name).word} at ${place.join(", ")}${pin ? `: ${pin}` : ""}`);
    studio.overlay.cursor ??= { place, pin: null };
    studio.overlay.show();
  }

  // where the cursor points to, as if a mouse were there
  pointed(shift) {
    const { screen, pointer } = this.studio;
    const pixel = screen.toScreen(this.place);
    const { left, top } = screen.box;
    return pointer.placeAt(pixel, { shift, event: { clientX: left + pixel[0], clientY: top + pixel[1] } });
  }

  click(shift) {
    const { tools: { tool }, overlay: { cursor } } = this.studio;
    const isHere = ({ place }) => place[0] === this.place[0] && place[1] === this.place[1];
    const byMouse = cursor && !isHere(cursor); // Enter then only ends what the mouse began
    if (tool.places?.length && (byMouse || tool.places.some(isHere))) {
      tool.finish();
      return;
    }
    const place = this.pointed(shift);
    if (this.studio.tools.name === "select") {
      tool.click(place);
      return;
    }
    tool.down(place);
    tool.up(place, false);
  }
}

const tidy = (value) => Number(value.toPrecision(9));
