// Parallel coordinates: an axis for each objective with its best value at the top, and a line for each trade-off.

const MOST_LINES = 500;  // lines of the front that are drawn: more are a solid area, and slow
const AXIS_REACH = 22;   // so many pixels beside an axis a pointer takes hold of it

class ParallelAxes {
  constructor(canvas, model, state) {
    Object.assign(this, { canvas, model, state });
  }

  measure() {
    const { clientWidth: width, clientHeight: height } = this.canvas, side = Math.min(58, width / (2 * this.model.nObjectives));
    const wide = Math.min(150, (width - 2 * side) / (this.model.nObjectives - 1) - 8);
    this.names = this.model.objectives.map((objective) => textLines(labelOf(objective), wide));
    const top = 28 + LINE * Math.max(...this.names.map((lines) => lines.length));
    this.frame = { left: side, right: width - side, top, bottom: height - 22 };
  }

  across(m) { return this.frame.left + m * (this.frame.right - this.frame.left) / (this.model.nObjectives - 1); }

  down(loss) { return this.frame.top + loss * (this.frame.bottom - this.frame.top); }

  /** The corners of the line of some objective values. */
  corners(values) { return this.model.loss(values).map((loss, m) => [this.across(m), this.down(loss)]); }

  drawAxes(context) {
    const { model } = this;
    model.objectives.forEach((_, m) => {
      const x = this.across(m), put = (text, y) => {
        const half = context.measureText(text).width / 2;
        context.fillText(text, Math.min(this.canvas.clientWidth - half - 1, Math.max(half + 1, x)), y);
      };
      strokeSegments(context, [[[x, this.frame.top], [x, this.frame.bottom]]], COLORS.muted, 1.2);
      context.textAlign = "center";
      context.fillStyle = COLORS.ink;
      this.names[m].forEach((line, k) => put(line, 14 + LINE * k));
      context.fillStyle = COLORS.muted;
      put(model.figure(m, model.ideal[m], 3), this.frame.top - 8);
      put(model.figure(m, model.nadir[m], 3), this.frame.bottom + 16);
    });
  }
}

function strokeLine(context, corners, color, width) {
  strokeSegments(context, corners.slice(1).map((corner, k) => [corners[k], corner]), color, width);
}

/** The front of many objectives. A range dragged along an axis keeps the trade-offs within it. */
class ParallelView extends ParallelAxes {
  constructor(canvas, model, state, onMove, onRange) {
    super(canvas, model, state);
    Object.assign(this, { onMove, onRange, chosen: 0 });
    const step = Math.max(1, model.samples.length / MOST_LINES);
    this.lines = Array.from({ length: Math.floor(model.samples.length / step) }, (_, k) => Math.floor(k * step));
    followPointer(canvas, {
      down: ([x, y]) => { this.held = { axis: this.axisAt(x), from: y, moved: false }; },
      move: (place) => this.drag(place),
      up: (place) => { if (!this.held.moved) this.click(this.held.axis, place); },
    });
    canvas.addEventListener("keydown", (event) => this.onKey(event));
  }

  /** The objective whose axis is within reach, or null. */
  axisAt(x) {
    const distance = this.model.objectives.map((_, m) => Math.abs(x - this.across(m))), nearest = Math.min(...distance);
    return nearest <= AXIS_REACH ? distance.indexOf(nearest) : null;
  }

  lossAt(y) { return Math.min(1, Math.max(0, (y - this.frame.top) / (this.frame.bottom - this.frame.top))); }

  drag([, y]) {
    if (this.held.axis === null) return;
    if (Math.abs(y - this.held.from) > 4) this.held.moved = true;
    if (this.held.moved) this.setRange(this.held.axis, ...[this.lossAt(this.held.from), this.lossAt(y)].sort((a, b) => a - b));
  }

  /** Keeps losses of one objective from `from` to `to`; an end of the axis is no limit. */
  setRange(m, from, to) {
    const { model } = this, value = (loss) => model.ideal[m] + loss * model.scale[m];
    this.chosen = m;
    this.onRange(m, to >= 0.99 ? model.unbounded(m) : value(to), from <= 0.01 ? model.unlimited(m) : value(from));
  }

  /** The losses that the limits on one objective leave. */
  range(m) {
    const { model, state } = this, share = (limit, none) => (Number.isFinite(limit) ? (limit - model.ideal[m]) / model.scale[m] : none);
    return [share(state.bests[m], 0), share(state.bounds[m], 1)];
  }

  /** On an axis that has a range it is taken off; elsewhere the nearest line is picked. */
  click(axis, [x, y]) {
    const limited = axis !== null && String(this.range(axis)) !== "0,1";
    if (limited) this.setRange(axis, 0, 1); else this.onMove(this.model.samples[this.nearestLine(x, y)]);
  }

  /** The number of the line that passes nearest above or below the pointer, of those within the limits if there are any. */
  nearestLine(x, y) {
    const gaps = this.model.nObjectives - 1, step = (this.frame.right - this.frame.left) / gaps;
    const place = Math.min(gaps, Math.max(0, (x - this.frame.left) / step)), left = Math.min(gaps - 1, Math.floor(place));
    const allowed = this.lines.filter((k) => this.state.feasible[k]);
    const height = (k) => {
      const corners = this.corners(this.model.sampleValues[k]), share = place - left;
      return Math.abs(corners[left][1] * (1 - share) + corners[left + 1][1] * share - y);
    };
    return (allowed.length ? allowed : this.lines).reduce((best, k) => (height(k) < best.height ? { k, height: height(k) } : best), { height: Infinity }).k;
  }

  /** Left and right choose an axis; up and down move the worst that is kept, with Shift the best. */
  onKey(event) {
    const n = this.model.nObjectives, move = { ArrowUp: -0.02, ArrowDown: 0.02 }[event.key], turn = { ArrowLeft: n - 1, ArrowRight: 1 }[event.key];
    if (!move && !turn) return;
    event.preventDefault();
    if (turn) { this.chosen = (this.chosen + turn) % n; this.draw(); return; }
    const [from, to] = this.range(this.chosen);
    if (event.shiftKey) this.setRange(this.chosen, Math.min(to - 0.01, Math.max(0, from + move)), to);
    else this.setRange(this.chosen, from, Math.max(from + 0.01, Math.min(1, to + move)));
  }

  draw() {
    const { state } = this;
    this.measure();
    drawLayers(this, state.version, (context) => { this.drawLines(context); this.drawAxes(context); }, (context) => {
      this.drawRanges(context);
      for (const bookmark of state.bookmarks) strokeLine(context, this.corners(bookmark.f), bookmark.color, 2);
      strokeLine(context, this.corners(state.f), COLORS.point, 2.5);
      for (const corner of this.corners(state.f)) drawPoint(context, ...corner, COLORS.point, 5);
    });
  }

  /** The lines within the limits over the others. */
  drawLines(context) {
    const { model, state } = this;
    const colorOf = (k) => (state.feasible[k] ? model.pieces[model.samplePieces[k]].tone.line : COLORS.infeasible);
    const groups = [...grouped(this.lines, colorOf)].sort(([one], [other]) => (other === COLORS.infeasible) - (one === COLORS.infeasible));
    for (const [color, mine] of groups) {
      context.globalAlpha = color === COLORS.infeasible ? 0.5 : 0.2;
      const lines = mine.map((k) => this.corners(model.sampleValues[k]));
      strokeSegments(context, lines.flatMap((line) => line.slice(1).map((corner, m) => [line[m], corner])), color, 1);
    }
    context.globalAlpha = 1;
  }

  drawRanges(context) {
    this.model.objectives.forEach((_, m) => {
      const [from, to] = this.range(m), chosen = this.chosen === m && document.activeElement === this.canvas;
      if (from === 0 && to === 1 && !chosen) return;
      const box = [this.across(m) - 7, this.down(from), 14, this.down(to) - this.down(from)];
      context.fillStyle = COLORS.chosen;
      context.fillRect(...box);
      context.lineWidth = chosen ? 2 : 1;
      context.strokeStyle = COLORS.accent;
      context.strokeRect(...box);
    });
  }
}

/** Bookmarked choices side by side, a line each. */
class ComparisonChart extends ParallelAxes {
  draw() {
    const { state } = this;
    this.canvas.hidden = state.bookmarks.length < 2;
    if (this.canvas.hidden) return;
    this.measure();
    drawLayers(this, "axes", (context) => this.drawAxes(context), (context) => {
      for (const { f, color } of state.bookmarks) {
        strokeLine(context, this.corners(f), color, 2.5);
        for (const corner of this.corners(f)) drawPoint(context, ...corner, color, 5);
      }
    });
  }
}
