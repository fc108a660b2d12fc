// What could be written at a place of the text: sections, types, fields and their meaning from the schema; names of
// bodies, points and parameters from the drawing.

const FUNCTIONS = ["sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sqrt", "hypot", "abs", "exp", "log", "pi", "t", "deg"];
const MEASURES = ["angle", "distance", "x", "y", "along", "across"];

const SHAPES = { bar: "Bar", link: "LinkShape", plate: "Plate", disk: "Disk", block: "Block" };
const SHAPE = { description: `what it looks like, and by that where its mass lies: ${Object.keys(SHAPES).join(", ")}` };

export class Completer {
  constructor() {
    Object.assign(this, { schema: null, drawing: null, parameters: [] });
  }

  // for CodeMirror
  complete(context) {
    if (!this.schema) return null;
    const word = context.matchBefore(/[\w.|]*/);
    if (word.from === word.to && !context.explicit) return null;
    const place = placeIn(context.state.doc.sliceString(0, word.from));
    const options = this.options(place);
    return options.length ? { from: word.from, options, validFor: /^[\w.|]*$/ } : null;
  }

  options(place) {
    if (!place.section) return this.fields(this.schema, ": ");
    if (place.isValue) return this.values(place);
    return place.depth < 1 && isNamed(place.section) ? [] : this.fields(this.recordOf(place), ": ");
  }

  values({ section, key, type }) {
    if (key === "type") return this.types(section);
    if (key === "kind") return this.kinds();
    if (key === "shape") return Object.keys(SHAPES).map((label) => ({ label, type: "enum" }));
    if (key === "a" || key === "b" || key === "frame") return this.references();
    if (key === "measure") return [...MEASURES.map((label) => ({ label, type: "function" })), ...this.references()];
    const words = type === undefined && isNamed(section) ? [] : FUNCTIONS;
    return [...this.parameters.map(({ name, text }) => ({ label: name, detail: text, type: "variable" })), ...words.map((label) => ({ label, type: "function" }))];
  }

  types(section) {
    const names = this.definition(section).anyOf?.[0].additionalProperties?.discriminator?.mapping ?? {};
    return Object.keys(names).map((label) => ({ label, type: "class", info: this.schema.$defs[label]?.description }));
  }

  kinds() {
    const { kind } = this.schema.$defs.Analysis.properties;
    const words = kind.enum ?? kind.anyOf?.flatMap((one) => one.enum ?? []) ?? [];
    return words.map((label) => ({ label, type: "enum" }));
  }

  references() {
    const points = this.drawing?.points.flatMap(({ refs }) => refs) ?? [];
    const bodies = this.drawing?.bodies.map(({ name }) => name) ?? [];
    return [...new Set([...points, ...bodies])].map((label) => ({ label, type: "variable" }));
  }

  definition(section) {
    return this.schema.properties[section] ?? {};
  }

  // the record of the schema that describes a place
  recordOf({ section, type, shape }) {
    const defs = this.schema.$defs;
    if (section === "analysis") return defs.Analysis;
    if (section === "ground") return defs.Ground;
    if (section === "units") return defs.Units;
    if (section === "bodies") return { properties: { shape: SHAPE, ...defs[SHAPES[shape]]?.properties, ...defs.Body.properties } };
    return defs[type] ?? { properties: { type: { description: "the kind of element" } } };
  }

  fields(record, after) {
    return Object.entries(record?.properties ?? {}).map(([label, { description, default: usual }]) => ({
      label, type: "property", apply: label + after, info: description, detail: usual === undefined || usual === null ? "" : String(usual),
    }));
  }
}

const isNamed = (section) => ["bodies", "joints", "forces"].includes(section);

// where the end of a text is: its section, how deep below it, the key whose value is written, and type and shape of the record
export function placeIn(text) {
  const lines = text.split("\n");
  const last = lines.at(-1);
  const indent = last.length - last.trimStart().length;
  const top = lines.findLast((line, i) => /^[A-Za-z]\w*:/.test(line) && (i < lines.length - 1 || last.includes(":")));
  if (!top || (indent === 0 && !last.includes(":") && lines.length > 0 && !last.startsWith(" "))) return { section: "" };
  const section = top.slice(0, top.indexOf(":"));
  const start = recordStart(lines);
  const record = lines.slice(start).join("\n");
  const open = record.slice(record.lastIndexOf("{") + 1).split(",").at(-1);
  const key = /(\w+):\s*[^:]*$/.exec(open)?.[1];
  const word = (name) => new RegExp(`${name}:\\s*(\\w+)`).exec(record)?.[1];
  const isInline = record.includes("{") && !record.trimEnd().endsWith("}");
  const depth = isInline || indent > 2 ? 1 : 0;
  return { section, depth, key, isValue: /:\s*[^,{]*$/.test(open) && !(depth === 0 && !key), type: word("type"), shape: word("shape") };
}

// the line with the name of the element in which a text ends
function recordStart(lines) {
  for (let i = lines.length - 1; i >= 0; i--) if (/^\s{0,3}\S[^:]*:/.test(lines[i])) return i;
  return 0;
}
