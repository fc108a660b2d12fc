// The run that is shown, and the one before the last edit, with which it is compared.

export class Runs {
  constructor() {
    this.clear();
  }

  clear() {
    Object.assign(this, { settled: null, before: null });
  }

  // `key` is what was run; while something is dragged, the run before the drag stays the one to compare with
  take(run, key, isPreview) {
    if (this.settled?.key === key) return;
    this.before = this.settled;
    if (!isPreview) this.settled = { ...run, key };
  }
}
