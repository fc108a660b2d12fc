// The grid and the picture below the drawing.

const FINEST = 22; // pixels between two lines at least

// the distance of two lines in meters: 1, 2 or 5 times a power of ten
export function gridStep({ k }) {
  const least = FINEST / k;
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((m) => m * power).find((step) => step >= least * (1 - 1e-9));
}

// the nearest crossing of two lines, without digits that only rounding makes
export function snapped([x, y], step) {
  const round = (value) => Number((Math.round(value / step) * step).toPrecision(12));
  return [round(x), round(y)];
}

export class Ground {
  constructor() {
    this.svg = svg("svg", { class: "underlay", "aria-hidden": "true" });
    this.image = svg("image", { preserveAspectRatio: "none" }, this.svg);
    this.lines = svg("path", { class: "grid-line" }, this.svg);
    this.axes = svg("path", { class: "grid-axis" }, this.svg);
    this.picture = null; // {data, ratio, at, width, angle, opacity}
    this.hasGrid = true;
  }

  show(screen) {
    const { width, height } = screen.player.stage.box;
    this.showPicture(screen);
    this.lines.toggleAttribute("hidden", !this.hasGrid);
    this.axes.toggleAttribute("hidden", !this.hasGrid);
    if (!this.hasGrid) return;
    const step = gridStep(screen.view);
    const [x0, y1] = screen.toWorld([0, 0]);
    const [x1, y0] = screen.toWorld([width, height]);
    const across = range(x0, x1, step).map((x) => `M${px(screen.toScreen([x, 0])[0])} 0V${height}`);
    const along = range(y0, y1, step).map((y) => `M0 ${px(screen.toScreen([0, y])[1])}H${width}`);
    this.lines.setAttribute("d", [...across, ...along].join(""));
    const [ox, oy] = screen.toScreen([0, 0]);
    this.axes.setAttribute("d", `M${px(ox)} 0V${height}M0 ${px(oy)}H${width}`);
  }

  // its lower left corner is at `at`; it is turned about that
  showPicture(screen) {
    const { picture } = this;
    this.image.toggleAttribute("hidden", !picture);
    if (!picture) return;
    const { k } = screen.view;
    const [x, y] = screen.toScreen(picture.at);
    const [w, h] = [picture.width * k, picture.width * picture.ratio * k];
    const turn = (-180 / Math.PI) * (picture.angle ?? 0);
    const given = { href: picture.data, x: 0, y: -h, width: w, height: h, transform: `translate(${x} ${y}) rotate(${turn})`, opacity: picture.opacity ?? 0.5 };
    for (const [name, value] of Object.entries(given)) this.image.setAttribute(name, value);
  }
}

const px = (value) => Math.round(value) + 0.5;

function range(low, high, step) {
  const values = [];
  for (let i = Math.ceil(low / step); i * step <= high && values.length < 400; i++) values.push(i * step);
  return values;
}
