// The tools: what each is called, which key takes it, and which edit of the text it makes.

import { askText } from "../dialogs.js";
import { gridStep } from "./grid.js";
import { icon } from "./icons.js";
import { SelectTool } from "./select.js";
import { ClickTool, ManyTool, SpanTool } from "./tool.js";

const ends = (tool, a, b) => [tool.anchor(a), tool.anchor(b)];
const vector = (a, b) => [b.place[0] - a.place[0], b.place[1] - a.place[1]];

// a force of a newton for each square of the grid
function forceOf(studio, from, to) {
  const step = gridStep(studio.screen.view);
  return vector(from, to).map((part) => Number((part / step).toPrecision(6)));
}

function addPoint(tool, place) {
  const { studio } = tool;
  const bodies = tool.bodiesAt(place);
  if (place.pin) return studio.say(`There is a point already: ${place.pin}.`);
  if (!bodies.length) return studio.edit({ do: "add_ground", point: place.place });
  return studio.edit({ do: "add_point", bodies: bodies.slice(0, 2), at: place.place });
}

function addSlider(tool, from, to) {
  const pin = tool.studio.drawing.points.find(({ id }) => id === from.pin);
  const carrier = tool.bodiesAt(from).find((name) => pin && !pin.bodies.includes(name));
  const direction = to && Math.hypot(...vector(from, to)) > 0 ? vector(from, to) : [1, 0];
  return tool.studio.edit({ do: "add_slider", point: from.point, direction, roller: from.shift || Boolean(carrier), ...(carrier ? { on: carrier } : {}) });
}

// of a point that slides in a guide, the guide is driven; of another pin, its angle
function drivenBy(studio, pin) {
  const slides = ({ type, bodies, refs }) => (type === "Translational" && bodies.some((name) => name !== "ground" && pin.bodies.includes(name))) || (type === "PinSlot" && refs.some((ref) => pin.refs.includes(ref)));
  const guide = pin.ground ? null : studio.drawing.elements.find(slides);
  return guide?.name ?? pin.joint;
}

function addDriver(tool, place) {
  const { studio } = tool;
  const pin = studio.drawing.points.find(({ id }) => id === place.pin);
  const body = tool.bodyAt(place) ?? pin?.bodies.find((name) => name !== "ground");
  if (pin?.joint) return studio.commands.motor({ joint: drivenBy(studio, pin) });
  return body ? studio.commands.motor({ body }) : studio.say("A motor drives a joint or a body: click a pin, a slider or a link.");
}

function addTorque(tool, place) {
  const pin = tool.studio.drawing.points.find(({ id }) => id === place.pin);
  const body = tool.bodyAt(place) ?? pin?.bodies.find((name) => name !== "ground");
  return body ? tool.studio.edit({ do: "add_torque", body }) : tool.studio.say("A torque acts on a body: click a link.");
}

function addForce(tool, from, to) {
  const point = tool.anchor(from);
  if (Array.isArray(point)) return tool.studio.say("A force acts on a body: begin at a point of a link, or on it.");
  return tool.studio.edit({ do: "add_force", point, ...(to ? { force: forceOf(tool.studio, from, to) } : {}) });
}

async function scalePicture(tool, a, b) {
  const { studio } = tool;
  const [unit, factor] = studio.screen.result.units.m;
  const given = await askText("Scale the picture", `Length between the two places, in ${unit}`, "1");
  if (given) await studio.edit({ do: "scale_picture", points: [a.exact, b.exact], length: Number(given) * factor });
  studio.tools.take("select");
}

const spring = (verb) => (tool, a, b) => {
  const [from, to] = ends(tool, a, b);
  return tool.studio.edit({ do: verb, a: from, b: to });
};

// name, key, word, what to do, and how it is made
const TOOLS = [
  ["select", "v", "Select", "Click to select, drag a point to move it, drag a link to pull the mechanism, drag the paper to move the view.", (s) => new SelectTool(s)],
  ["link", "l", "Link", "Drag from point to point, or click both. Ends on a point or a link are joined by a pin. Shift: steps of 15°, Alt: off the grid.", (s) => new SpanTool(s, (tool, a, b) => tool.studio.edit({ do: "add_link", points: ends(tool, a, b) }))],
  ["plate", "p", "Plate", "Click three or more points; click the last one again, or press Enter, to finish.", (s) => new ManyTool(s, (tool, places) => tool.studio.edit({ do: "add_plate", points: places.map((place) => tool.anchor(place)) }))],
  ["point", "j", "Point", "Click where two links cross to pin them together, a link for a point of it, the paper for a point of the ground.", (s) => new ClickTool(s, addPoint)],
  ["ground", "g", "Ground", "Click a point to hold it by a pin in the ground, or the paper for a support.", (s) => new ClickTool(s, (tool, place) => tool.studio.edit({ do: "add_ground", point: place.point }))],
  ["slider", "s", "Slider", "Click a point for a block that slides along x, or drag in its direction. Shift: only a roller in a slot.", (s) => new SpanTool(s, addSlider, { single: true })],
  ["gear", "e", "Gears", "Drag from center to center: two wheels in mesh.", (s) => new SpanTool(s, (tool, a, b) => tool.studio.edit({ do: "add_gears", a: a.point, b: b.point }))],
  ["spring", "k", "Spring", "Drag from point to point.", (s) => new SpanTool(s, spring("add_spring"))],
  ["damper", "d", "Damper", "Drag from point to point.", (s) => new SpanTool(s, spring("add_damper"))],
  ["motor", "m", "Motor", "Click a pin or a slider: it is driven, and the mechanism moves.", (s) => new ClickTool(s, addDriver)],
  ["force", "f", "Force", "Drag from a point in the direction of the force: one newton for each square of the grid.", (s) => new SpanTool(s, addForce, { single: true })],
  ["torque", "t", "Torque", "Click a link: 1 N m turns it; change the number in its form.", (s) => new ClickTool(s, addTorque)],
  ["scale", "", "Scale the picture", "Click two places of the picture whose distance you know.", (s) => new SpanTool(s, scalePicture)],
];

export class Tools {
  constructor(studio, bar) {
    this.studio = studio;
    this.all = new Map(TOOLS.map(([name, key, word, hint, make]) => [name, { name, key, word, hint, tool: make(studio) }]));
    this.buttons = new Map([...this.all.values()].map(({ name, key, word, hint }) => [name, html("button", {
      type: "button", class: "tool", "data-tool": name, "aria-pressed": "false", title: `${word} (${key.toUpperCase()}): ${hint}`, onclick: () => this.take(name),
    }, ...(key ? [icon(name)] : []), html("span", {}, word))]));
    bar.append(...[...this.buttons.values()].filter((button) => button.dataset.tool !== "scale"));
    this.take("select");
  }

  get tool() {
    return this.all.get(this.name).tool;
  }

  take(name) {
    if (this.name) this.tool.cancel();
    this.name = name;
    for (const [each, button] of this.buttons) button.setAttribute("aria-pressed", String(each === name));
    this.buttons.get(name).classList.remove("suggested");
    this.studio.canvas.dataset.tool = name;
    if (name !== "select") this.studio.screen.rest();
    this.studio.say(this.all.get(name).hint);
  }

  // the tool that a beginner takes next
  suggest(name) {
    for (const [each, button] of this.buttons) button.classList.toggle("suggested", each === name && each !== this.name);
  }

  byKey(key) {
    return [...this.all.values()].find((each) => each.key === key)?.name;
  }

  hover(place) {
    this.tool.hover(place);
    this.studio.overlay.show();
  }
}
