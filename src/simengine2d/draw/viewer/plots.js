// Plots: charts one below the other, as tall as there is room, with a common window of time and a common cursor.

const CLOSEST = 1e-6; // the shortest window, as a part of the motion

class Plots {
  constructor(results, span, chosen, onSeek) {
    Object.assign(this, { results, span, onSeek, charts: [], time: span[0], window: span });
    this.picker = html("select", { "aria-label": "Add a plot of a channel", class: "picker", onchange: () => this.pick() });
    this.fillMenu(this.picker, "+ add a plot …");
    this.list = html("div", { class: "charts" });
    this.element = html("section", { class: "plots", "aria-label": "Plots" }, this.list, html("div", { class: "adding" }, this.picker, this.formulaField()), this.mistake);
    this.set(chosen.map((name) => [name, ""]));
    new ResizeObserver(() => this.redraw()).observe(this.list);
  }

  // every channel of every result, by groups
  fillMenu(menu, first) {
    const groups = new Map();
    for (const { name, unit, group } of this.results.flatMap((result) => [...result.channel.values()])) {
      if (!groups.has(group)) groups.set(group, new Map());
      groups.get(group).set(name, unit);
    }
    menu.append(html("option", { value: "" }, first));
    for (const [group, channels] of groups) {
      const options = [...channels].map(([name, unit]) => html("option", { value: name }, unit ? `${name}  [${unit}]` : name));
      menu.append(html("optgroup", { label: group }, ...options));
    }
  }

  // a measure or a formula, typed
  formulaField() {
    const body = this.results[0].bodies.at(-1) ?? "ground";
    const words = { type: "text", class: "formula", placeholder: `or type: distance(ground, ${body})`, "aria-label": "Add a plot of a measure or a formula", spellcheck: "false", autocomplete: "off" };
    const field = html("input", { ...words, title: "Channels, measures of bodies and points, + − * / ^ and functions; then Enter" });
    field.addEventListener("change", () => field.value.trim() && this.add(field.value.trim()) && (field.value = ""));
    this.mistake = html("p", { class: "mistake", role: "status" });
    return field;
  }

  // whether it could be read, in one result at least
  readFormula(text) {
    const mistakes = [];
    for (const result of this.results) {
      try {
        result.addFormula(text);
      } catch ({ message }) {
        mistakes.push(message);
      }
    }
    const isRead = mistakes.length < this.results.length;
    this.mistake.textContent = isRead ? "" : `${text}: ${mistakes[0]}.`;
    return isRead;
  }

  pick() {
    if (this.picker.value) this.add(this.picker.value);
    this.picker.value = "";
  }

  // one more chart, of a channel or a formula; whether there is one now
  add(name) {
    const isMade = Boolean(this.make(name));
    if (isMade) this.redraw();
    return isMade;
  }

  make(name) {
    const known = this.charts.find((chart) => chart.name === name);
    if (known) return known;
    if (!this.results.some((result) => result.channel.has(name)) && !this.readFormula(name)) return null;
    const chart = new Chart(name, this.results, {
      onSeek: this.onSeek,
      onZoom: (window) => this.setWindow(window),
      onRemove: (one) => this.remove(one),
      onOver: (one, over) => this.setOver(one, over),
    });
    this.fillMenu(chart.overMenu, "over time");
    this.charts.push(chart);
    this.list.append(chart.element);
    return chart;
  }

  // these charts and no others: names, each with what it is over
  set(channels) {
    const wanted = new Set(channels.map(([name]) => name));
    for (const chart of this.charts.filter(({ name }) => !wanted.has(name))) this.remove(chart);
    for (const [name, over] of channels) {
      const chart = this.make(name);
      if (chart && over && this.results[0].channel.has(over)) chart.setOver(chart.overMenu.value = over);
    }
    this.redraw();
  }

  remove(chart) {
    this.charts = this.charts.filter((other) => other !== chart);
    chart.element.remove();
    this.redraw();
  }

  setOver(chart, over) {
    chart.setOver(over);
    this.redraw();
  }

  // a part of the motion; null for all of it, nothing for what it is
  setWindow(window) {
    const [t0, t1] = this.span;
    if (window === null) this.window = this.span;
    else if (window) {
      const width = Math.min(t1 - t0, Math.max(CLOSEST * (t1 - t0), window[1] - window[0]));
      const start = Math.min(t1 - width, Math.max(t0, window[0]));
      this.window = [start, start + width];
    }
    this.redraw();
  }

  // all sizes are asked for before anything is drawn: the browser lays out the page once
  redraw() {
    const sizes = this.charts.map((chart) => chart.box.getBoundingClientRect());
    this.charts.forEach((chart, i) => sizes[i].width && chart.draw(this.window, sizes[i]));
    this.show(this.time);
  }

  show(t) {
    this.time = t;
    for (const chart of this.charts) chart.show(t);
  }
}
