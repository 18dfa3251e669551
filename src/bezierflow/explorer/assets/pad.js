// The pad: the simplex, a line for two objectives and a triangle for three. Drag the point, or use the arrow keys.

class Pad {
  constructor(canvas, model, state, onMove) {
    Object.assign(this, { canvas, model, state, onMove });
    const moveTo = ([x, y]) => onMove(this.pointAt(x, y));
    followPointer(canvas, { down: moveTo, move: moveTo });
    canvas.addEventListener("keydown", (event) => this.onKey(event));
  }

  /** The lines of the objectives' names, and a canvas that has room for them. */
  resize() {
    const width = this.canvas.clientWidth, n = this.model.nObjectives;
    if (this.wrappedFor === width) return;
    this.wrappedFor = width;
    this.names = this.model.objectives.map(({ name, best }, m) => textLines(`${best} ${name}`, m === 2 ? width / 1.2 : width / 2 - 16));
    this.below = LINE * (Math.max(this.names[0].length, this.names[1].length) - 1);
    this.above = n === 3 ? LINE * (this.names[2].length - 1) : 0;
    this.canvas.style.height = `${(n === 3 ? 292 : 96) + this.below + this.above}px`;
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
    this.resize();
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
    strokeSegments(context, borders, COLORS.rim, 1);
    for (const { polygon, corners, feasible, piece } of parts) {
      if (corners.length === n) continue;
      const color = feasible ? this.model.pieces[piece].tone.line : COLORS.barred;
      if (polygon.length === 1) drawPoint(context, ...polygon[0], color, 4); else strokeSegments(context, [polygon], color, 2.5);
    }
  }

  /** What is excluded is gray; pieces of full dimension have their color, and what answers with less of one a pale one. */
  colorOf({ piece, feasible }) {
    if (!feasible) return this.model.nObjectives === 2 ? COLORS.barred : this.excludedColor;
    const { tone, dimension } = this.model.pieces[piece] ?? { tone: FACE_TONES[0] };
    if (dimension === this.model.nObjectives - 1) return tone.flat;
    return this.model.nObjectives === 2 ? COLORS.line : tone.pale;
  }

  thickness({ piece }) { return this.model.pieces[piece]?.dimension === 1 ? 10 : 4; }

  /** The names of the objectives at the places where each is best. */
  drawNames(context, ends) {
    context.fillStyle = COLORS.ink;
    this.names.forEach((lines, m) => {
      context.textAlign = ends[m].align;
      fillLines(context, lines, ends[m].x, ends[m].y);
    });
  }

  /** The names at the ends of a line, or below and above what has a corner for each of three objectives. */
  namePlaces(corners) {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (corners.length === 2) {
      return corners.map(([x, y], m) => ({ align: m ? "right" : "left", x: x + (m ? 12 : -12), y: y + 30 }));
    }
    return corners.map(([x, y], m) => ({
      align: ["left", "right", "center"][m], x: [4, width - 4, x][m], y: m === 2 ? y - 12 - this.above : height - 8 - this.below,
    }));
  }

  /** The part of the simplex that the front of an atlas can reach, where objectives differ by their ranges at most: its corners. */
  get hexagon() {
    if (!this.model.trimmed || this.model.nObjectives !== 3) return null;
    return [[0, 1, 1], [0, 0, 1], [1, 0, 1], [1, 0, 0], [1, 1, 0], [0, 1, 0]].map(simplexOf);
  }

  /** Where the corners are drawn: where there is a hexagon, so far out that it fills the canvas. */
  corners() {
    const width = this.canvas.clientWidth, { above, below } = this, height = this.canvas.clientHeight - above - below;
    if (this.model.nObjectives === 2) return [[28, height / 2], [width - 28, height / 2]];
    if (this.model.trimmed) {
      const radius = 2 * Math.min((width - 24) / Math.sqrt(3), height / 2 - 26), turn = Math.PI / 180, middle = above + height / 2;
      return [210, 330, 90].map((angle) => [width / 2 + radius * Math.cos(angle * turn), middle - radius * Math.sin(angle * turn)]);
    }
    const side = Math.min(width - 48, (height - 58) / 0.866), left = (width - side) / 2, floor = above + height - 30;
    return [[left, floor], [left + side, floor], [left + side / 2, floor - 0.866 * side]];
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
    strokeSegments(context, lines, COLORS.rim, 1);
    strokeSegments(context, corners.map((corner, m) => [corner, corners[(m + 1) % 3]]), COLORS.muted, 1.2);
  }
}
