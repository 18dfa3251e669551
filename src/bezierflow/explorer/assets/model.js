// What the page knows of every Pareto set, whatever its shape: names, ranges, and how numbers travel.
//
// The page asks a model, one surface or an atlas, by the same names. t is a point of the simplex, or of the chart of an atlas:
//   start, point(t) with f, x and what else is known there, values(t), rates(point), error(point);
//   share(point, m) and withShare(t, m, share) for the sliders, exchanged(t, i, j, step) for moves between two coordinates;
//   samples with their sampleValues and samplePieces, pieces with their colors, mesh(fine) of what is drawn.

class Model {
  constructor(data) {
    this.data = data;
    this.nObjectives = data.n_objectives;
    this.objectives = data.names.objectives.map((name, m) => ({ name, unit: data.names.objective_units[m] }));
    this.variables = data.names.variables.map((name, i) => ({ name, unit: data.names.variable_units[i] }));
    this.ideal = decodeFloats(data.ideal);
    this.nadir = decodeFloats(data.nadir);
    this.scale = Array.from(this.nadir, (high, m) => high - this.ideal[m] || 1);
  }

  /** Objective values as shares of their ranges, from −½ at the best to ½ at the worst. */
  normalized(values) { return values.map((value, m) => (value - this.ideal[m]) / this.scale[m] - 0.5); }
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
