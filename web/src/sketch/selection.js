// What is selected: points, bodies and elements by their names.

export class Selection {
  constructor(onChange) {
    Object.assign(this, { all: [], onChange });
  }

  get one() {
    return this.all.length === 1 ? this.all[0] : null;
  }

  get names() {
    return this.all.map(({ name }) => name);
  }

  has(name) {
    return this.all.some((thing) => thing.name === name);
  }

  set(things) {
    this.all = things;
    this.onChange();
  }

  clear() {
    if (this.all.length) this.set([]);
  }

  // with shift, one more or one less
  pick(thing, more = false) {
    if (!thing) return more ? undefined : this.clear();
    const others = this.all.filter(({ name }) => name !== thing.name);
    return this.set(more ? (others.length < this.all.length ? others : [...this.all, thing]) : [thing]);
  }

  // after an edit: what is gone is not selected any more
  keep(drawing) {
    const known = new Set([...drawing.points.map(({ id }) => id), ...drawing.bodies.map(({ name }) => name), ...drawing.elements.map(({ name }) => name)]);
    const kept = this.all.filter(({ name }) => known.has(name));
    if (kept.length < this.all.length) this.all = kept;
  }

  // a name that an edit answers with
  named(name, drawing) {
    if (!drawing || !name) return;
    const kind = drawing.bodies.some((body) => body.name === name) ? "body" : drawing.elements.some((element) => element.name === name) ? "element" : "point";
    this.set([{ kind, name }]);
  }
}
