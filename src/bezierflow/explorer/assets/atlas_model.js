// An atlas: trimmed patches. Inside, t becomes a point of the chart, the plane Σ a_m = 0 of objective values in units of their ranges.

class AtlasModel extends Model {
  constructor(data) {
    super(data);
    const { units, patches, pieces, tolerances, stretch, values } = data.atlas;
    this.allowedValues = values ?? [];  // of variables that are not continuous
    STRETCH = stretch;
    this.units = Object.fromEntries(Object.entries(units).map(([name, text]) => [name, Array.from(decodeFloats(text))]));
    this.free = this.units.lower.flatMap((low, i) => (low < this.units.upper[i] ? [i] : []));
    const scaled = (bounds) => this.free.map((i, k) => (bounds[i] - this.units.origin[k]) / this.units.unit[k]);
    this.box = { low: scaled(this.units.lower), high: scaled(this.units.upper) };
    this.tolerances = tolerances;
    this.inequalities = data.names.constraints ?? [];
    this.patches = patches.map((patch) => new Patch(patch, this.box));
    this.frontError = this.scale.map((scale) => Math.abs(scale) * (data.error.front ?? NaN));
    this.pieces = toned(pieces.map((piece) => ({ ...piece, places: decodeRows(piece.places, this.nObjectives) })));
    this.places = this.pieces.flatMap(({ places }) => places);
    const known = this.places.map((t) => askPatches(this.patches, chartOf(t), this.tolerances));
    this.knownValues = known.map(({ y, c, patch }) => patch.values(y, c));
    this.knownErrors = known.map(({ patch }) => patch.error);
    this.words = data.error.predicted === null ? ATLAS_WORDS : { ...ATLAS_WORDS, tolerance: "largest error of recent predictions by the surrogate" };
    this.collectSamples();
  }

  get trimmed() { return true; }

  get start() { return this.objectives.map(() => 1 / this.nObjectives); }

  /** Points of the set: those that came along, and what lies on the mesh or at points all over the simplex, but for faces. */
  collectSamples() {
    const known = this.pieces.flatMap((piece, number) => piece.places.map((t) => ({ ...this.point(t), piece: number })));
    const asked = this.nObjectives <= 3 ? this.mesh(true).vertices
      : kronecker(this.nObjectives, 6000).map((f) => this.point(simplexOf(f)));
    const found = [...known, ...asked.filter(({ piece }) => this.pieces[piece] && !this.pieces[piece].face)];
    this.samples = found.map(({ t }) => t);
    this.sampleValues = found.map(({ f }) => f);
    this.samplePieces = found.map(({ piece }) => piece);
    this.designRange = rangeOf(found.map(({ x }) => x));
    const ends = found.filter(({ piece }) => this.isFull(piece)).map(({ t }) => t[0]);
    this.extent = { low: Math.min(...ends), high: Math.max(...ends) };
  }

  isFull(piece) { return piece >= 0 && this.pieces[piece].dimension === this.nObjectives - 1; }

  /**
   * The answer at t. Every point f of the set is an answer everywhere, with the level max(f − a): where patches
   * have none, or one that is clearly worse than the best of the points that came along, they are asked below that point.
   */
  ask(t) {
    const a = chartOf(t), answer = askPatches(this.patches, a, this.tolerances), { level, place, error } = this.bestKnown(a);
    // A patch of degree 0 is a point without a fitting error: that of the known point counts.
    const allowed = answer && answer.patch.surface.degree > 0 ? this.tolerances.worse : this.tolerances.rounding + error;
    if (answer && answer.s - Math.min(answer.sign, 0) <= level + allowed) return { ...answer, a };
    return { ...askPatches(this.patches, place, this.tolerances), a: place, holds: false };
  }

  bestKnown(a) {
    let level = Infinity, place = a, found = -1;
    this.knownValues.forEach((f, k) => {
      let worst = -Infinity;
      for (let m = 0; m < a.length; m++) worst = Math.max(worst, f[m] - a[m]);
      if (worst < level) { level = worst; found = k; }
    });
    return { level, place: found < 0 ? place : chartOf(this.places[found]), error: this.knownErrors[found] ?? 0 };
  }

  /** The design, its objectives and what holds there. `level` are the values that the answer was allowed to reach, a_m + s. */
  point(t) {
    const { a, y, c, s, patch, number, holds } = this.ask(t);
    return {
      t, f: this.inUnits(patch.values(y, c)), x: this.design(patch.variables(y)), weights: this.weights(patch, y),
      level: this.inUnits(a.map((value) => value + s)), s, patch, number, holds, piece: patch.piece,
    };
  }

  values(t) {
    const { y, c, patch } = this.ask(t);
    return this.inUnits(patch.values(y, c));
  }

  inUnits(f) { return f.map((value, m) => this.ideal[m] + value * this.scale[m]); }

  design(z) {
    const { lower, upper, origin, unit } = this.units, x = lower.slice();
    this.free.forEach((i, k) => { x[i] = this.allowed(i, Math.min(upper[i], Math.max(lower[i], origin[k] + z[k] * unit[k]))); });
    return this.seen(x.slice(0, this.variables.length));  // variables that stand for kinks come last
  }

  /** The nearest value that a variable may have; a text stands for its place. */
  allowed(i, value) {
    const own = this.allowedValues[i] ?? [];
    if (!own.length) return value;
    if (typeof own[0] === "string") return Math.round(value);
    return own.reduce((best, one) => (Math.abs(one - value) < Math.abs(best - value) ? one : best));
  }

  exported(i, value) {
    const own = this.allowedValues[i] ?? [];
    return typeof own[0] === "string" ? own[Math.round(value)] : value;
  }

  text(i, value, ...how) {
    const shown = this.exported(i, value);
    return typeof shown === "string" ? shown : super.text(i, value, ...how);
  }

  /** The multipliers of the objectives in the user's units, with sum 1: the prices at which the design is the best. */
  weights(patch, y) {
    const w = patch.objectives.map((active, m) => (active ? Math.max(y[patch.level + 1 + m], 0) / Math.abs(this.scale[m]) : 0));
    const sum = w.reduce((total, value) => total + value, 0);
    return w.map((value) => value / sum);
  }

  share({ level }, m) { return (level[m] - this.ideal[m]) / this.scale[m]; }

  shareText({ level }, m) { return readable(level[m], 4, this.scale[m]); }

  /** Where this share of its range is allowed for one objective, and the others keep their differences. */
  withShare(t, m, share) {
    const n = this.nObjectives, chart = chartOf(t);
    const moved = (by) => simplexOf(chart.map((value, k) => value + by * ((k === m ? 1 : 0) - 1 / n)));
    let low = -2, high = 2;  // a_m + s rises with a_m, by 1 − w_m times as much
    for (let k = 0; k < 44; k++) {
      const middle = (low + high) / 2, there = moved(middle);
      if (chartOf(there)[m] + this.ask(there).s < share + 1e-9) low = middle; else high = middle;
    }
    return moved((low + high) / 2);
  }

  exchanged(t, i, j, step) {
    const by = Math.min(step, t[j]);
    return t.map((value, k) => (k === i ? value + by : k === j ? value - by : value));
  }

  /** Rates between the objectives that are traded off; the others have none. */
  rates({ weights, patch }) {
    const priced = weights.map((w, m) => w * Math.abs(this.scale[m]) > 1e-9);
    const matrix = exchangeRates(weights.map((w, m) => w * this.signs[m])).map((row, i) => row.map((rate, j) => (priced[i] && priced[j] ? rate : null)));
    const names = this.objectives.filter((_, m) => priced[m]).map(({ name }) => name);
    if (names.length === 1) return { matrix, note: `Nothing is traded off here: ${names[0]} alone decides.` };
    const held = "Change of the row for one unit more of the column, all other objectives held.";
    return { matrix, note: patch.inactive.length ? `Only ${listed(names)} are traded off here. ${held}` : held };
  }

  mesh(fine) {
    const resolution = this.nObjectives === 2 ? 300 : fine ? 75 : 40;
    this.meshes ??= new Map();
    if (!this.meshes.has(resolution)) this.meshes.set(resolution, new PieceMesh(this, resolution));
    return this.meshes.get(resolution);
  }

  error() {
    const { error } = this.data;
    if (error.predicted !== null) {
      const off = `${readable(error.max, 3)} of the ranges at most, ${readable(error.predicted, 3)} RMS`;
      return { text: `A surrogate's answers. It predicted the last ${error.n_samples} evaluations on its surface, unseen, with errors of ${off}`, flags: error.flags };
    }
    const text = error.front !== null
      ? `Objectives within ${readable(error.front, 3)} of their ranges, designs within ${readable(error.max, 3)}; `
        + `${readable(100 * error.coverage, 3)} % of ${error.n_samples} fresh answers hold`
      : "The error of these answers was not measured";
    return { text, flags: error.flags };
  }

  /** What is active at a point, and whether it is what was asked for, in sentences. */
  describe(point) {
    const { patch, holds } = point, lines = [this.describePlace(point)];
    if (!holds) lines.unshift("No patch holds here: this is the answer of the nearest one.");
    const active = this.describeActive(patch.side, patch.constraints);
    lines.push(active ? `Active: ${active}.` : "No bound and no constraint is active.");
    return lines;
  }

  describePlace({ t, patch, piece, level, f }) {
    if (patch.inactive.length === 0) return "On the front: all objectives are traded off against each other.";
    const better = patch.inactive.map((m) => `${this.objectives[m].name} is better than asked by ${readable(Math.abs(level[m] - f[m]), 3, this.scale[m])} ${this.objectives[m].unit}`.trim());
    const gap = this.nObjectives === 2 && t[0] > this.extent.low && t[0] < this.extent.high;
    const place = gap ? "In a gap of the front: the answer is the end of a piece" : `Beside the front: the answer lies on ${this.kindOf(piece)}`;
    return `${place}, and ${listed(better)}.`;
  }

  kindOf(number) {
    const piece = this.pieces[number];
    if (!piece) return "a place that is only weakly optimal";
    const words = piece.face ? ["a corner", "an edge", "a face"] : ["an isolated point", "a curve", "a surface"];
    return `${words[piece.dimension] ?? "a part"} of ${piece.face ? "the front" : "its own"}`;
  }

  /** A piece in a few words: what it is, where it lies if others are alike, and what is active on it. */
  titleOf(number) {
    const piece = this.pieces[number], alike = (other) => ["dimension", "choice", "side", "constraints"].every((key) => String(other[key]) === String(piece[key]));
    const kind = ["Point", "Curve", "Surface", "Solid"][piece.dimension] ?? `Part of dimension ${piece.dimension}`;
    const words = [piece.choice, this.describeActive(piece.side, piece.constraints)].filter(Boolean);
    if (this.lifted || this.pieces.filter((other) => !other.face && alike(other)).length > 1) {
      const values = piece.places.map((t) => this.values(t)[0]);
      const [low, high] = [Math.min(...values), Math.max(...values)].map((value) => readable(value, 3, this.scale[0]));
      words.unshift(`${this.objectives[0].name} ${low} to ${high}`);
    }
    return `${kind}: ${words.join(", ") || "no bound active"}`;
  }

  /** Whether kinks became variables; then most inequalities belong to kinks, and tell a person little. */
  get lifted() { return this.units.lower.length > this.variables.length; }

  /** Variables at their bounds and active constraints; empty if there are none. */
  describeActive(side, constraints) {
    const bounds = [[-1, "lower"], [1, "upper"]].flatMap(([sign, word]) => {
      const names = side.flatMap((one, k) => (one === sign ? [this.variables[this.free[k]].name] : []));
      return names.length ? [`${listed(names)} at ${names.length > 1 ? "their" : "its"} ${word} bound${names.length > 1 ? "s" : ""}`] : [];
    });
    const named = this.inequalities, n = this.lifted ? named.length : constraints.length;
    const rows = constraints.slice(0, n).flatMap((active, j) => (active ? [named[j] ?? `inequality ${j + 1}`] : []));
    const kinks = constraints.slice(n).filter(Boolean).length;
    return listed([...bounds, ...rows, ...(kinks ? [`${kinks} condition${kinks === 1 ? "" : "s"} of kinks`] : [])]);
  }

  /** −1 for a variable at its lower bound, 1 at its upper, 0 between them. */
  sideOf(i, { patch }) { return patch.side[this.free.indexOf(i)] ?? 0; }
}

/** A tone for each choice, or for each piece where there are none; grays for those that are only faces of others. */
function toned(pieces) {
  const keys = pieces.map(({ choice }, k) => choice || k), own = [...new Set(keys.filter((_, k) => !pieces[k].face))];
  return pieces.map((piece, k) => ({ ...piece, tone: piece.face ? FACE_TONES[k % FACE_TONES.length] : TONES[own.indexOf(keys[k]) % TONES.length] }));
}

function listed(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

const ATLAS_WORDS = {
  tolerance: "largest error of this objective at fresh points",
  sliders: "Each slider is how much of an objective you accept; the others follow together.",
};
