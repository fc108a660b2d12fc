// A body in the hand: a driven mechanism is led through its range, a free one is pulled by a spring on the server.

export class Pull {
  constructor(studio, body, place) {
    Object.assign(this, { studio, body });
    const { screen } = studio;
    this.isDriven = studio.isDriven;
    if (this.isDriven) {
      screen.player.pause();
      this.carrier = screen.result.carriers.findIndex(({ name }) => name === body);
      this.spot = local(screen.result.pose(this.carrier, screen.result.locate(screen.player.time)), place.exact);
    } else {
      const poses = screen.pulled ?? null; // it is pulled on from where it was let go
      if (!poses) screen.rest();
      this.mouse = place.exact;
      this.began = studio.connection.ask("drag_begin", { text: studio.editor.text, body, point: place.exact, at: 0, ...(poses ? { poses } : {}) })
        .catch((error) => studio.refuse(error));
      studio.onFrame = (frame) => this.frame(frame);
    }
  }

  to({ exact }) {
    if (this.isDriven) this.lead(exact);
    else this.pullTo(exact);
  }

  pullTo(mouse) {
    this.mouse = mouse;
    this.studio.connection.ask("drag_to", { point: mouse }).catch(() => {});
  }

  // the time at which the point is next to the mouse; of equally good ones the one next to now
  lead([x, y]) {
    const { result, player } = this.studio.screen;
    const squares = Array.from(result.t, (_, i) => {
      const [px, py] = at(result.pose(this.carrier, { i, u: 0, h: 0 }), ...this.spot);
      return (px - x) ** 2 + (py - y) ** 2;
    });
    const [least, most] = [Math.min(...squares), Math.max(...squares)];
    const good = [...squares.keys()].filter((i) => squares[i] <= least + 0.02 * (most - least));
    const gap = (i) => Math.abs(result.t[i] - player.time);
    const i = refined(squares, good.reduce((best, k) => (gap(k) < gap(best) ? k : best), good[0]));
    player.seek(between(result.t, squares, i));
  }

  frame({ q, point, error }) {
    if (error) {
      this.studio.say(error);
      return;
    }
    this.studio.overlay.hand = [point, this.mouse];
    this.studio.screen.pull(q);
  }

  end() {
    if (this.isDriven) return;
    this.studio.connection.ask("drag_end").catch(() => {});
    Object.assign(this.studio, { onFrame: () => {} });
    this.studio.overlay.hand = [];
    this.studio.overlay.show();
    this.studio.say("It stays where you let it go. Drag on, or press Escape to get back to the drawing.");
  }
}

function local([x, y, phi], [wx, wy]) {
  const [c, s] = [Math.cos(phi), Math.sin(phi)];
  return [c * (wx - x) + s * (wy - y), -s * (wx - x) + c * (wy - y)];
}

// downhill from a row to the smallest square next to it
function refined(squares, start) {
  let i = start;
  while (i > 0 && squares[i - 1] < squares[i]) i--;
  while (i + 1 < squares.length && squares[i + 1] < squares[i]) i++;
  return i;
}

// the lowest point of the parabola through three rows
function between(t, squares, i) {
  if (i === 0 || i === t.length - 1) return t[i];
  const [a, b, c] = squares.slice(i - 1, i + 2);
  const bend = a - 2 * b + c;
  const shift = bend > 0 ? (0.5 * (a - c)) / bend : 0;
  return t[i] + shift * (shift > 0 ? t[i + 1] - t[i] : t[i] - t[i - 1]);
}
