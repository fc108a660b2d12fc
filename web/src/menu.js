// A menu at a place of the page: lines that do something, by mouse, finger and keyboard.

export class Menu {
  constructor() {
    this.box = html("div", { class: "popup", role: "menu", hidden: true });
    document.body.append(this.box);
    this.box.addEventListener("keydown", (event) => this.key(event));
    document.addEventListener("pointerdown", (event) => !this.box.contains(event.target) && this.close(), true);
  }

  // entries are [word, act] or null for a line between; an act that is missing makes a heading
  open(entries, x, y) {
    this.before = document.activeElement;
    this.box.replaceChildren(...entries.map((entry) => this.line(entry)));
    this.box.hidden = false;
    const { width, height } = this.box.getBoundingClientRect();
    this.box.style.left = `${Math.max(4, Math.min(x, innerWidth - width - 4))}px`;
    this.box.style.top = `${Math.max(4, Math.min(y, innerHeight - height - 4))}px`;
    this.box.querySelector("button")?.focus();
  }

  line(entry) {
    if (!entry) return html("hr");
    const [word, act] = entry;
    if (!act) return html("div", { class: "heading" }, word);
    return html("button", { type: "button", role: "menuitem", onclick: () => {
      this.close();
      act();
    } }, word);
  }

  close() {
    if (this.box.hidden) return;
    this.box.hidden = true;
    this.before?.focus?.({ preventScroll: true });
  }

  key(event) {
    const lines = [...this.box.querySelectorAll("button")];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    event.stopPropagation();
    if (event.key === "Escape") this.close();
    else if (step) lines[(lines.indexOf(document.activeElement) + step + lines.length) % lines.length].focus();
    else return;
    event.preventDefault();
  }
}
