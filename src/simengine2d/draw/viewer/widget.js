// The widget of a notebook: the player, whose time is shared with Python, and sliders that run the model again there.

const PAUSE = 120; // milliseconds between two messages

// calls with the last of its values, not more often than every PAUSE
function seldom(call) {
  let [waiting, last] = [null, null];
  return (value) => {
    last = value;
    waiting ??= setTimeout(() => {
      waiting = null;
      call(last);
    }, PAUSE);
  };
}

function slider({ name, low, high, value, unit }, change) {
  const text = (number) => `${shortNumber(number)} ${unit}`.trim();
  const shown = html("output", {}, text(value));
  const input = html("input", { type: "range", min: low, max: high, step: (high - low) / 200, value, "aria-label": name });
  input.addEventListener("input", () => {
    shown.textContent = text(Number(input.value));
    change(name, Number(input.value));
  });
  return html("label", { class: "parameter" }, name, input, shown);
}

function renderWidget({ model, el }) {
  // the sliders stay while the player is made anew, so that they can be dragged on
  const sheet = html("style", {}, model.get("sheet"));
  const sliders = html("div", { class: "simengine2d parameters" });
  const message = html("p", { class: "message", role: "status" });
  const box = html("div");
  box.style.setProperty("--height", `${model.get("height")}px`);
  el.append(sheet, sliders, box);
  let player = null;
  const send = (name) => seldom((value) => {
    model.set(name, value);
    model.save_changes();
  });
  const sendTime = send("time");
  const show = () => {
    const before = player && player.settings;
    if (player) player.end();
    box.replaceChildren();
    player = mount(box, model.get("data"));
    if (before) player.take(before);
    player.onTime = sendTime;
  };
  show();
  const { theme } = model.get("data").options;
  const unfollow = followTheme(sliders, (paper) => { sliders.dataset.theme = theme || paper; });
  const sendValues = send("values");
  const values = { ...model.get("values") };
  const ranges = model.get("parameters");
  const change = (name, value) => sendValues({ ...Object.assign(values, { [name]: value }) });
  sliders.append(...ranges.map((range) => slider(range, change)), message);
  sliders.hidden = !ranges.length;
  model.on("change:time", () => Math.abs(model.get("time") - player.time) > 1e-12 && player.seek(model.get("time")));
  model.on("change:data", show);
  model.on("change:message", () => { message.textContent = model.get("message"); });
  return () => {
    unfollow();
    player.end();
  };
}
