// The pad: the simplex, a line for two objectives and a triangle for three. Drag the point, or use the arrow keys.

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
    context.save();
    if (this.hexagon) {
      context.beginPath();
      this.hexagon.forEach((corner, k) => { const [x, y] = this.place(corner); if (k) context.lineTo(x, y); else context.moveTo(x, y); });
      context.clip();
    }
    this.drawParts(context, parts);
    context.restore();
    this.drawFrame(context);
  }

  /** Beside the front of an atlas, a line to where the answer itself lies: nothing is left of it where that is what was asked for. */
  drawMoving(context) {
    const { model, state } = this;
    if (!model.trimmed) return;
    const own = this.place(simplexOf(model.loss(state.f)));
    context.setLineDash([4, 3]);
    strokeSegments(context, [[this.place(state.t), own]], COLORS.ink, 1.2);
    context.setLineDash([]);
    drawPoint(context, ...own, COLORS.ink, 4);
  }

  /** Darker than what is pale beside the front of an atlas. */
  get excludedColor() { return this.model.trimmed ? COLORS.excluded : COLORS.infeasible; }

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

  /** The part of the simplex that the front of an atlas can reach, where objectives differ by their ranges at most: its corners. */
  get hexagon() {
    if (!this.model.trimmed || this.model.nObjectives !== 3) return null;
    return [[0, 1, 1], [0, 0, 1], [1, 0, 1], [1, 0, 0], [1, 1, 0], [0, 1, 0]].map(simplexOf);
  }

  /** Where the corners are drawn: where there is a hexagon, so far out that it fills the canvas. */
  corners() {
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    if (this.model.nObjectives === 2) return [[28, height / 2], [width - 28, height / 2]];
    if (this.model.trimmed) {
      const radius = 2 * Math.min((width - 24) / Math.sqrt(3), height / 2 - 26), turn = Math.PI / 180;
      return [210, 330, 90].map((angle) => [width / 2 + radius * Math.cos(angle * turn), height / 2 - radius * Math.sin(angle * turn)]);
    }
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
    const t = [area(point, c[1], c[2]), area(c[0], point, c[2]), area(c[0], c[1], point)].map((a) => a / whole);
    const loss = chartOf(t), spread = Math.max(...loss) - Math.min(...loss);
    return this.hexagon && spread > 1 ? simplexOf(loss.map((value) => value / spread)) : projectToSimplex(t);
  }

  drawFrame(context) {
    const { hexagon } = this, corners = hexagon ? [0, 2, 4].map((k) => this.place(hexagon[k])) : this.corners();
    if (hexagon) strokeSegments(context, hexagon.map((t, k) => [this.place(t), this.place(hexagon[(k + 1) % 6])]), COLORS.muted, 1.2);
    else if (corners.length === 3) this.drawLevels(context, corners);
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
