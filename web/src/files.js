// The file of the model: opened, saved, kept as a draft while it is not, and compared with what others do to it.

import { askText, choose, toast } from "./dialogs.js";
import { Refusal } from "./connection.js";

const PAUSE = 400; // milliseconds after the last change, when the draft is kept

// what this window has open, for when it is reloaded: a name, a mechanism of the gallery, a link
export const remembered = () => JSON.parse(sessionStorage.getItem("open"));
const remember = (source) => sessionStorage.setItem("open", JSON.stringify(source));

export class Files {
  // `editor` holds the text; `onOpen` hears of another file, `onState` of anything that the title shows
  constructor(connection, editor, onOpen, onState) {
    Object.assign(this, { connection, editor, onOpen, onState, name: null, hash: null, saved: "", original: "", number: null, timer: 0, windows: 1 });
  }

  get isChanged() {
    return this.editor.text !== this.saved;
  }

  // what would be lost: not a mechanism of the gallery that was only looked at
  get hasWork() {
    const { text } = this.editor;
    return this.isChanged && (this.name !== null || text !== this.original) && Boolean(text.trim());
  }

  // the answer to hello or open; `source` is what a page that is reloaded opens again
  async opened({ file, text, hash, draft }, source = file === null ? null : { name: file }) {
    Object.assign(this, { name: file, hash, number: null, original: text, saved: hash === null ? "" : text });
    remember(source);
    this.editor.open(text);
    this.onOpen(text);
    if (draft !== null && draft !== undefined && draft !== text) await this.offerDraft(draft);
    this.onState();
  }

  async offerDraft(draft) {
    const name = this.name ?? "the model without a name";
    const answer = await choose("Unsaved work", `There is unsaved work on ${name} from an earlier time. Go on with it?`, [["Discard it", "forget"], ["Go on with it", "keep", true]]);
    if (answer === "keep") {
      this.editor.replace(draft);
      await this.keepDraft(true);
    } else if (answer === "forget") await this.connection.ask("forget", { name: this.name, offered: true });
  }

  // a connection that was lost is there again; the text is what the page holds
  async reconnect() {
    const hello = await this.connection.ask("hello", { name: this.name, number: this.number, back: true });
    if (hello.hash !== this.hash) await this.disk({ ...hello, text: hello.hash === null ? null : hello.text }); // others were here
    this.changed();
    return hello;
  }

  // the text has changed
  changed() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.keepDraft(), PAUSE);
    this.onState();
  }

  // `offered`: on top of the draft that the server has offered
  async keepDraft(offered = false) {
    clearTimeout(this.timer);
    const { name, editor: { text } } = this;
    try {
      if (this.hasWork) this.number = (await this.connection.ask("draft", { name, text, offered })).number;
      else await this.connection.ask("forget", { name });
    } catch (error) {
      if (!error.answer?.lost && error.message !== this.complaint) toast(`The draft is not kept: ${error.message}`, "error");
      this.complaint = error.message; // said once
    }
  }

  // asks before unsaved work is left
  async mayLeave() {
    if (!this.hasWork) return true;
    const name = this.name ?? "this model";
    const answer = await choose("Not saved", `${name} has changes that are not saved.`, [["Cancel", null], ["Leave them", "leave"], ["Save", "save", true]]);
    if (answer === "save") return this.save();
    if (answer === "leave") await this.connection.ask("forget", { name: this.name });
    return answer === "leave";
  }

  async open(what) {
    if (!(await this.mayLeave())) return false;
    clearTimeout(this.timer);
    await this.opened(await this.connection.ask("open", what), what);
    return true;
  }

  // an empty page
  async begin(text = "") {
    if (!(await this.mayLeave())) return;
    clearTimeout(this.timer);
    const { hash } = await this.connection.ask("open", { name: null });
    await this.opened({ file: null, text, hash, draft: null }, { name: null });
  }

  async save() {
    return this.name === null ? this.saveAs() : this.write(this.name, this.hash);
  }

  async saveAs() {
    const own = /^name:\s*(.+?)\s*(#.*)?$/m.exec(this.editor.text)?.[1].replace(/[^\w-]+/g, "_");
    const given = await askText("Save as", "File name", this.name ?? `${own ?? "mechanism"}.yaml`);
    if (!given) return false;
    const name = /\.ya?ml$/i.test(given) ? given : `${given}.yaml`;
    return this.write(name, name === this.name ? this.hash : null);
  }

  async write(name, seen) {
    const text = this.editor.text;
    clearTimeout(this.timer);
    try {
      const { hash } = await this.connection.ask("save", { name, text, seen });
      Object.assign(this, { name, hash, saved: text, number: null });
      remember({ name });
      toast(`Saved as ${name}.`);
      this.onState();
      return true;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (!("conflict" in error.answer)) return toast(error.message, "error");
      return this.settle(name, error);
    }
  }

  // the file on disk is another one than this page has seen
  async settle(name, { message, answer }) {
    const choices = [["Cancel", null], ["Save over it", "over"]];
    if (answer.conflict !== null && name === this.name) choices.splice(1, 0, ["Take that of the disk", "take"]);
    const chosen = await choose("Somebody else was here", message, choices);
    if (chosen === "over") return this.write(name, answer.hash);
    if (chosen === "take") {
      this.editor.replace(answer.conflict);
      Object.assign(this, { hash: answer.hash, saved: answer.conflict });
      this.onState();
    }
    return false;
  }

  // another window or program changed the file
  async disk({ file, text, hash }) {
    if (file !== this.name) return;
    if (text === null) {
      toast(`${file} was deleted on disk. Save it to write it again.`, "error");
      Object.assign(this, { hash: null, saved: null });
    } else if (!this.isChanged) {
      Object.assign(this, { hash, saved: text });
      this.editor.replace(text);
      toast(`${file} has changed on disk and is shown as it is there.`);
    } else if (text !== this.editor.text) {
      const chosen = await choose("Changed on disk", `${file} has changed on disk, and here.`, [["Keep mine", "mine", true], ["Take that of the disk", "theirs"]]);
      Object.assign(this, { hash, saved: text });
      if (chosen === "theirs") this.editor.replace(text);
    }
    this.onState();
  }
}
