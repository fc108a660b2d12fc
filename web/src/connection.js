// The socket to the server: numbered questions, their answers, and what the server tells by itself.

const AGAIN = 1000; // milliseconds until the next attempt to connect

export class Refusal extends Error {
  constructor(answer) {
    super(answer.error);
    this.answer = answer;
  }
}

const LOST = { error: "The studio does not answer. Is it still running?", lost: true };

export class Connection {
  // `onPush` hears what the server tells, `onState` whether there is a connection
  constructor(onPush, onState) {
    Object.assign(this, { onPush, onState, waiting: new Map(), last: 0, socket: null });
  }

  open() {
    const address = new URL("live", location.href);
    address.protocol = address.protocol.replace("http", "ws");
    address.hash = "";
    const socket = new WebSocket(address);
    socket.onopen = () => {
      this.socket = socket;
      this.onState(true);
    };
    socket.onmessage = ({ data }) => this.hear(JSON.parse(data));
    socket.onclose = () => this.lose();
  }

  lose() {
    this.socket = null;
    const lost = [...this.waiting.values()];
    this.waiting.clear();
    for (const { reject } of lost) reject(new Refusal(LOST));
    this.onState(false);
    setTimeout(() => this.open(), AGAIN);
  }

  hear(message) {
    if (message.push) return this.onPush(message);
    const asked = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (!asked) return undefined;
    return message.ok ? asked.resolve(message) : asked.reject(new Refusal(message));
  }

  // the answer to a question; `id` of the promise is its number, by which it can be cancelled
  ask(verb, data = {}) {
    const id = ++this.last;
    const answer = new Promise((resolve, reject) => {
      if (!this.socket) {
        reject(new Refusal(LOST));
        return;
      }
      this.waiting.set(id, { resolve, reject });
      this.socket.send(JSON.stringify({ id, do: verb, ...data }));
    });
    answer.id = id;
    return answer;
  }
}
