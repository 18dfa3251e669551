// The pad: drag the point, or use the arrow keys. For one surface it is the simplex of weights, for an atlas its chart.

class Pad {
  constructor(canvas, model, state, onMove) {
    Object.assign(this, { canvas, model, state, onMove });
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.dragging = true;
      this.moveTo(event);
    });
    canvas.addEventListener("pointermove", (event) => { if (this.dragging) this.moveTo(event); });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => { this.dragging = false; });
    canvas.addEventListener("keydown", (event) => this.onKey(event));
  }

  moveTo(event) {
    const box = this.canvas.getBoundingClientRect();
    this.onMove(this.pointAt(event.clientX - box.left, event.clientY - box.top));
  }

  onKey(event) {
    const directions = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const direction = directions[event.key];
    if (!direction) return;
    event.preventDefault();
    const step = (event.shiftKey ? 0.05 : 0.01) * this.width();
    const [x, y] = this.place(this.state.t);
    this.onMove(this.pointAt(x + step * direction[0], y + step * direction[1]));
  }

  draw() {
    drawLayers(this, this.state.version, (context) => this.drawStill(context), (context) => {
      this.drawMoving(context);
      for (const bookmark of this.state.bookmarks) drawPoint(context, ...this.place(bookmark.t), bookmark.color, 5);
      drawPoint(context, ...this.place(this.state.t));
    });
  }

  drawStill(context) {
    this.mesh ??= this.model.mesh(true);
    const parts = cutByBounds(this.model, this.mesh, this.mesh.cells.keys(), this.state, (t) => this.place(t));
    this.drawParts(context, parts);
    this.drawFrame(context);
  }

  drawMoving() {}

  get excludedColor() { return COLORS.infeasible; }

  /** Cells of the pad's own dimension by color; curves and points over them. */
  drawParts(context, parts) {
    const n = this.model.nObjectives;
    for (const [color, mine] of grouped(parts, (part) => this.colorOf(part))) {
      const cells = mine.filter(({ corners }) => corners.length === n).map(({ polygon }) => polygon);
      if (n === 3) fillPolygons(context, cells, color);
      else strokeSegments(context, cells, color, this.thickness(mine[0]));
    }
    const borders = this.mesh.borders.map((border) => border.map((k) => this.place(this.mesh.points[k])));
    strokeSegments(context, borders, "rgba(255,255,255,0.9)", 1);
    for (const { polygon, corners, feasible, piece } of parts) {
      if (corners.length === n) continue;
      const color = feasible ? this.model.pieces[piece].tone.line : COLORS.infeasibleDeep;
      if (polygon.length === 1) drawPoint(context, ...polygon[0], color, 4); else strokeSegments(context, [polygon], color, 2.5);
    }
  }

  /** What is excluded is gray; pieces of full dimension have their color, and what answers with less of one a pale one. */
  colorOf({ piece, feasible }) {
    if (!feasible) return this.model.nObjectives === 2 ? COLORS.infeasibleDeep : this.excludedColor;
    const { tone, dimension } = this.model.pieces[piece] ?? { tone: FACE_TONES[0] };
    if (dimension === this.model.nObjectives - 1) return tone.flat;
    return this.model.nObjectives === 2 ? COLORS.line : tone.pale;
  }

  thickness({ piece }) { return this.model.pieces[piece]?.dimension === 1 ? 10 : 4; }

  /** The names of the objectives at the places where each is best. */
  drawNames(context, ends) {
    const width = this.canvas.clientWidth;
    context.fillStyle = COLORS.ink;
    this.model.objectives.forEach(({ name, best }, m) => {
      context.textAlign = ends[m].align;
      context.fillText(fitText(context, `${best} ${name}`, ends[m].align === "center" ? width / 1.2 : width / 2 - 16), ends[m].x, ends[m].y);
    });
  }

  /** The names at the ends of a line, or below and above what has a corner for each of three objectives. */
  namePlaces(corners) {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (corners.length === 2) {
      return corners.map(([x, y], m) => ({ align: m ? "right" : "left", x: x + (m ? 12 : -12), y: y + 30 }));
    }
    return corners.map(([x, y], m) => ({
      align: ["left", "right", "center"][m], x: [4, width - 4, x][m], y: m === 2 ? y - 12 : height - 8,
    }));
  }
}

/** The weight triangle of three objectives, or the weight line of two. */
class SimplexPad extends Pad {
  /** Where the corners are drawn. */
  corners() {
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    if (this.model.nObjectives === 2) return [[28, height / 2], [width - 28, height / 2]];
    const side = Math.min(width - 48, (height - 58) / 0.866), left = (width - side) / 2;
    return [[left, height - 30], [left + side, height - 30], [left + side / 2, height - 30 - 0.866 * side]];
  }

  width() { const c = this.corners(); return c[1][0] - c[0][0]; }

  place(t) {
    const corners = this.corners();
    return [0, 1].map((axis) => t.reduce((sum, value, m) => sum + value * corners[m][axis], 0));
  }

  pointAt(x, y) {
    const c = this.corners();
    if (c.length === 2) {
      const share = (x - c[0][0]) / (c[1][0] - c[0][0]);
      return projectToSimplex([1 - share, share]);
    }
    const area = (p, q, r) => (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]);
    const whole = area(c[0], c[1], c[2]), point = [x, y];
    return projectToSimplex([area(point, c[1], c[2]), area(c[0], point, c[2]), area(c[0], c[1], point)].map((a) => a / whole));
  }

  drawFrame(context) {
    const corners = this.corners();
    if (corners.length === 3) this.drawLevels(context, corners);
    this.drawNames(context, this.namePlaces(corners));
  }

  /** Lines t_m = ⅕, …, ⅘, and the triangle's sides. */
  drawLevels(context, corners) {
    const lines = [];
    for (let level = 1; level < 5; level++) {
      for (let m = 0; m < 3; m++) {
        const end = (other) => this.place([0, 1, 2].map((k) => (k === m ? level / 5 : k === other ? 1 - level / 5 : 0)));
        lines.push([end((m + 1) % 3), end((m + 2) % 3)]);
      }
    }
    strokeSegments(context, lines, "rgba(255,255,255,0.85)", 1);
    strokeSegments(context, corners.map((corner, m) => [corner, corners[(m + 1) % 3]]), COLORS.muted, 1.2);
  }
}

/** The chart of an atlas: a line for two objectives, for three the plane Σ a_m = 0 as far as objective values differ by their ranges at most. */
class ChartPad extends Pad {
  /** The middle of the chart, and for each objective where a unit less of it leads. */
  axes() {
    const { clientWidth: width, clientHeight: height } = this.canvas, key = `${width}×${height}`;
    if (this.known?.key !== key) this.known = { key, middle: [width / 2, height / 2], steps: this.stepsIn(width, height) };
    return this.known;
  }

  stepsIn(width, height) {
    if (this.model.nObjectives === 2) return [[28 - width / 2, 0], [width / 2 - 28, 0]];
    const radius = Math.min((width - 24) / Math.sqrt(3), height / 2 - 26);
    return [210, 330, 90].map((angle) => [radius * Math.cos(angle * Math.PI / 180), -radius * Math.sin(angle * Math.PI / 180)]);
  }

  /** Darker than what is pale. */
  get excludedColor() { return COLORS.excluded; }

  width() { return this.model.nObjectives === 2 ? this.canvas.clientWidth - 56 : this.canvas.clientHeight - 52; }

  place(t) {
    const { middle, steps } = this.axes();
    return middle.map((value, axis) => t.reduce((sum, a, m) => sum - a * steps[m][axis], value));
  }

  pointAt(x, y) {
    const { middle, steps } = this.axes(), from = [x - middle[0], y - middle[1]];
    // Along each axis that is drawn Σ_m step_m step_mᵀ is |step|² times 2 for two objectives, 3/2 for three.
    const length = (steps[0][0] ** 2 + steps[0][1] ** 2) * (steps.length === 2 ? 2 : 1.5);
    return withinChart(steps.map((step) => -(step[0] * from[0] + step[1] * from[1]) / length));
  }

  /** The chart's outline: objective values 0 or 1, seen along the diagonal of their cube. */
  drawFrame(context) {
    const n = this.model.nObjectives;
    if (n === 2) return this.drawNames(context, this.namePlaces([[0, 1], [1, 0]].map((f) => this.place(centered(f)))));
    const corners = [[0, 1, 1], [0, 0, 1], [1, 0, 1], [1, 0, 0], [1, 1, 0], [0, 1, 0]].map((f) => this.place(centered(f)));
    strokeSegments(context, corners.map((corner, k) => [corner, corners[(k + 1) % 6]]), COLORS.muted, 1.2);
    return this.drawNames(context, this.namePlaces([corners[0], corners[2], corners[4]]));
  }

  /** A line to where the answer itself lies on the chart: nothing is left of it where the answer is what was asked for. */
  drawMoving(context) {
    const { model, state } = this;
    const own = this.place(centered(model.loss(state.f)));
    context.setLineDash([4, 3]);
    strokeSegments(context, [[this.place(state.t), own]], COLORS.ink, 1.2);
    context.setLineDash([]);
    drawPoint(context, ...own, COLORS.ink, 4);
  }
}
