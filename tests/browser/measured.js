// What a player shows now, measured in the pixels of the browser.
(() => {
  const root = document.getElementById("player");
  const stage = root.querySelector(".stage");
  const box = (element) => {
    const { left, top, right, bottom } = element.getBoundingClientRect();
    return [left, top, right, bottom];
  };
  const isShown = (element) => element.getClientRects().length > 0 && getComputedStyle(element).visibility !== "hidden";
  const shown = (selector) => [...stage.querySelectorAll(selector)].filter(isShown);
  const canvas = box(stage);
  const off = ([x0, y0, x1, y1]) => Math.max(canvas[0] - x0, canvas[1] - y0, x1 - canvas[2], y1 - canvas[3], 0);
  const overlap = (a, b) => Math.min(a[2], b[2]) - Math.max(a[0], b[0]) > 0 && Math.min(a[3], b[3]) - Math.max(a[1], b[1]) > 0;

  // labels
  const actor = root.player.stage.actors[0];
  const items = actor.labels.items.map((item) => ({ item, text: item.label.text, box: box(item.element), isShown: isShown(item.element) }));
  const words = items.filter((one) => one.isShown);
  const overlaps = words.flatMap((a, i) => words.slice(0, i).filter((b) => overlap(a.box, b.box)).map((b) => `${a.text} and ${b.text}`));
  const far = words.map(({ item, text, box: [x0, y0, x1, y1] }) => {
    const [x, y] = [item.at[0] + canvas[0], item.at[1] + canvas[1]];
    const d = Math.hypot(Math.max(x0 - x, 0, x - x1), Math.max(y0 - y, 0, y - y1));
    const slid = item.label.pin ? 0 : Math.max(0, ...item.lines.map((line) => Math.hypot(...line)));
    return [text, d - slid - (item.label.gap || actor.result.size) * root.player.stage.view.k];
  });
  const upright = words.every(({ item }) => {
    const { a, b, c, d } = item.element.getScreenCTM();
    return Math.abs(a - 1) + Math.abs(b) + Math.abs(c) + Math.abs(d - 1) < 1e-6;
  });

  // colors: what is not gray must be in the legend
  const paints = (element) => {
    const { stroke, fill } = getComputedStyle(element);
    return [stroke, fill];
  };
  const isColored = (paint) => {
    const parts = (paint.match(/[\d.]+/g) || []).map(Number);
    if (!paint.startsWith("rgb") || parts[3] === 0) return false;
    return Math.max(...parts.slice(0, 3)) - Math.min(...parts.slice(0, 3)) > 24;
  };
  const colors = (elements) => new Set(elements.flatMap(paints).filter(isColored));
  const explained = colors([...root.querySelectorAll(".explain svg *")]);
  const drawn = shown("path:not(.hit), polyline, circle, text, rect");

  return {
    overlaps,
    hidden: items.filter((one) => !one.isShown).map(({ text }) => text),
    labelsOff: words.filter((one) => off(one.box) > 0).map(({ text }) => text),
    far: far.filter(([, d]) => d > 45),
    upright,
    arrowsOff: shown(".arrow path:not(.hit)").filter((path) => off(box(path)) > 0.5).map((path) => [path.parentElement.dataset.name, off(box(path))]),
    unexplained: [...colors(drawn)].filter((paint) => !explained.has(paint)),
    labels: items.length,
    arrows: shown(".arrow").length,
  };
})()
