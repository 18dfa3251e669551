// The patches of an atlas: Bézier simplices of all quantities of a region, trimmed by their own signs, asked as in Python.

/** Orthonormal rows that span the plane Σ a_m = 0. */
function chartFrame(n) {
  const rows = [];
  for (let i = 1; i < n; i++) {
    const length = Math.sqrt(i * (i + 1));
    rows.push(Array.from({ length: n }, (_, k) => (k < i ? 1 : k === i ? -i : 0) / length));
  }
  return rows;
}

/** The point of the chart below objective values: what is left of them without their mean. */
function centered(values) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return values.map((value) => value - mean);
}

let STRETCH = 1;  // the atlas has its own: corners must not cut off the ends of the front

/** The chart point of t: a(t) = (M − 1) (1/M − t), so that at t = e_m the inequality of f_m binds before any other. */
function chartOf(t) { return t.map((value) => STRETCH * (t.length - 1) * (1 / t.length - value)); }

/** The point of the simplex of objective values in units of their ranges, or of a chart point: t(f) = 1/M − (f − mean f) / (M − 1). */
function simplexOf(f) { return projectToSimplex(centered(f).map((value) => 1 / f.length - value / (STRETCH * (f.length - 1)))); }

/** The inverse of a square matrix by elimination with row pivoting. */
function inverseMatrix(matrix) {
  const n = matrix.length, rows = matrix.map((row, i) => [...row, ...row.map((_, k) => (k === i ? 1 : 0))]);
  for (let k = 0; k < n; k++) {
    let pivot = k;
    for (let i = k + 1; i < n; i++) if (Math.abs(rows[i][k]) > Math.abs(rows[pivot][k])) pivot = i;
    [rows[k], rows[pivot]] = [rows[pivot], rows[k]];
    rows[k] = rows[k].map((value) => value / rows[k][k]);
    rows.forEach((row, i) => { if (i !== k) rows[i] = row.map((value, j) => value - row[k] * rows[k][j]); });
  }
  return rows.map((row) => row.slice(n));
}

/**
 * One patch. Its quantities y are: for each free variable its value or the multiplier of the bound that it is at; the level σ;
 * for each objective and inequality its multiplier if active, else its value.
 */
class Patch {
  constructor(data, box) {
    Object.assign(this, { side: data.side, constraints: data.constraints, objectives: data.objectives, trimmed: data.trimmed, piece: data.piece, error: data.error, box });
    this.active = data.objectives.flatMap((active, m) => (active ? [m] : []));
    this.inactive = data.objectives.flatMap((active, m) => (active ? [] : [m]));
    this.dimension = this.active.length - 1;
    this.frame = chartFrame(this.active.length);
    this.level = data.side.length;  // the place of σ in y
    const corners = decodeRows(data.corners, this.dimension, this.active.length);
    this.corner = corners[0];
    this.toBarycentric = inverseMatrix(this.corner.map((_, i) => corners.slice(1).map((corner) => corner[i] - this.corner[i])));
    this.domain = decodeRows(data.domain, this.dimension + 1);
    this.surface = new BezierSimplex(decodeFloats(data.points), this.active.length, data.degree);
  }

  /** The coordinates of a chart point in this region. */
  coordinates(a) {
    const { frame, active } = this, c = new Array(frame.length).fill(0);
    for (let i = 0; i < frame.length; i++) for (let k = 0; k < active.length; k++) c[i] += frame[i][k] * a[active[k]];
    return c;
  }

  inside(c) {
    for (const row of this.domain) {
      let height = 0;
      for (let k = 0; k < c.length; k++) height += row[k] * c[k];
      if (height > row[c.length]) return false;
    }
    return true;
  }

  quantities(c) {
    const { toBarycentric, corner } = this, t = new Array(c.length + 1).fill(0);
    let rest = 0;
    for (let i = 0; i < c.length; i++) {
      for (let k = 0; k < c.length; k++) t[i + 1] += toBarycentric[i][k] * (c[k] - corner[k]);
      rest += t[i + 1];
    }
    t[0] = 1 - rest;
    return this.surface.evaluate(t);
  }

  /** What the patch says above a chart point: quantities, the level s, and its least sign; null outside of its domain. */
  ask(a) {
    const c = this.coordinates(a);
    if (!this.inside(c)) return null;
    let sum = 0;
    for (const m of this.active) sum += a[m];
    const y = this.quantities(c), s = y[this.level] - sum / this.active.length;
    return { y, c, s, sign: Math.min(this.leastOwnSign(y), this.leastSlack(y, s, a)) };
  }

  /** Free variables lie between their bounds, multipliers are at least 0, inactive constraints at most 0. */
  leastOwnSign(y) {
    const { side, box, level, constraints } = this, rows = level + 1, first = rows + this.objectives.length;
    let least = Infinity;
    if (!this.trimmed) return least;
    for (let i = 0; i < level; i++) least = Math.min(least, side[i] ? y[i] : Math.min(y[i] - box.low[i], box.high[i] - y[i]));
    for (const m of this.active) least = Math.min(least, y[rows + m]);
    for (let j = 0; j < constraints.length; j++) least = Math.min(least, constraints[j] ? y[first + j] : -y[first + j]);
    return least;
  }

  /** a_m + s − f_m of the inactive objectives. */
  leastSlack(y, s, a) {
    let least = Infinity;
    for (const m of this.inactive) least = Math.min(least, a[m] + s - y[this.level + 1 + m]);
    return least;
  }

  /** The scaled objectives: those of the level where they are active. */
  values(y, c) {
    const f = this.objectives.map((_, m) => y[this.level + 1 + m]);
    this.active.forEach((m, k) => { f[m] = this.frame.reduce((sum, row, i) => sum + c[i] * row[k], 0) + y[this.level]; });
    return f;
  }

  /** The scaled variables: free ones from the patch and within their bounds, the others at their bounds. */
  variables(y) {
    const { low, high } = this.box;
    return this.side.map((side, i) => (side ? (side > 0 ? high[i] : low[i]) : Math.min(high[i], Math.max(low[i], y[i]))));
  }
}

/** Of the patches whose signs hold the one with the least s, else the one nearest to holding; null where none has a say. */
function askPatches(patches, a, { rounding, lower, sign, lead, doubt, nowhere }) {
  let best = Infinity, answer = null, number = -1;
  for (let k = 0; k < patches.length; k++) {
    const said = patches[k].ask(a);
    if (!said) continue;
    const level = said.sign > -rounding ? said.s : said.sign > -sign ? said.s + lead - doubt * said.sign : nowhere - said.sign;
    if (level < best - lower) { best = level; answer = said; number = k; }
  }
  return answer && { ...answer, number, patch: patches[number], holds: answer.sign > -sign };
}
