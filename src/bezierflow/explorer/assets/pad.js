// The weight triangle (three objectives) or the weight line (two): drag the point, or use the arrow keys.

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

  /** Where the corners are drawn. */
  corners() {
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    if (this.model.nObjectives === 2) return [[28, height / 2], [width - 28, height / 2]];
    const side = Math.min(width - 48, (height - 58) / 0.866), left = (width - side) / 2;
    return [[left, height - 30], [left + side, height - 30], [left + side / 2, height - 30 - 0.866 * side]];
  }

  place(t) {
    const corners = this.corners();
    return [0, 1].map((axis) => t.reduce((sum, value, m) => sum + value * corners[m][axis], 0));
  }

  weightsAt(x, y) {
    const c = this.corners();
    if (c.length === 2) {
      const share = (x - c[0][0]) / (c[1][0] - c[0][0]);
      return projectToSimplex([1 - share, share]);
    }
    const area = (p, q, r) => (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]);
    const whole = area(c[0], c[1], c[2]), point = [x, y];
    return projectToSimplex([area(point, c[1], c[2]), area(c[0], point, c[2]), area(c[0], c[1], point)].map((a) => a / whole));
  }

  moveTo(event) {
    const box = this.canvas.getBoundingClientRect();
    this.onMove(this.weightsAt(event.clientX - box.left, event.clientY - box.top));
  }

  onKey(event) {
    const directions = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const direction = directions[event.key];
    if (!direction) return;
    event.preventDefault();
    const c = this.corners(), step = (event.shiftKey ? 0.05 : 0.01) * (c[1][0] - c[0][0]);
    const [x, y] = this.place(this.state.t);
    this.onMove(this.weightsAt(x + step * direction[0], y + step * direction[1]));
  }

  draw() {
    const corners = this.corners();
    drawLayers(this, this.state.version, (context) => {
      if (corners.length === 3) this.drawTriangle(context, corners); else this.drawLine(context, corners);
    }, (context) => {
      for (const bookmark of this.state.bookmarks) drawPoint(context, ...this.place(bookmark.t), COLORS.bookmark, 5);
      drawPoint(context, ...this.place(this.state.t));
    });
  }

  drawLine(context, corners) {
    context.lineWidth = 10;
    context.lineCap = "butt";
    const { points } = this.model.samples, { feasible } = this.state;
    for (let first = 0, k = 1; k < points.length; k++) {
      const ok = feasible[first] && feasible[first + 1];
      if (k + 1 < points.length && (feasible[k] && feasible[k + 1]) === ok) continue;
      context.beginPath();
      context.moveTo(...this.place(points[first]));
      context.lineTo(...this.place(points[k]));
      context.strokeStyle = ok ? COLORS.feasible : COLORS.infeasibleDeep;
      context.stroke();
      first = k;
    }
    context.fillStyle = COLORS.ink;
    this.model.objectives.forEach((objective, m) => {
      context.textAlign = m ? "right" : "left";
      context.fillText(fitText(context, `least ${objective.name}`, this.canvas.clientWidth / 2 - 30),
        corners[m][0] + (m ? 12 : -12), corners[m][1] + 30);
    });
  }

  drawTriangle(context, corners) {
    const { resolution, points } = this.model.samples;
    const places = points.map((t) => this.place(t)), { excess } = this.state;
    const fill = (polygons, color) => {
      context.beginPath();
      for (const polygon of polygons) {
        polygon.forEach((corner, i) => context[i ? "lineTo" : "moveTo"](corner[0], corner[1]));
        context.closePath();
      }
      context.fillStyle = color;
      context.strokeStyle = color;
      context.lineWidth = 0.8;
      context.fill();
      context.stroke();
    };
    fill([corners], COLORS.infeasible);
    fill(gridTriangles(resolution).map((row) => clipTriangle(row.map((k) => places[k]), row.map((k) => excess[k]))), COLORS.feasible);
    context.strokeStyle = "rgba(255,255,255,0.85)";
    context.lineWidth = 1;
    context.beginPath();
    for (let level = 1; level < 5; level++) {
      for (let m = 0; m < 3; m++) {
        const end = (other) => this.place([0, 1, 2].map((k) => (k === m ? level / 5 : k === other ? 1 - level / 5 : 0)));
        context.moveTo(...end((m + 1) % 3));
        context.lineTo(...end((m + 2) % 3));
      }
    }
    context.stroke();
    context.beginPath();
    corners.forEach((corner, i) => context[i ? "lineTo" : "moveTo"](...corner));
    context.closePath();
    context.strokeStyle = COLORS.muted;
    context.lineWidth = 1.2;
    context.stroke();
    context.fillStyle = COLORS.ink;
    const width = this.canvas.clientWidth;
    this.model.objectives.forEach((objective, m) => {
      context.textAlign = ["left", "right", "center"][m];
      const x = [4, width - 4, corners[2][0]][m];
      context.fillText(fitText(context, `least ${objective.name}`, m === 2 ? width / 1.2 : width / 2 - 16), x,
        corners[m][1] + (m === 2 ? -12 : 22));
    });
  }
}

/** The small triangles of a regular grid in the canonical order, as rows of three positions. */
function gridTriangles(resolution) {
  const known = gridTriangles.known ??= new Map();
  if (known.has(resolution)) return known.get(resolution);
  const place = (i, j) => { const left = resolution - i; return left * (left + 1) / 2 + (left - j); };
  const rows = [];
  for (let i = 0; i < resolution; i++) {
    for (let j = 0; i + j < resolution; j++) {
      rows.push([place(i + 1, j), place(i, j + 1), place(i, j)]);
      if (i + j + 1 < resolution) rows.push([place(i + 1, j), place(i, j + 1), place(i + 1, j + 1)]);
    }
  }
  known.set(resolution, rows);
  return rows;
}
