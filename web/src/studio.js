// The studio: the text in the editor is the model; each change of it is looked at by the server, and drawn.

import { AnalysisMenu } from "./analysis.js";
import { Commands } from "./commands.js";
import { Completer } from "./completion.js";
import { Connection, Refusal } from "./connection.js";
import { toast } from "./dialogs.js";
import { Editor } from "./editor.js";
import { Files, remembered } from "./files.js";
import { Keys } from "./keys.js";
import { Menu } from "./menu.js";
import { thingMenu } from "./menus.js";
import { Page } from "./page.js";
import { FormPanel } from "./panels/form.js";
import { ForcesPanel } from "./panels/forces.js";
import { Guide } from "./panels/guide.js";
import { WordsPanel } from "./panels/words.js";
import { Picture } from "./picture.js";
import { Runs } from "./runs.js";
import { Screen } from "./screen.js";
import { Overlay } from "./sketch/overlay.js";
import { Pointer } from "./sketch/pointer.js";
import { Readings } from "./sketch/readings.js";
import { Selection } from "./sketch/selection.js";
import { Tools } from "./sketch/tools.js";

const TYPING = 25; // milliseconds after a key, before the text is looked at

export class Studio {
  constructor(document) {
    const find = (name) => document.querySelector(name);
    Object.assign(this, { drawing: null, words: [], parameters: [], peaks: [], used: null, values: {}, dragging: false, onFrame: () => {} });
    Object.assign(this, { looks: 0, applied: 0, edits: Promise.resolve(), newest: Promise.resolve(), timer: 0, fresh: true, drawn: false });
    this.canvas = find(".canvas");
    this.connection = new Connection((news) => this.hear(news), (on) => this.connected(on));
    this.completer = new Completer();
    this.runs = new Runs();
    this.editor = new Editor(find("section.text"), () => this.changed(), (context) => this.completer.complete(context));
    this.files = new Files(this.connection, this.editor, () => this.opened(), () => this.page.show());
    this.page = new Page(this, document);
    this.selection = new Selection(() => this.selected());
    this.menu = new Menu();
    this.overlay = new Overlay(this);
    this.plotsBox = find("[data-panel=plots]");
    this.screen = new Screen(this.canvas, this.plotsBox, this.runs, () => this.screen && this.overlay.show());
    this.tools = new Tools(this, find(".tools"));
    this.pointer = new Pointer(this, this.canvas);
    this.form = new FormPanel(this, find("[data-panel=model]"));
    this.forces = new ForcesPanel(this, find("[data-panel=forces]"));
    this.wordsPanel = new WordsPanel(this, find(".words"));
    this.readings = new Readings(this);
    this.analysis = new AnalysisMenu(this, find("#analysis"));
    this.commands = new Commands(this);
    this.picture = new Picture(this);
    this.guide = new Guide(this);
    this.keys = new Keys(this, document);
    this.page.setTheme(this.page.preferred);
    this.overlay.show();
  }

  begin() {
    window.addEventListener("hashchange", () => location.hash.startsWith("#model=") && this.openLink().catch((error) => this.refuse(error)));
    this.connection.open();
  }

  // the server

  async connected(on) {
    this.page.online = on;
    this.page.show();
    if (!on) return;
    try {
      const hello = this.greeted ? await this.files.reconnect() : await this.greet();
      this.page.ready = hello.engine;
      this.greeted = true;
      this.look();
    } catch (error) {
      this.refuse(error);
    }
  }

  // a page that was reloaded goes on with its file; one whose address carries a model shows that
  async greet() {
    const last = remembered();
    const known = last === null ? {} : { name: last.name ?? null };
    const hello = await this.connection.ask("hello", known).catch(() => this.connection.ask("hello"));
    this.completer.schema = hello.schema;
    this.gallery = hello.gallery;
    this.page.folder = hello.folder;
    this.files.windows = hello.windows;
    if (hello.problem) toast(hello.problem, "error");
    await this.files.opened(hello);
    if (location.hash.startsWith("#model=")) await this.openLink();
    else if (last && !("name" in last) && hello.draft === null) await this.files.open(last);
    return hello;
  }

  async openLink() {
    const link = location.hash;
    history.replaceState(null, "", location.pathname);
    await this.files.open({ link });
  }

  hear(news) {
    if (news.push === "frame") this.onFrame(news);
    if (news.push === "disk") this.files.disk(news);
    if (news.push === "windows") this.files.windows = news.count;
    if (news.push === "engine") this.page.ready = news.ready;
    if (news.push === "progress") this.page.progress = news.part;
    if (news.push !== "frame") this.page.show();
  }

  // the text

  opened() {
    Object.assign(this, { fresh: true, values: {}, applied: this.looks }); // answers on their way are of another text
    this.runs.clear();
    this.guide.restart();
    this.selection.clear();
    this.tools.take("select");
    this.look();
  }

  changed() {
    this.files.changed();
    clearTimeout(this.timer);
    if (this.drawn || this.dragging) this.look();
    else this.timer = setTimeout(() => this.look(), TYPING);
  }

  // what the server says of the text; only the newest answer counts
  look() {
    clearTimeout(this.timer);
    const isTried = Object.keys(this.values).length > 0; // by a slider that is not let go yet
    const asked = this.analysis.asked ? { analysis: this.analysis.asked } : {};
    const question = { text: this.editor.text, ...asked, ...(isTried ? { values: this.values } : {}) };
    const look = { number: ++this.looks, began: performance.now(), key: JSON.stringify(question), isPreview: this.dragging || isTried };
    const answered = this.connection.ask("look", question);
    this.newest = answered.then((answer) => look.number > this.applied && this.apply(answer, look), (error) => this.notLooked(error));
    return this.newest;
  }

  // the answer to the newest question, after which nothing is waited for
  async looked() {
    let seen;
    do {
      seen = this.newest;
      await seen;
    } while (seen !== this.newest);
  }

  notLooked(error) {
    if (error instanceof Refusal && (error.answer.superseded || error.answer.cancelled || error.answer.lost)) return;
    this.refuse(error);
  }

  apply(answer, look) {
    this.applied = look.number;
    this.problems = answer.problems;
    this.editor.mark(answer.problems);
    this.canvas.classList.toggle("stale", !answer.drawing);
    if (answer.drawing) this.applyDrawing(answer, look);
    this.parameters = answer.parameters;
    this.completer.parameters = answer.parameters;
    this.wordsPanel.show();
    this.form.show();
    this.forces.show();
    this.overlay.show();
    this.canvas.dataset.took = (performance.now() - look.began).toFixed(1); // for those who measure
    this.canvas.dataset.looks = String(look.number);
  }

  applyDrawing({ drawing, words, peaks, player, analysis_used: used }, { key, isPreview }) {
    Object.assign(this, { drawing, words, peaks, used });
    this.runs.take({ player, peaks }, key, isPreview);
    this.completer.drawing = drawing;
    this.selection.keep(drawing);
    this.screen.show(player, this.fresh);
    this.fresh = false;
    this.readings.show();
    this.guide.show();
    this.analysis.show(used);
    this.picture.show();
  }

  get isDriven() {
    return this.drawing.elements.some(({ kind }) => kind === "driver") && this.screen.player.moves;
  }

  // edits

  // one after another, each on the text that the one before has left; the promise is of the answer, or null
  edit(edit) {
    this.edits = this.edits.then(() => this.editNow(edit));
    return this.edits;
  }

  async editNow(edit) {
    try {
      const answer = await this.connection.ask("edit", { text: this.editor.text, edit });
      this.drawn = true;
      this.editor.replace(answer.text);
      this.drawn = false;
      for (const note of answer.notes) toast(note);
      await this.looked();
      if (answer.selected) this.selection.named(answer.selected, this.drawing);
      return answer;
    } catch (error) {
      this.refuse(error);
      return null;
    }
  }

  // an edit of another text than the editor's, without a word where it is not possible
  async tryEdit(text, edit) {
    try {
      return await this.connection.ask("edit", { text, edit });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.say(error.message);
      return null;
    }
  }

  remove() {
    const names = this.selection.all.map((thing) => this.removable(thing));
    if (names.length) this.edit({ do: "delete", elements: names });
  }

  // of a point that is a pin the joint goes
  removable({ kind, name }) {
    const point = kind === "point" && this.drawing.points.find(({ id }) => id === name);
    return point && point.joints.length ? point.joints[0] : name;
  }

  undo() {
    this.drawn = true;
    this.editor.undo();
    this.drawn = false;
  }

  redo() {
    this.drawn = true;
    this.editor.redo();
    this.drawn = false;
  }

  // selection and words

  selected() {
    const { one } = this.selection;
    const thing = one && this.drawing && this.thing(one);
    if (thing?.line) this.editor.reveal(thing.line);
    this.form.show();
    this.forces.show();
    this.readings.show();
    this.overlay.show();
  }

  // the record of something that is selected
  thing({ kind, name }) {
    if (kind === "point") return this.drawing.points.find(({ id }) => id === name) ?? null;
    const list = kind === "body" ? this.drawing.bodies : this.drawing.elements;
    return list.find((each) => each.name === name) ?? null;
  }

  readPanel(name) {
    this.page.showPanel(name);
    this.page.showView("side"); // of a narrow page
  }

  openMenu(place, x, y) {
    const thing = this.tools.all.get("select").tool.thingAt(place);
    if (thing && !this.selection.has(thing.name)) this.selection.pick(thing);
    this.menu.open(thingMenu(this, thing, place), x, y);
  }

  say(text) {
    this.page.hint(text);
  }

  refuse(error) {
    if (!(error instanceof Refusal)) throw error;
    toast(error.message, "error");
  }
}
