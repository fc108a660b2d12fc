import js from "@eslint/js";
import globals from "globals";

// what the scripts of the player define for the page; see src/simengine2d/draw/viewer
const player = ["Player", "Result", "Arrow", "svg", "html", "at", "minus", "shortNumber", "roundBelow", "pathText", "save"];

export default [
  js.configs.recommended,
  {
    files: ["src/**/*.js"],
    languageOptions: { globals: { ...globals.browser, ...Object.fromEntries(player.map((name) => [name, "readonly"])) } },
    rules: { eqeqeq: "error", "no-var": "error", "prefer-const": "error", "no-unused-vars": "error", complexity: ["error", 14], "max-lines": ["error", 400] },
  },
  { files: ["*.js"], languageOptions: { globals: globals.node } },
];
