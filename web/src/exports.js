// Take it away: files of other kinds, made by the server, and a link that carries the model.

import { toast } from "./dialogs.js";

const KINDS = {
  yaml: "YAML: the text", python: "Python: a script that builds it", html: "HTML: a player in one file", gif: "GIF: an animation",
  svg: "SVG: this pose", csv: "CSV: channels", xlsx: "Excel: channels", report: "Report",
};

export function exportMenu(studio) {
  const kinds = Object.entries(KINDS).map(([kind, word]) => [word, () => take(studio, kind)]);
  return [["Take it away"], ...kinds, null, ["Copy a link that carries the model", () => copyLink(studio)]];
}

async function asked(studio, kind) {
  const { files, editor, screen, values, analysis } = studio;
  const channels = ["csv", "xlsx"].includes(kind) ? screen.player.plots.charts.map(({ name }) => name) : [];
  const request = { kind, text: editor.text, name: files.name, at: screen.player.time, values, ...(channels.length ? { channels } : {}) };
  return studio.connection.ask("export", { ...request, ...(analysis.asked ? { analysis: analysis.asked } : {}) });
}

async function take(studio, kind) {
  try {
    studio.say(`${KINDS[kind]} is being written …`);
    const { name, type, base64 } = await asked(studio, kind);
    save(new Blob([bytesOf(base64)], { type }), name);
    studio.say(`${name} is among your downloads.`);
  } catch (error) {
    studio.refuse(error);
  }
}

async function copyLink(studio) {
  try {
    const { base64 } = await asked(studio, "link");
    const link = new URL(`/${new TextDecoder().decode(bytesOf(base64)).trim()}`, location.href).href; // without the token
    studio.lastLink = link;
    await navigator.clipboard.writeText(link);
    toast("The link is in the clipboard. `simengine2d studio LINK` opens it; so does its part from # on, after the address of any studio.");
  } catch (error) {
    if (error instanceof DOMException) toast(`The clipboard is closed to the page; the link: ${studio.lastLink}`);
    else studio.refuse(error);
  }
}

const bytesOf = (base64) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
