// Saving: pictures as SVG or PNG, curves as CSV, made from what the page shows.

const KEPT = ["fill", "fill-opacity", "fill-rule", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linejoin",
  "stroke-linecap", "opacity", "visibility", "display", "paint-order", "vector-effect", "font-family", "font-size", "font-weight", "text-anchor"];

// an SVG that needs no style sheet, on the paper of the page
function svgText(picture) {
  const { width, height } = picture.getBoundingClientRect();
  const copy = picture.cloneNode(true);
  const [before, after] = [picture.querySelectorAll("*"), copy.querySelectorAll("*")];
  before.forEach((element, i) => {
    const style = getComputedStyle(element);
    after[i].setAttribute("style", KEPT.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";"));
  });
  for (const hit of copy.querySelectorAll(".hit")) hit.remove();
  copy.setAttribute("xmlns", SVG);
  for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` })) copy.setAttribute(name, value);
  const paper = getComputedStyle(picture.closest(".simengine2d")).backgroundColor;
  copy.prepend(svg("rect", { width, height, fill: paper }));
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

async function pngBlob({ text, width, height }, sharper = 2) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = html("canvas", { width: sharper * width, height: sharper * height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

async function savePicture(picture, name, kind) {
  const drawn = svgText(picture);
  save(kind === "svg" ? new Blob([drawn.text], { type: "image/svg+xml" }) : await pngBlob(drawn), `${name}.${kind}`);
}

// columns of { name, unit, values } side by side
function csvText(columns) {
  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const rows = [columns.map(({ name, unit }) => quoted(unit ? `${name} [${unit}]` : name)).join(",")];
  const count = Math.max(...columns.map(({ values }) => values.length));
  for (let i = 0; i < count; i++) rows.push(columns.map(({ values }) => (i < values.length ? values[i] : "")).join(","));
  return `${rows.join("\n")}\n`;
}

function save(blob, name) {
  const link = html("a", { download: name.replace(/[^\w.-]+/g, "_"), href: URL.createObjectURL(blob) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// a menu with one entry for each way of saving
function saveMenu(what, ways) {
  const menu = html("details", { class: "menu save" }, html("summary", { "aria-label": `Save ${what}`, title: `Save ${what}` }, "⤓"));
  const entries = Object.entries(ways).map(([word, act]) => html("button", { type: "button", onclick: () => { menu.open = false; act(); } }, word));
  menu.append(html("div", {}, ...entries));
  return menu;
}
