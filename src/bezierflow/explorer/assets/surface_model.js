// One surface over the simplex: designs and front are a polynomial each.

class SurfaceModel extends Model {
  constructor(data) {
    super(data);
    this.designs = new BezierSimplex(decodeFloats(data.pareto_set.points), data.n_objectives, data.pareto_set.degree);
    this.front = new BezierSimplex(decodeFloats(data.front.points), data.n_objectives, data.front.degree);
    this.frontError = decodeFloats(data.front.max_error);
    this.grid = simplexSamples(this.nObjectives);
    this.samples = this.grid.points;
    this.sampleValues = this.samples.map((t) => this.values(t));
    this.samplePieces = this.samples.map(() => 0);
    this.pieces = [{ tone: TONES[0], dimension: this.nObjectives - 1, face: false }];
    const every = Math.max(1, Math.floor(this.samples.length * this.designs.width / 400000));
    this.designRange = rangeOf(this.samples.filter((_, k) => k % every === 0).map((t) => this.seen(this.designs.evaluate(t))));
    this.localErrors = data.local_error && {
      t: data.local_error.t, distance: decodeFloats(data.local_error.distance),
    };
    this.words = SURFACE_WORDS;
  }

  get start() { return this.objectives.map(() => 1 / this.nObjectives); }

  point(t) { return { t, f: this.values(t), x: this.seen(this.designs.evaluate(t)) }; }

  values(t) { return this.front.evaluate(t); }

  share({ t }, m) { return t[m]; }

  shareText({ t }, m) { return t[m].toFixed(3); }

  withShare(t, m, share) { return withCoordinate(t, m, share); }

  exchanged(t, i, j, step) {
    const by = Math.min(step, t[j]);
    return t.map((value, k) => (k === i ? value + by : k === j ? value - by : value));
  }

  rates({ t }) {
    const matrix = tradeoffRates(this.front, t, this.scale);
    return matrix
      ? { matrix, note: "Change of the row for one unit more of the column, all other objectives held." }
      : { matrix: null, note: "The front has a corner or a crease here: no single rate." };
  }

  /** What is drawn: small triangles or segments of the simplex. A coarse mesh is what a frame has time for while the front turns. */
  mesh(fine) {
    const n = this.nObjectives, resolution = fine ? this.grid.resolution : 20;
    const points = fine ? this.samples : multiIndices(n, resolution).map((index) => index.map((d) => d / resolution));
    const values = fine ? this.sampleValues : points.map((t) => this.values(t));
    const cells = n === 3 ? gridTriangles(resolution) : points.slice(1).map((_, k) => [k, k + 1]);
    const pieces = cells.map(() => 0);
    return { points, values, cells, pieces, borders: [] };
  }

  /** How far the design at the point may be from the true Pareto set: measured nearby where the page has that, else overall. */
  error({ t }) {
    const { error } = this.data, local = this.errorAt(t);
    if (error.rms === null) return { text: "The surface's error was not measured", flags: error.flags };
    const share = (value) => `${readable(100 * value / (error.diameter || 1), 2)} % of the set's size`;
    const here = local === null ? `Surface error ${readable(error.rms, 2)} overall (${share(error.rms)})`
      : `Surface error about ${readable(local, 2)} here (${share(local)})`;
    return { text: `${here}, expected below ${readable(error.expected, 2)} everywhere`, flags: error.flags };
  }

  /** The estimated distance of the surface to the Pareto set near t: the mean of the measured ones, each weighted by its distance to t to the power −4. */
  errorAt(t) {
    if (!this.localErrors) return null;
    let total = 0, weights = 0;
    this.localErrors.t.forEach((place, k) => {
      const squared = place.reduce((sum, value, m) => sum + (value - t[m]) ** 2, 0);
      const weight = 1 / (squared + 1e-6) ** 2;
      total += weight * this.localErrors.distance[k];
      weights += weight;
    });
    return total / weights;
  }
}

const SURFACE_WORDS = {
  tolerance: "largest error of the fitted front for this objective, measured at held-out points",
  sliders: "Move a slider; the others keep their proportions.",
};
