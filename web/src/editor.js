// The text: CodeMirror with YAML, and the one history of the model. Drawing changes the text by `replace`, so that undo
// takes back what was typed and what was drawn in the order in which it was done.

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, isolateHistory, redo, redoDepth, undo, undoDepth } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, foldGutter, foldKeymap, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState, Transaction } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { drawnComments } from "./drawn_comments.js";

const WITHOUT_LIMIT = 1e9; // steps of undo

export class Editor {
  // `onChange` hears of every new text, `complete` finds what could be written at a place
  constructor(parent, onChange, complete) {
    this.onChange = onChange;
    this.extensions = [
      EditorState.lineSeparator.of("\n"), // other line ends stay as they are
      lineNumbers(), foldGutter(), highlightActiveLine(), highlightActiveLineGutter(), drawSelection(), EditorView.lineWrapping, drawnComments,
      history({ minDepth: WITHOUT_LIMIT }), indentOnInput(), indentUnit.of("  "), bracketMatching(), closeBrackets(),
      yaml(), syntaxHighlighting(classHighlighter), lintGutter(), highlightSelectionMatches(),
      autocompletion({ override: [complete] }),
      keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...completionKeymap, ...lintKeymap]),
      EditorView.contentAttributes.of({ "aria-label": "Text of the model" }),
      EditorView.updateListener.of((update) => update.docChanged && this.onChange(this.text, update)),
    ];
    this.view = new EditorView({ parent, state: this.stateOf("") });
  }

  stateOf(doc) {
    return EditorState.create({ doc, extensions: this.extensions });
  }

  get text() {
    return this.view.state.doc.toString();
  }

  // another file, with a history of its own
  open(text) {
    this.view.setState(this.stateOf(text));
  }

  // a new text by drawing: one step of the history, and only what differs changes
  replace(text) {
    this.change(text, [isolateHistory.of("full")]);
  }

  // a text that is shown while something is dragged; `settle` takes back all of these, and makes one step of the result
  preview(text) {
    this.before ??= this.view.state;
    this.change(text, [Transaction.addToHistory.of(false)]);
  }

  settle(text) {
    if (!this.before) return;
    this.view.setState(this.before);
    this.before = null;
    if (text === this.text) this.onChange(text);
    else this.replace(text);
  }

  change(text, annotations) {
    const change = difference(this.text, text);
    if (change) this.view.dispatch({ changes: change, annotations });
  }

  undo() {
    return undo(this.view);
  }

  redo() {
    return redo(this.view);
  }

  get depths() {
    return [undoDepth(this.view.state), redoDepth(this.view.state)];
  }

  // messages at their lines
  mark(problems) {
    const { doc } = this.view.state;
    const marks = problems.map(({ line, text, remedy }) => {
      const at = doc.line(Math.min(Math.max(line, 1), doc.lines));
      const indent = at.text.length - at.text.trimStart().length;
      return { from: at.from + Math.min(indent, at.length), to: at.to, severity: "error", message: `${text} ${remedy}`.trim() };
    });
    this.view.dispatch(setDiagnostics(this.view.state, marks));
  }

  // scroll to a line and put the cursor there, without taking the keyboard away from the drawing
  reveal(line) {
    const { doc } = this.view.state;
    if (!line || line > doc.lines) return;
    const { from, to } = doc.line(line);
    this.view.dispatch({ selection: { anchor: from, head: to }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
  }
}

// the smallest range that two texts differ in
export function difference(before, after) {
  if (before === after) return null;
  let from = 0;
  const shorter = Math.min(before.length, after.length);
  while (from < shorter && before[from] === after[from]) from++;
  let end = 0;
  while (end < shorter - from && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  return { from, to: before.length - end, insert: after.slice(from, after.length - end) };
}
