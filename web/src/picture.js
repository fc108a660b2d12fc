// A picture behind the grid: a photo or a drawing to trace. The text names it and places it; its pixels lie in the folder of the
// model, or are kept by the browser under its name.

import { toast } from "./dialogs.js";

const LARGEST = 20e6; // bytes

export class Picture {
  constructor(studio) {
    Object.assign(this, { studio, name: null });
    this.input = html("input", { type: "file", accept: "image/*", hidden: true, onchange: () => this.read() });
    document.body.append(this.input);
  }

  choose(at) {
    this.at = at;
    this.input.value = "";
    this.input.click();
  }

  async read() {
    const [file] = this.input.files;
    if (!file) return;
    if (file.size > LARGEST) {
      toast("The picture has more than 20 MB. Make it smaller.", "error");
      return;
    }
    await keep(file.name, file);
    this.name = null; // shown anew
    const [x0, , x1] = this.studio.screen.player.stage.bounds;
    await this.studio.edit({ do: "set_picture", picture: { file: file.name, at: this.at, width: Number((x1 - x0).toPrecision(2)) } });
    this.studio.say("Scale it by two clicks: right-click the paper.");
  }

  // as the text says it
  async show() {
    const { ground } = this.studio.overlay;
    const given = this.studio.drawing?.picture ?? null;
    if (!given?.file) {
      ground.picture = this.name = null;
      return;
    }
    if (given.file !== this.name) {
      this.name = given.file;
      this.image = await this.load(given.file);
      if (!this.image) toast(`The picture ${given.file} is not in this browser, and not beside the model.`);
    }
    ground.picture = this.image && { ...this.image, at: given.at ?? [0, 0], width: given.width ?? 1, angle: given.angle ?? 0, opacity: given.opacity };
    this.studio.overlay.show();
  }

  async load(name) {
    const blob = (await kept(name)) ?? (await beside(name));
    if (!blob) return null;
    const data = URL.createObjectURL(blob);
    const image = new Image();
    image.src = data;
    try {
      await image.decode();
    } catch {
      return null;
    }
    return { data, ratio: image.naturalHeight / (image.naturalWidth || 1) };
  }
}

// in the folder of the model
async function beside(name) {
  const answer = await fetch(`pictures/${encodeURIComponent(name)}`);
  return answer.status === 200 ? answer.blob() : null;
}

// pictures by their names, in the database of the browser

function store(mode) {
  return new Promise((done, fail) => {
    const opening = indexedDB.open("simengine2d", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("pictures");
    opening.onsuccess = () => done(opening.result.transaction("pictures", mode).objectStore("pictures"));
    opening.onerror = () => fail(opening.error);
  });
}

const settled = (request) => new Promise((done, fail) => {
  request.onsuccess = () => done(request.result);
  request.onerror = () => fail(request.error);
});

async function keep(name, blob) {
  await settled((await store("readwrite")).put(blob, name));
}

async function kept(name) {
  return (await settled((await store("readonly")).get(name))) ?? null;
}
