// What the mechanism can and cannot do, in sentences below the drawing; a click selects what a sentence is about.

const MARKS = { "cannot close": "✖", "cannot move": "✖", "dead point": "▲", mobility: "●", redundant: "▲", note: "ℹ" };

export class WordsPanel {
  constructor(studio, box) {
    Object.assign(this, { studio, box });
  }

  show() {
    const { problems, words } = this.studio;
    const lines = problems.length ? problems.map((problem) => this.problem(problem)) : words.map((word) => this.word(word));
    this.box.replaceChildren(...lines);
  }

  problem({ line, text, remedy }) {
    const words = `${line ? `line ${line}: ` : ""}${text} ${remedy}`;
    return html("button", { type: "button", class: "word problem", onclick: () => this.studio.editor.reveal(line) }, "✖ ", words);
  }

  word({ kind, text, elements }) {
    const mark = html("span", { "aria-label": kind }, `${MARKS[kind]} `);
    return html("button", { type: "button", class: `word ${kind.replace(" ", "-")}`, "data-kind": kind, onclick: () => this.select(elements) }, mark, text);
  }

  select(names) {
    const { selection, drawing } = this.studio;
    const kind = (name) => (drawing.bodies.some((body) => body.name === name) ? "body" : drawing.elements.some((element) => element.name === name) ? "element" : null);
    selection.set(names.filter(kind).map((name) => ({ kind: kind(name), name })));
  }
}
