// Plots: charts one below the other, as tall as there is room, with a common window of time and a common cursor.

const CLOSEST = 1e-6; // the shortest window, as a part of the motion

class Plots {
  constructor(results, span, chosen, onSeek) {
    Object.assign(this, { results, span, onSeek, charts: [], time: span[0], window: span });
    this.picker = html("select", { "aria-label": "Add a plot of a channel", class: "picker", onchange: () => this.pick() });
    this.fillMenu(this.picker, "+ add a plot …");
    this.list = html("div", { class: "charts" });
    this.element = html("section", { class: "plots", "aria-label": "Plots" }, this.list, this.picker);
    for (const name of chosen) this.add(name);
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

  pick() {
    if (this.picker.value) this.add(this.picker.value);
    this.picker.value = "";
  }

  add(name) {
    if (this.charts.some((chart) => chart.name === name) || !this.results.some((result) => result.channel.has(name))) return;
    const chart = new Chart(name, this.results, {
      onSeek: this.onSeek,
      onZoom: (window) => this.setWindow(window),
      onRemove: (one) => this.remove(one),
      onOver: (one, over) => this.setOver(one, over),
    });
    this.fillMenu(chart.overMenu, "over time");
    this.charts.push(chart);
    this.list.append(chart.element);
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

  redraw() {
    for (const chart of this.charts) chart.draw(this.window);
    this.show(this.time);
  }

  show(t) {
    this.time = t;
    for (const chart of this.charts) chart.show(t);
  }
}
