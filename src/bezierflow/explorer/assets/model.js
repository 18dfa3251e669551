// What the page knows of every Pareto set, whatever its shape: names, ranges, and how numbers travel.
//
// Objective values have the user's signs everywhere; `scale` goes from the best to the worst value of an objective, so that it is
// negative where higher is better, and (value − ideal) / scale is what is lost in either case.
//
// The page asks a model, one surface or an atlas, by the same names. t is a point of the simplex, best for objective m at e_m:
//   start, point(t) with f, x and what else is known there, values(t), rates(point), error(point);
//   share(point, m) and withShare(t, m, share) for the sliders, exchanged(t, i, j, step) for moves between two coordinates;
//   samples with their sampleValues and samplePieces, pieces with their colors, mesh(fine) of what is drawn.

const BESIDE = 0.04;  // evaluations are drawn up to so far, in ranges of the front, beside it

class Model {
  constructor(data) {
    this.data = data;
    this.nObjectives = data.n_objectives;
    const { names } = data;
    this.objectives = names.objectives.map((name, m) => ({
      name, unit: names.objective_units[m], best: names.directions[m] === "maximize" ? "largest" : "least",
    }));
    this.variables = names.variables.map((name, i) => ({ name, unit: names.variable_units[i] }));
    this.xScale = decodeFloats(data.x_scale);
    this.ideal = decodeFloats(data.ideal);
    this.nadir = decodeFloats(data.nadir);
    this.signs = names.directions.map((direction) => (direction === "maximize" ? -1 : 1));
    this.scale = Array.from(this.nadir, (worst, m) => worst - this.ideal[m] || this.signs[m]);
    this.low = Array.from(this.ideal, (best, m) => Math.min(best, this.nadir[m]));
    const { values = "", best = [] } = data.evaluated ?? {};
    this.evaluated = decodeRows(values, this.nObjectives).map((f, k) => ({
      f, best: best[k] === 1, shown: f.every((value, m) => Math.abs(this.height(m, value) - 0.5) < 0.5 + BESIDE),
    }));
  }

  /** What marks on the front mean, and how many more there would be. */
  get evaluatedText() {
    const n = this.evaluated.length, n_best = this.evaluated.filter(({ best }) => best).length;
    const outside = this.evaluated.filter(({ shown }) => !shown).length;
    if (!n) return "";
    return ` Circles: the ${n_best} best of ${n} evaluations; dots: others.${outside ? ` ${outside} lie outside of the picture.` : ""}`;
  }

  /** How far values are from the best, as shares of their ranges. */
  loss(values) { return values.map((value, m) => (value - this.ideal[m]) / this.scale[m]); }

  /** Where a value lies between the lowest and the highest of its objective. */
  height(m, value) { return (value - this.low[m]) / Math.abs(this.scale[m]); }

  /** Objective values as shares of their ranges, from −½ at the lowest to ½ at the highest. */
  normalized(values) { return values.map((value, m) => this.height(m, value) - 0.5); }

  /** The bound on an objective that excludes nothing, and the best value that is no limit. */
  unbounded(m) { return this.signs[m] * Infinity; }

  unlimited(m) { return -this.signs[m] * Infinity; }

  /** A value of an objective as a person reads it: 0 where it is nothing beside its range, or less than its error. */
  figure(m, value, digits) {
    return Math.abs(value) <= Math.max(1e-7 * Math.abs(this.scale[m]), this.frontError[m] || 0) ? "0" : readable(value, digits);
  }

  /** A design as people see it: variables that were solved for by their logarithms as themselves, and scaled ones in their units. */
  seen(z) {
    const powers = { log10: (value) => 10 ** value, log: Math.exp };
    return Array.from(z, (value, i) => (powers[this.data.names.transforms[i]]?.(value) ?? value) * this.xScale[i]);
  }
}

/** Numbers travel as base64 of little-endian doubles: exact, and half the size of decimal text. */
function decodeFloats(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Float64Array(bytes.buffer);
}

/** The same as rows of equal width; how many there are must be told where the width may be 0. */
function decodeRows(text, width, n = decodeFloats(text).length / width) {
  const numbers = decodeFloats(text);
  return Array.from({ length: n }, (_, k) => Array.from(numbers.subarray(k * width, (k + 1) * width)));
}

/** The least and largest value of each variable at some designs. */
function rangeOf(designs) {
  const low = designs[0].map(() => Infinity), high = designs[0].map(() => -Infinity);
  for (const x of designs) {
    x.forEach((value, i) => {
      low[i] = Math.min(low[i], value);
      high[i] = Math.max(high[i], value);
    });
  }
  return { low, high };
}
