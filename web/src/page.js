// The frame around the drawing: title, buttons, tabs and themes.

import { pick } from "./dialogs.js";
import { exportMenu } from "./exports.js";

const PANELS = [["model", "Model"], ["forces", "Forces"], ["plots", "Plots"]];

export class Page {
  constructor(studio, document) {
    Object.assign(this, { studio, document, online: false, ready: true, progress: null, folder: "" });
    this.body = document.body;
    this.find = (name) => document.querySelector(name);
    this.title = this.find("#title");
    this.state = this.find("#state");
    this.listen();
    this.makeTabs();
    this.makeSplitter(this.find(".splitter"));
  }

  listen() {
    const { studio } = this;
    const on = (name, act) => this.find(name).addEventListener("click", act);
    on("#new", () => studio.files.begin());
    on("#open", () => this.open());
    on("#save", () => studio.files.save());
    on("#export", ({ currentTarget }) => {
      const { left, bottom } = currentTarget.getBoundingClientRect();
      studio.menu.open(exportMenu(studio), left, bottom + 4);
    });
    on("#undo", () => studio.undo());
    on("#redo", () => studio.redo());
    on("#theme", () => this.setTheme(this.theme === "dark" ? "light" : "dark", true));
    on("#help", () => studio.guide.help());
    for (const button of this.document.querySelectorAll(".views button")) button.addEventListener("click", () => this.showView(button.dataset.view));
    addEventListener("beforeunload", (event) => {
      if (!studio.files.hasWork) return;
      studio.files.keepDraft();
      if (!this.online) event.preventDefault(); // nobody else keeps it
    });
  }

  // a file of the folder, or a mechanism of the gallery
  async open() {
    const { files } = await this.studio.connection.ask("files");
    const own = files.map((name) => ({ title: name, sentence: `in ${this.folder}`, value: `file:${name}` }));
    const shipped = this.studio.gallery.map(({ name, title, sentence }) => ({ title, sentence, value: `gallery:${name}` }));
    const chosen = await pick("Open", [...own, ...shipped]);
    if (!chosen) return;
    const [kind, name] = [chosen.slice(0, chosen.indexOf(":")), chosen.slice(chosen.indexOf(":") + 1)];
    try {
      await this.studio.files.open(kind === "file" ? { name } : { gallery: name });
    } catch (error) {
      this.studio.refuse(error);
    }
  }

  // title and buttons

  show() {
    const { files, editor } = this.studio;
    const name = files.name ?? "untitled";
    this.title.textContent = `${name}${files.isChanged ? " •" : ""}`;
    this.document.title = `${files.isChanged ? "• " : ""}${name} – studio`;
    this.state.textContent = this.sentence;
    const [undos, redos] = editor.depths;
    this.find("#undo").disabled = !undos;
    this.find("#redo").disabled = !redos;
    sessionStorage.setItem("file", files.name ?? "");
  }

  get sentence() {
    const { files } = this.studio;
    if (!this.online) return "disconnected: the studio does not answer; what you draw stays on this page";
    if (!this.ready) return "the engine warms up …";
    return files.windows > 1 ? `open in ${files.windows} windows` : "";
  }

  hint(text) {
    this.find(".hint").textContent = text;
  }

  // themes

  get preferred() {
    return localStorage.getItem("theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  }

  setTheme(theme, keep = false) {
    this.theme = theme;
    this.body.dataset.theme = theme;
    if (keep) localStorage.setItem("theme", theme);
    this.studio.screen.setTheme(theme);
  }

  // tabs, and the three views of a narrow page

  makeTabs() {
    const tabs = this.find(".tabs");
    this.tabs = new Map(PANELS.map(([name, word]) => [name, html("button", { type: "button", role: "tab", "data-tab": name, onclick: () => this.showPanel(name) }, word)]));
    tabs.append(...this.tabs.values());
    tabs.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const names = [...this.tabs.keys()];
      this.showPanel(names[(names.indexOf(this.panel) + step + names.length) % names.length]);
      this.tabs.get(this.panel).focus();
    });
    this.showPanel("model");
  }

  // the text is as wide as it is drawn, or made by arrow keys
  makeSplitter(splitter) {
    const main = splitter.parentElement;
    const widen = (width) => main.style.setProperty("--text-width", `${Math.min(innerWidth / 2, Math.max(120, width))}px`);
    splitter.addEventListener("pointerdown", ({ pointerId }) => splitter.setPointerCapture(pointerId));
    splitter.addEventListener("pointermove", ({ pointerId, clientX }) => splitter.hasPointerCapture(pointerId) && widen(clientX));
    splitter.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -20, ArrowRight: 20 }[event.key];
      if (step) widen(splitter.getBoundingClientRect().left + step);
    });
  }

  showPanel(name) {
    this.panel = name;
    for (const [each, tab] of this.tabs) tab.setAttribute("aria-selected", String(each === name));
    for (const panel of this.document.querySelectorAll(".panel")) panel.hidden = panel.dataset.panel !== name;
  }

  showView(name) {
    this.body.dataset.view = name;
  }
}
