// The simplex in cells that each lie on one piece of an atlas: those of a grid, cut where the answers change from piece to piece.

const MOST_SPLITS = 3;

class PieceMesh {
  constructor(model, resolution) {
    const points = multiIndices(model.nObjectives, resolution).map((index) => index.map((d) => d / resolution));
    Object.assign(this, { model, vertices: points.map((t) => model.point(t)), cells: [], pieces: [], borders: [] });
    this.cuts = new Map();
    this.middles = new Map();
    const cells = model.nObjectives === 3 ? gridTriangles(resolution) : points.slice(1).map((_, k) => [k, k + 1]);
    for (const cell of cells) this.addCell(cell, 0);
    this.addThinPieces();
    this.points = this.vertices.map(({ t }) => t);
    this.values = this.vertices.map(({ f }) => f);
  }

  add(piece, ...cell) {
    this.cells.push(cell);
    this.pieces.push(piece);
  }

  /** Adds the parts of a cell, one for each of the pieces that its corners are on; one with more pieces than that in smaller cells. */
  addCell(cell, splits) {
    const pieces = cell.map((k) => this.vertices[k].piece), count = new Set(pieces).size;
    if (count === 1) this.add(pieces[0], ...cell);
    else if (cell.length === 2) cell.forEach((k, i) => this.add(pieces[i], k, this.cut(...cell)[k]));
    else if (splits < MOST_SPLITS && cell.some((k, i) => this.hasThird(k, cell[(i + 1) % 3]))) this.split(cell, splits);
    else if (count === 2) this.cutOffCorner(cell, pieces);
    else this.cutInThree(cell, pieces);
  }

  /** Where the piece of i ends on the way to j: two new vertices in almost the same place, one for each side. */
  cut(i, j) {
    return this.ofEdge(this.cuts, i, j, (first, second) => {
      const { piece } = this.vertices[first], end = this.vertices[second].piece;
      let near = this.vertices[first], far = this.vertices[second];
      for (let k = this.model.nObjectives === 2 ? 24 : 6; k > 0; k--) {
        const middle = this.between(near, far);
        if (middle.piece === piece) near = middle; else far = middle;
      }
      return { [first]: this.addVertex(near, piece), [second]: this.addVertex(far, end), third: far.piece !== end };
    });
  }

  between(one, other) { return this.model.point(one.t.map((value, m) => (value + other.t[m]) / 2)); }

  /** Whether a third piece lies between those of i and j. */
  hasThird(i, j) { return this.vertices[i].piece !== this.vertices[j].piece && this.cut(i, j).third; }

  ofEdge(known, i, j, make) {
    const first = Math.min(i, j), second = Math.max(i, j), key = `${first},${second}`;
    if (!known.has(key)) known.set(key, make(first, second));
    return known.get(key);
  }

  /** A vertex of a cell on a piece. On pieces of full dimension objectives are on the level, which has no jumps. */
  addVertex(point, piece) {
    return this.vertices.push({ ...point, piece, f: this.model.isFull(piece) ? point.level : point.f }) - 1;
  }

  split(cell, splits) {
    const middle = (i, j) => this.ofEdge(this.middles, i, j, () => this.vertices.push(this.between(this.vertices[i], this.vertices[j])) - 1);
    const [p, q, r] = cell, [pq, qr, rp] = [middle(p, q), middle(q, r), middle(r, p)];
    for (const part of [[p, pq, rp], [pq, q, qr], [rp, qr, r], [pq, qr, rp]]) this.addCell(part, splits + 1);
  }

  cutOffCorner(cell, pieces) {
    const alone = pieces.findIndex((piece) => pieces.indexOf(piece) === pieces.lastIndexOf(piece));
    const [p, q, r] = [0, 1, 2].map((i) => cell[(alone + i) % 3]), rest = pieces[(alone + 1) % 3];
    const toQ = this.cut(p, q), toR = this.cut(p, r);
    this.add(pieces[alone], p, toQ[p], toR[p]);
    this.add(rest, toQ[q], q, r);
    this.add(rest, toQ[q], r, toR[r]);
    this.borders.push([toQ[p], toR[p]]);
  }

  cutInThree(cell, pieces) {
    const middle = this.model.point(this.vertices[cell[0]].t.map((_, m) => cell.reduce((sum, k) => sum + this.vertices[k].t[m], 0) / 3));
    cell.forEach((k, i) => {
      const center = this.addVertex(middle, pieces[i]);
      const toNext = this.cut(k, cell[(i + 1) % 3])[k], toLast = this.cut(k, cell[(i + 2) % 3])[k];
      this.add(pieces[i], k, toNext, center);
      this.add(pieces[i], k, center, toLast);
      this.borders.push([toNext, center]);
    });
  }

  /** Curves and isolated points of the set, which the cells do not show. */
  addThinPieces() {
    this.model.pieces.forEach((piece, number) => {
      if (piece.face || this.model.isFull(number) || piece.dimension > 1) return;
      const places = piece.places.map((t) => this.addVertex(this.model.point(t), number));
      if (piece.dimension === 0) this.add(number, places[0]);
      else for (let k = 0; k + 1 < places.length; k++) this.add(number, places[k], places[k + 1]);
    });
  }
}
