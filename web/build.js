// Bundles the page's sources and CodeMirror into one file, which is committed: `npm ci && npm run build`.
// The first line of the file holds a hash of all it was made of, by which a test knows whether it is up to date.

import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const here = new URL(".", import.meta.url).pathname;
const target = process.argv[2] ?? `${here}../src/simengine2d/cli/studio/page/studio.js`;

export function sourcesHash() {
  const hash = createHash("sha256");
  const names = readdirSync(`${here}src`, { recursive: true }).filter((name) => name.endsWith(".js")).sort();
  for (const name of [...names.map((name) => `src/${name}`), "build.js", "package-lock.json"]) {
    hash.update(`${name}\n`).update(readFileSync(`${here}${name}`));
  }
  return hash.digest("hex");
}

const made = await build({
  entryPoints: [`${here}src/main.js`],
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  legalComments: "eof",
  write: false,
});
const head = `// sources ${sourcesHash()}\n// Built from web/; CodeMirror and Lezer: MIT license, Copyright (C) 2018 by Marijn Haverbeke and others\n`;
writeFileSync(target, head + made.outputFiles[0].text);
