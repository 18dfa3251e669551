// The Bézier simplex b(t) = Σ_d (D choose d) t^d p_d, evaluated as in Python: same order, same products.

class BezierSimplex {
  /** points: one row of `width` numbers for each multi-index, flattened. */
  constructor(points, nObjectives, degree) {
    this.points = points;
    this.nObjectives = nObjectives;
    this.degree = degree;
    const indices = multiIndices(nObjectives, degree);
    this.exponents = Uint8Array.from(indices.flat());
    this.coefficients = Float64Array.from(indices.map(multinomial));
    this.width = points.length / indices.length;
    this.below = degree > 0 ? multiIndices(nObjectives, degree - 1) : [];
    this.belowCoefficients = this.below.map(multinomial);
    const places = new Map(indices.map((index, row) => [index.join(), row]));
    this.raised = this.below.map((index) =>
      index.map((_, m) => places.get(index.map((d, k) => d + (k === m ? 1 : 0)).join())));
  }

  /** b(t): an array of `width` numbers. */
  evaluate(t) {
    const { width, points, exponents, coefficients, nObjectives } = this;
    const powers = powerTable(t, this.degree), value = new Array(width).fill(0);
    for (let row = 0; row < coefficients.length; row++) {
      let z = coefficients[row];
      for (let m = 0; m < nObjectives; m++) z *= powers[exponents[row * nObjectives + m] * nObjectives + m];
      if (z === 0) continue;
      const start = row * width;
      for (let k = 0; k < width; k++) value[k] += z * points[start + k];
    }
    return value;
  }

  /** ∂b/∂t_m as a polynomial in all of R^M: `width` rows of M numbers. Only differences matter on the simplex. */
  derivative(t) {
    const rows = Array.from({ length: this.width }, () => new Array(this.nObjectives).fill(0));
    const powers = powerTable(t, this.degree);
    for (let row = 0; row < this.below.length; row++) {
      const z = this.degree * monomial(powers, this.below[row], this.belowCoefficients[row]);
      for (let m = 0; m < this.nObjectives; m++) {
        const start = this.raised[row][m] * this.width;
        for (let k = 0; k < this.width; k++) rows[k][m] += z * this.points[start + k];
      }
    }
    return rows;
  }
}

/** t_m^k for k = 0 … D, one row of M numbers after the other. */
function powerTable(t, degree) {
  const n = t.length, table = new Float64Array((degree + 1) * n);
  for (let m = 0; m < n; m++) {
    table[m] = 1;
    for (let k = 1; k <= degree; k++) table[k * n + m] = table[(k - 1) * n + m] * t[m];
  }
  return table;
}

function monomial(powers, index, coefficient) {
  let z = coefficient;
  for (let m = 0; m < index.length; m++) z *= powers[index[m] * index.length + m];
  return z;
}
