"use strict";
// the least page that shows that the server works
const address = new URL("live", location.href).href.replace(/^http/, "ws").replace(/#.*/, "");
const socket = new WebSocket(address);
const state = document.getElementById("state");
socket.onopen = () => socket.send(JSON.stringify({ id: 1, do: "hello" }));
socket.onclose = () => { state.textContent = "disconnected"; };
socket.onmessage = (event) => {
  const message = JSON.parse(event.data);
  if (message.id === 1) {
    document.getElementById("text").value = message.text;
    state.textContent = `${message.folder} / ${message.file ?? "untitled"}, ${message.gallery.length} mechanisms`;
  }
};
