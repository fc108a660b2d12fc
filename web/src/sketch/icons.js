// Small pictures of the tools, drawn with the lines of mechanism sketches.

const PICTURES = {
  select: "M5 3l12 9-6 1-3 6z",
  link: "M6 18L18 6M4 18a2 2 0 1 0 4 0 2 2 0 1 0-4 0M16 6a2 2 0 1 0 4 0 2 2 0 1 0-4 0",
  plate: "M12 4L4 19H20ZM10.5 4a1.5 1.5 0 1 0 3 0 1.5 1.5 0 1 0-3 0M2.500 19a1.5 1.5 0 1 0 3 0 1.5 1.5 0 1 0-3 0M18.500 19a1.5 1.5 0 1 0 3 0 1.5 1.5 0 1 0-3 0",
  point: "M9 12a3 3 0 1 0 6 0 3 3 0 1 0-6 0M12 3v4M12 17v4M3 12h4M17 12h4",
  ground: "M12 5l5 8H7zM4 13h16M6 13l-3 4M11 13l-3 4M16 13l-3 4M20 13l-3 4",
  slider: "M6 8h12v7H6zM2 15h20M5 15l-2 3M11 15l-2 3M17 15l-2 3",
  gear: "M3 12a5 5 0 1 0 10 0 5 5 0 1 0-10 0M13 12a4 4 0 1 0 8 0 4 4 0 1 0-8 0M8 5v2M8 17v2M17 6v2M17 16v2",
  spring: "M3 12h3l2-5 3 10 3-10 3 10 2-5h2",
  damper: "M3 12h7M10 8v8M7 6h9v12H7M16 12h5",
  motor: "M9 12a3 3 0 1 0 6 0 3 3 0 1 0-6 0M19 12a7 7 0 1 1-3-5.700M16 2v5h-5",
  force: "M5 19L18 6M18 6h-6M18 6v6",
  torque: "M18 15a7 7 0 1 0-12 1M6 16l-3-4M6 16l4-2",
};

export function icon(name) {
  const picture = svg("svg", { viewBox: "0 0 24 24", width: 22, height: 22, "aria-hidden": "true", class: "icon" });
  svg("path", { d: PICTURES[name] }, picture);
  return picture;
}
