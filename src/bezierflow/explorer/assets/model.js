// What the page knows: both surfaces, names, errors, and samples of the front.

class Model {
  constructor(data) {
    this.data = data;
    this.nObjectives = data.n_objectives;
    this.designs = new BezierSimplex(decodeFloats(data.pareto_set.points), data.n_objectives, data.pareto_set.degree);
    this.front = new BezierSimplex(decodeFloats(data.front.points), data.n_objectives, data.front.degree);
    this.objectives = data.names.objectives.map((name, m) => ({ name, unit: data.names.objective_units[m] }));
    this.variables = data.names.variables.map((name, i) => ({ name, unit: data.names.variable_units[i] }));
    this.frontError = decodeFloats(data.front.max_error);
    this.ideal = decodeFloats(data.ideal);
    this.nadir = decodeFloats(data.nadir);
    this.scale = Array.from(this.nadir, (high, m) => high - this.ideal[m] || 1);
    this.samples = simplexSamples(this.nObjectives);
    this.sampleValues = this.samples.points.map((t) => this.front.evaluate(t));
    this.designRange = designRange(this.designs, this.samples.points);
    this.localErrors = data.local_error && {
      t: data.local_error.t, distance: decodeFloats(data.local_error.distance),
    };
  }

  /** Objective values as shares of their ranges, from −½ at the best to ½ at the worst. */
  normalized(values) { return values.map((value, m) => (value - this.ideal[m]) / this.scale[m] - 0.5); }

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

/** Numbers travel as base64 of little-endian doubles: exact, and half the size of decimal text. */
function decodeFloats(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Float64Array(bytes.buffer);
}

function designRange(designs, points) {
  const low = new Array(designs.width).fill(Infinity), high = new Array(designs.width).fill(-Infinity);
  const every = Math.max(1, Math.floor(points.length * designs.width / 400000));
  for (let k = 0; k < points.length; k += every) {
    designs.evaluate(points[k]).forEach((value, i) => {
      low[i] = Math.min(low[i], value);
      high[i] = Math.max(high[i], value);
    });
  }
  return { low, high };
}
