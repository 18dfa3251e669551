// Trade-off rates: along the front w·df = 0 for its normal w, so with all else held df_i = −(w_j / w_i) df_j.

/** The front's normal at t in units of 1/scale, entries summing to 1; null where the front has no single normal. */
function frontNormal(front, t, scale) {
  const rows = front.derivative(t).map((row, i) => {
    const mean = row.reduce((a, b) => a + b, 0) / row.length;
    return row.map((value) => (value - mean) / scale[i]);
  });
  // One equation for each direction e_m − e_M along the simplex.
  const equations = [];
  for (let m = 0; m + 1 < t.length; m++) equations.push(rows.map((row) => row[m] - row[t.length - 1]));
  const normal = nullVector(equations, t.length);
  if (!normal) return null;
  const sum = normal.reduce((a, b) => a + b, 0);
  return Math.abs(sum) < 1e-12 ? null : normal.map((value) => value / sum);
}

/** The vector that n−1 equations in n unknowns send to 0, by elimination with full pivoting; null if there are several. */
function nullVector(equations, n) {
  const a = equations.map((row) => row.slice()), order = Array.from({ length: n }, (_, k) => k);
  const largest = Math.max(1e-300, ...a.flat().map(Math.abs));
  for (let k = 0; k < n - 1; k++) {
    let best = 0, pivotRow = k, pivotColumn = k;
    for (let i = k; i < n - 1; i++) {
      for (let j = k; j < n; j++) if (Math.abs(a[i][j]) > best) { best = Math.abs(a[i][j]); pivotRow = i; pivotColumn = j; }
    }
    if (best <= 1e-9 * largest) return null;
    [a[k], a[pivotRow]] = [a[pivotRow], a[k]];
    for (const row of a) [row[k], row[pivotColumn]] = [row[pivotColumn], row[k]];
    [order[k], order[pivotColumn]] = [order[pivotColumn], order[k]];
    for (let i = 0; i < n - 1; i++) {
      if (i === k) continue;
      const factor = a[i][k] / a[k][k];
      for (let j = k; j < n; j++) a[i][j] -= factor * a[k][j];
    }
  }
  const vector = new Array(n).fill(0);
  vector[order[n - 1]] = 1;
  for (let k = 0; k < n - 1; k++) vector[order[k]] = -a[k][n - 1] / a[k][k];
  return vector;
}

/** rates[i][j]: how much f_i changes for one unit more of f_j, all others held; null without a normal. */
function tradeoffRates(front, t, scale) {
  const normal = frontNormal(front, t, scale);
  if (!normal) return null;
  return exchangeRates(normal.map((value, m) => (Math.abs(value) < 1e-12 ? 0 : value) / scale[m]));
}

/** The rates that go with the front's normal, one price an objective. */
function exchangeRates(prices) {
  return prices.map((own, i) => prices.map((other, j) => (i === j ? 1 : -other / own)));
}
