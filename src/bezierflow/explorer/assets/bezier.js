// The Bézier simplex b(t) = Σ_d (D choose d) t^d p_d, evaluated as in Python: same order, same products.

class BezierSimplex {
  /** points: one row of `width` numbers for each multi-index, flattened. */
  constructor(points, nObjectives, degree) {
    this.points = points;
    this.nObjectives = nObjectives;
    this.degree = degree;
    this.indices = multiIndices(nObjectives, degree);
    this.coefficients = this.indices.map(multinomial);
    this.width = points.length / this.indices.length;
    this.below = degree > 0 ? multiIndices(nObjectives, degree - 1) : [];
    this.belowCoefficients = this.below.map(multinomial);
    const places = new Map(this.indices.map((index, row) => [index.join(), row]));
    this.raised = this.below.map((index) =>
      index.map((_, m) => places.get(index.map((d, k) => d + (k === m ? 1 : 0)).join())));
  }

  /** b(t): an array of `width` numbers. */
  evaluate(t) {
    const powers = powerTable(t, this.degree), value = new Array(this.width).fill(0);
    for (let row = 0; row < this.indices.length; row++) {
      const z = monomial(powers, this.indices[row], this.coefficients[row]);
      if (z === 0) continue;
      const start = row * this.width;
      for (let k = 0; k < this.width; k++) value[k] += z * this.points[start + k];
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

function powerTable(t, degree) {
  const table = [t.map(() => 1)];
  for (let k = 0; k < degree; k++) table.push(table[k].map((power, m) => power * t[m]));
  return table;
}

function monomial(powers, index, coefficient) {
  let z = coefficient;
  for (let m = 0; m < index.length; m++) z *= powers[index[m]][m];
  return z;
}
