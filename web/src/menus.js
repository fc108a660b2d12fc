// What a right click offers, by what is under the pointer.

import { askText } from "./dialogs.js";

const JOINTS = { Revolute: "Pin", Fixed: "Weld", Translational: "Slider (guide)", PinSlot: "Pin in a slot" };

export function thingMenu(studio, thing, place) {
  if (!thing) return paperMenu(studio, place);
  if (studio.selection.all.length > 1) return severalMenu(studio);
  return { point: pointMenu, body: bodyMenu, element: elementMenu }[thing.kind](studio, studio.thing(thing), place);
}

function paperMenu(studio, place) {
  const point = place.place;
  return [
    ["Ground here", () => studio.edit({ do: "add_ground", point })],
    ["Slider here", () => studio.edit({ do: "add_slider", point })],
    null,
    [studio.overlay.ground.hasGrid ? "Hide the grid" : "Show the grid", () => studio.commands.toggleGrid()],
    [studio.pointer.snap ? "Do not snap to the grid" : "Snap to the grid", () => studio.commands.toggleSnap()],
    ["Picture behind the drawing …", () => studio.picture.choose(point)],
    ...(studio.overlay.ground.picture ? [["Scale the picture by two clicks …", () => studio.tools.take("scale")], ["Remove the picture", () => studio.edit({ do: "set_picture" })]] : []),
    null,
    ["Show all", () => studio.screen.fit()],
  ];
}

function pointMenu(studio, point) {
  const { id, joint, kind, ground, locked } = point;
  const edit = (edit) => () => studio.edit(edit);
  return [
    [id],
    ...(ground ? [] : [["Hold by the ground", edit({ do: "add_ground", point: id })], ["Slider", edit({ do: "add_slider", point: id })], ["Roller in a slot", edit({ do: "add_slider", point: id, roller: true })]]),
    ...(joint ? [["Motor", () => studio.commands.motor({ joint })]] : []),
    ...(point.bodies.some((body) => body !== "ground") ? [["Force", edit({ do: "add_force", point: id })]] : []),
    ["Trace its path", () => studio.commands.trace(point)],
    null,
    ...(joint ? [["Joint type"], ...typeEntries(studio, joint, kind), null] : []),
    [locked ? "Unlock the point" : "Lock the point", edit({ do: locked ? "unlock" : "lock", kind: "point", of: id })],
    ["Place …", () => placeAt(studio, point)],
    ["Delete", () => studio.remove()],
  ];
}

const typeEntries = (studio, joint, kind) => Object.entries(JOINTS).map(([type, word]) => [`${type === kind ? "● " : "○ "}${word}`, () => studio.edit({ do: "set_joint_type", joint, type })]);

async function placeAt(studio, { id, x, y }) {
  const [, factor] = studio.screen.result.units.m;
  const given = await askText(`Place of ${id}`, "x, y", `${Number((x / factor).toPrecision(9))}, ${Number((y / factor).toPrecision(9))}`);
  const to = given?.split(/[ ,;]+/).map((part) => Number(part) * factor);
  if (to) await studio.edit({ do: "move_point", point: id, to });
}

function bodyMenu(studio, body, place) {
  const { name } = body;
  const locks = studio.drawing.locks.filter(({ of }) => of === name).map(({ kind }) => kind);
  const edit = (edit) => () => studio.edit(edit);
  const lock = (kind) => [`${locks.includes(kind) ? "Unlock" : "Lock"} its ${kind}`, edit({ do: locks.includes(kind) ? "unlock" : "lock", kind, of: name })];
  return [
    [name],
    ["Motor", () => studio.commands.motor({ body: name })],
    ["Torque", edit({ do: "add_torque", body: name })],
    ["Force here", edit({ do: "add_force", point: { body: name, at: place.place } })],
    ["Point here", edit({ do: "add_point", bodies: [name], at: place.place })],
    ["Free-body diagram", () => studio.commands.freeBody(name)],
    null,
    ...(body.shape === "bar" ? [lock("length")] : []),
    lock("angle"),
    ...copies(studio, [name]),
    ["Delete", () => studio.remove()],
  ];
}

// of all that is selected
function severalMenu(studio) {
  const { bodies } = studio.commands;
  return [[`${studio.selection.all.length} selected`], ...(bodies.length ? copies(studio, bodies) : []), ["Delete", () => studio.remove()]];
}

function copies(studio, elements) {
  const edit = (more) => () => studio.edit({ elements, ...more });
  return [["Copy", edit({ do: "copy" })], ["Mirror left to right", edit({ do: "mirror" })], ["Mirror upside down", edit({ do: "mirror", axis: "x" })]];
}

function elementMenu(studio, element) {
  const { name, type, kind } = element;
  return [
    [`${name} (${type})`],
    ...(kind === "joint" ? [...typeEntries(studio, name, type), null, ["Motor", () => studio.commands.motor({ joint: name })]] : []),
    ["Numbers …", () => studio.readPanel("model")],
    ["Delete", () => studio.remove()],
  ];
}
