// The front: a curve for two objectives, a surface that turns for three.

class CurveView {
  constructor(canvas, model, state, onMove) {
    Object.assign(this, { canvas, model, state, onMove });
    const pick = (place) => onMove(nearestSample(this, place));
    followPointer(canvas, { down: pick, move: pick });
  }

  place(values) {
    const { left, right, top, bottom } = this.frame, { model } = this;
    return [left + model.height(0, values[0]) * (right - left), bottom - model.height(1, values[1]) * (bottom - top)];
  }

  draw() {
    const { clientWidth: width, clientHeight: height } = this.canvas, { state } = this;
    this.frame = frameWithLabels(this.model, 0, 1, { left: 64, right: width - 22, top: 20, bottom: height - 48 });
    drawLayers(this, state.version, (context) => this.drawCurve(context), (context) => {
      for (const bookmark of state.bookmarks) drawPoint(context, ...this.place(bookmark.f), bookmark.color, 5);
      drawPoint(context, ...this.place(state.f));
    });
  }

  drawCurve(context) {
    const { model, state } = this;
    drawAxes(context, this.frame, model, 0, 1);
    this.mesh ??= model.mesh(true);
    context.lineCap = "round";
    const parts = cutByBounds(model, this.mesh, frontCells(model, this.mesh), state, (_, values) => this.place(values));
    for (const [color, mine] of grouped(parts, ({ piece, feasible }) => (feasible ? model.pieces[piece].tone.line : COLORS.barred))) {
      strokeSegments(context, mine.filter(({ polygon }) => polygon.length === 2).map(({ polygon }) => polygon), color, 3);
      for (const { polygon } of mine) if (polygon.length === 1) drawPoint(context, ...polygon[0], color, 5);
    }
    drawEvaluated(context, model, (values) => this.place(values));
  }
}

/** A frame that has room for the lines of its axes' names, with these: of objective i below it, and of j beside it. */
function frameWithLabels({ objectives }, i, j, { left, right, top, bottom }) {
  const room = (lines) => LINE * (lines.length - 1);
  let below = [""], beside = [""];
  for (let round = 0; round < 3; round++) {  // lines of one leave the other less room
    beside = textLines(axisLabelOf(objectives[j]), bottom - room(below) - top);
    below = textLines(axisLabelOf(objectives[i]), right - left - room(beside));
  }
  return { left: left + room(beside), right, top, bottom: bottom - room(below), below, beside };
}

/** A box with round ticks for objectives i (across) and j (up). */
function drawAxes(context, frame, model, i, j, small = false) {
  const { left, right, top, bottom } = frame, { low, scale } = model, high = (m) => low[m] + Math.abs(scale[m]);
  context.strokeStyle = COLORS.line;
  context.fillStyle = COLORS.muted;
  context.lineWidth = 1;
  context.font = small ? FONT.replace("12px", "11px") : FONT;
  context.beginPath();
  for (const value of ticks(low[i], high(i), small ? 4 : 5)) {
    const x = left + model.height(i, value) * (right - left);
    context.moveTo(x, top);
    context.lineTo(x, bottom);
    context.textAlign = "center";
    context.fillText(readable(value, 3), x, bottom + 15);
  }
  for (const value of ticks(low[j], high(j), small ? 4 : 5)) {
    const y = bottom - model.height(j, value) * (bottom - top);
    context.moveTo(left, y);
    context.lineTo(right, y);
    context.textAlign = "right";
    context.fillText(readable(value, 3), left - 7, y + 4);
  }
  context.stroke();
  context.strokeRect(left, top, right - left, bottom - top);
  context.fillStyle = COLORS.ink;
  context.textAlign = "center";
  fillLines(context, frame.below, (left + right) / 2, bottom + (small ? 30 : 36));
  context.save();
  context.translate(left - (small ? 36 : 50) - LINE * (frame.beside.length - 1), (top + bottom) / 2);
  context.rotate(-Math.PI / 2);
  fillLines(context, frame.beside, 0, 0);
  context.restore();
}

/** The sample whose picture is nearest to a place of the canvas. */
function nearestSample(view, [x, y]) {
  let best = 0, least = Infinity;
  view.model.sampleValues.forEach((values, k) => {
    const [px, py] = view.place(values), squared = (px - x) ** 2 + (py - y) ** 2;
    if (squared < least) { least = squared; best = k; }
  });
  return view.model.samples[best];
}

/** The front of three objectives as small triangles, each cut where a bound cuts it; curves and points beside them. */
class Faces {
  constructor(model, fine) {
    Object.assign(this, { model, fine });
  }

  /** Polygons in space with their colors. They do not depend on where one looks from, so they are kept until a bound moves. */
  colored(state) {
    if (this.version === state.version) return this.known;
    this.mesh ??= this.model.mesh(this.fine);
    this.cells ??= frontCells(this.model, this.mesh);
    const parts = cutByBounds(this.model, this.mesh, this.cells, state, (_, values) => this.model.normalized(values));
    const known = parts.map(({ polygon, corners, piece, feasible }) => {
      const tone = feasible ? this.model.pieces[piece].tone : EXCLUDED_TONE;
      return { corners: polygon, color: corners.length > 2 ? shade(tone, faceLight(...corners)) : tone.line };
    });
    Object.assign(this, { version: state.version, known });
    return known;
  }
}

/** The turn from which a front is seen face on: objectives trade along a normal that has their signs, looked at from above. */
function facingTurn([first, second, third]) { return Math.atan2(first * third, second * third) - 0.035; }

class SurfaceView {
  constructor(canvas, model, state, onMove) {
    Object.assign(this, { canvas, model, state, onMove, turn: facingTurn(model.signs), tilt: 0.5 });
    this.fine = new Faces(model, true);
    this.coarse = new Faces(model, false);  // a fifth of the triangles: what a frame has time for while the front turns
    this.faces = this.fine;
    let first, last;
    followPointer(canvas, {
      down: (place) => { first = last = place; },
      move: (place) => {
        this.rotate((place[0] - last[0]) * 0.009, (place[1] - last[1]) * 0.009);
        last = place;
      },
      up: (place) => { if (Math.hypot(place[0] - first[0], place[1] - first[1]) < 4) onMove(nearestSample(this, place)); },
    });
    canvas.addEventListener("keydown", (event) => {
      const turns = { ArrowLeft: [-0.08, 0], ArrowRight: [0.08, 0], ArrowUp: [0, -0.08], ArrowDown: [0, 0.08] }[event.key];
      if (turns) { event.preventDefault(); this.rotate(...turns); }
    });
  }

  rotate(turn, tilt) {
    this.turn += turn;
    this.tilt = Math.min(1.45, Math.max(-0.2, this.tilt + tilt));
    if (this.waiting) return;
    this.waiting = true;  // however fast the pointer moves, each frame is drawn once
    requestAnimationFrame(() => { this.waiting = false; this.draw(); });
    this.faces = this.coarse;
    clearTimeout(this.settling);
    this.settling = setTimeout(() => { this.faces = this.fine; this.draw(); }, 150);
  }

  /** Orthographic: turn about the third axis, then tilt towards the viewer. Returns x, y and depth (nearer is larger). */
  project(p) {
    const { c, s, ct, st } = this.rotation;
    const across = c * p[0] - s * p[1], along = s * p[0] + c * p[1];
    return [this.center[0] + this.size * across, this.center[1] + this.size * (along * st - p[2] * ct), along * ct + p[2] * st];
  }

  place(values) { return this.project(this.model.normalized(values)); }

  draw() {
    const { clientWidth: width, clientHeight: height } = this.canvas, { state } = this;
    this.labels = this.model.objectives.map((one) => textLines(axisLabelOf(one), width / 2 - (width < 420 ? 64 : 24)));
    this.deep = LINE * (Math.max(this.labels[0].length, this.labels[1].length) - 1);  // below the floor
    this.center = [width / 2, height / 2 + 4 - 0.7 * this.deep];
    this.size = Math.min((width - 130) * 0.7, height * 0.6);  // room for the labels on both sides
    this.rotation = { c: Math.cos(this.turn), s: Math.sin(this.turn), ct: Math.cos(this.tilt), st: Math.sin(this.tilt) };
    drawLayers(this, [state.version, this.turn, this.tilt, this.faces === this.fine], (context) => {
      this.drawBox(context);
      this.drawSurface(context);
      drawEvaluated(context, this.model, (values) => this.place(values));
      this.drawLabels(context);
    }, (context) => {
      for (const bookmark of state.bookmarks) drawPoint(context, ...this.place(bookmark.f).slice(0, 2), bookmark.color, 5);
      drawPoint(context, ...this.place(state.f).slice(0, 2));
    });
  }

  /** The faces, the farthest first, each with a thin outline that closes the seams between them. */
  drawSurface(context) {
    const depth = (corners) => corners.reduce((sum, corner) => sum + corner[2], 0) / corners.length;
    const seen = this.faces.colored(this.state).map(({ corners, color }) => {
      const projected = corners.map((corner) => this.project(corner));
      return { projected, color, depth: depth(projected) };
    });
    for (const { projected, color } of seen.sort((a, b) => a.depth - b.depth)) {
      if (projected.length === 1) { drawPoint(context, projected[0][0], projected[0][1], color, 4); continue; }
      context.lineWidth = projected.length === 2 ? 3 : 0.6;
      context.fillStyle = context.strokeStyle = color;
      context.beginPath();
      projected.forEach((corner, k) => context[k ? "lineTo" : "moveTo"](corner[0], corner[1]));
      context.closePath();
      context.fill();
      context.stroke();
    }
  }

  /** The edges of the box that holds the front. */
  drawBox(context) {
    const ends = [-0.5, 0.5], edges = [];
    for (const a of ends) for (const b of ends) edges.push([[-0.5, a, b], [0.5, a, b]], [[a, -0.5, b], [a, 0.5, b]], [[a, b, -0.5], [a, b, 0.5]]);
    strokeSegments(context, edges.map((edge) => edge.map((corner) => this.project(corner))), COLORS.line, 1);
  }

  /** For each objective the edge that is labeled: on the floor the nearer one, of those that stand the leftmost. */
  labeledEdges() {
    const ends = [-0.5, 0.5], middle = (edge, axis) => this.project(edge[0])[axis] + this.project(edge[1])[axis];
    const pick = (edges, axis, sign) => edges.reduce((best, edge) => (sign * middle(edge, axis) > sign * middle(best, axis) ? edge : best));
    return [
      pick(ends.map((a) => [[-0.5, a, -0.5], [0.5, a, -0.5]]), 1, 1), pick(ends.map((a) => [[a, -0.5, -0.5], [a, 0.5, -0.5]]), 1, 1),
      pick(ends.flatMap((a) => ends.map((b) => [[a, b, -0.5], [a, b, 0.5]])), 0, -1),
    ];
  }

  /** Names beside their edges with the range at its ends, over the front, with a rim. */
  drawLabels(context) {
    const { clientWidth: wide, clientHeight: high } = this.canvas, { model } = this;
    context.textAlign = "center";
    context.lineJoin = "round";
    this.labeledEdges().forEach((edge, m) => {
      const [from, to] = edge.map((corner) => this.project(corner)), along = (share) => [0, 1].map((k) => from[k] + share * (to[k] - from[k]));
      const away = along(0.5).map((value, k) => value - this.center[k]), length = Math.hypot(...away) || 1;
      const put = (lines, [x, y], distance, color) => {
        const dx = away[0] / length, dy = away[1] / length, deep = LINE * (lines.length - 1);
        const half = Math.max(...lines.map((line) => context.measureText(line).width)) / 2;
        const px = Math.min(wide - half - 4, Math.max(half + 4, x + dx * (distance + half * Math.abs(dx))));
        const py = Math.min(high - 5 - deep, Math.max(13, y + dy * distance + 4 - deep * (1 - dy) / 2));
        context.lineWidth = 4;
        context.strokeStyle = COLORS.rim;
        lines.forEach((line, k) => context.strokeText(line, px, py + LINE * k));
        context.fillStyle = color;
        fillLines(context, lines, px, py);
      };
      put(this.labels[m], along(0.5), m < 2 ? 26 + 0.6 * this.deep : 14, COLORS.ink);
      put([model.figure(m, model.low[m], 3)], along(0.1), 11, COLORS.muted);
      put([model.figure(m, model.low[m] + Math.abs(model.scale[m]), 3)], along(0.9), 11, COLORS.muted);
    });
  }
}

function faceLight(a, b, c) {
  const u = [b[0] - a[0], b[1] - a[1], b[2] - a[2]], v = [c[0] - a[0], c[1] - a[1], c[2] - a[2]];
  const n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
  return Math.abs(0.35 * n[0] + 0.2 * n[1] + 0.92 * n[2]) / (Math.hypot(...n) || 1);
}

function shade({ dark, bright }, light) {
  return rgb(dark.map((low, k) => Math.round(low + (bright[k] - low) * light)));
}
