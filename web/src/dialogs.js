// Questions to the person in front of the page.

function dialog(title, content, buttons) {
  return new Promise((done) => {
    const box = html("dialog", { class: "ask", "aria-label": title }, html("h2", {}, title), ...content);
    const close = (value) => {
      box.close();
      box.remove();
      done(value);
    };
    const row = buttons.map(([word, value, main]) => html("button", { type: "button", class: main ? "main" : "", onclick: () => close(typeof value === "function" ? value() : value) }, word));
    box.append(html("div", { class: "buttons" }, ...row));
    box.addEventListener("cancel", () => close(null));
    box.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.target.tagName === "BUTTON") return;
      event.preventDefault();
      row.find((button) => button.classList.contains("main"))?.click();
    });
    document.body.append(box);
    box.showModal();
    box.querySelector("input")?.select();
  });
}

// one of several answers; null where the question is put away
export function choose(title, sentence, choices) {
  return dialog(title, [html("p", {}, sentence)], choices);
}

export function askText(title, label, value = "") {
  const input = html("input", { type: "text", value, spellcheck: "false", autocomplete: "off" });
  return dialog(title, [html("label", { class: "row" }, label, input)], [["Cancel", null], ["OK", () => input.value.trim(), true]]);
}

// a list of things to choose from, with a field that filters it
export function pick(title, things) {
  return new Promise((done) => {
    const filter = html("input", { type: "search", placeholder: "filter", "aria-label": "Filter" });
    const list = html("div", { class: "things" });
    const box = html("dialog", { class: "ask wide", "aria-label": title }, html("h2", {}, title), filter, list);
    const close = (value) => {
      box.close();
      box.remove();
      done(value);
    };
    const fill = () => list.replaceChildren(...things.filter(({ title: name, sentence = "" }) => `${name} ${sentence}`.toLowerCase().includes(filter.value.toLowerCase()))
      .map((thing) => html("button", { type: "button", class: "thing", "data-value": thing.value, onclick: () => close(thing.value) }, html("strong", {}, thing.title), html("span", {}, thing.sentence ?? ""))));
    filter.addEventListener("input", fill);
    fill();
    box.append(html("div", { class: "buttons" }, html("button", { type: "button", onclick: () => close(null) }, "Cancel")));
    box.addEventListener("cancel", () => close(null));
    document.body.append(box);
    box.showModal();
    filter.focus();
  });
}

// a short message that goes away by itself; errors stay until they are clicked
export function toast(text, kind = "note") {
  const place = document.querySelector(".toasts");
  const line = html("div", { class: `toast ${kind}`, role: kind === "error" ? "alert" : "status" }, text);
  line.addEventListener("click", () => line.remove());
  while (place.children.length > 2) place.firstChild.remove();
  place.append(line);
  setTimeout(() => line.remove(), kind === "error" ? 12000 : 5000);
}
