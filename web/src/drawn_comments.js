// Comments that are drawings of letters keep their lines whole where other lines wrap.

import { RangeSetBuilder } from "@codemirror/state";
import { Decoration, ViewPlugin } from "@codemirror/view";

const IS_DRAWN = /^\s*#(\s{3,}\S|.*\S\s{3,}\S)/;
const whole = Decoration.line({ class: "drawn-comment" });

function decorated({ visibleRanges, state: { doc } }) {
  const builder = new RangeSetBuilder();
  for (const { from, to } of visibleRanges) {
    for (let line = doc.lineAt(from); ; line = doc.line(line.number + 1)) {
      if (IS_DRAWN.test(line.text)) builder.add(line.from, line.from, whole);
      if (line.to >= to || line.number === doc.lines) break;
    }
  }
  return builder.finish();
}

export const drawnComments = ViewPlugin.define(
  (view) => ({
    decorations: decorated(view),
    update(update) {
      if (update.docChanged || update.viewportChanged) this.decorations = decorated(update.view);
    },
  }),
  { decorations: (plugin) => plugin.decorations },
);
