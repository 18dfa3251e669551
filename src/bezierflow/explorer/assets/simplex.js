// The simplex: multi-indices in the canonical order, points, and the moves between them.

/** All multi-indices of `parts` entries with this sum, lexicographically descending: (D,0,…,0) first, (0,…,0,D) last. */
function multiIndices(parts, sum) {
  if (parts === 1) return [[sum]];
  const rows = [];
  for (let first = sum; first >= 0; first--) {
    for (const rest of multiIndices(parts - 1, sum - first)) rows.push([first, ...rest]);
  }
  return rows;
}

/** D! / Π d_m! as a product of binomials, each step a whole number. */
function multinomial(index) {
  let total = 0, value = 1;
  for (const d of index) {
    for (let k = 1; k <= d; k++) { total += 1; value = Math.round(value * total / k); }
  }
  return value;
}

/** The point of the simplex nearest to t: max(t_m − θ, 0) with the one θ that makes the sum 1, found among the sorted t_m. */
function projectToSimplex(t) {
  let sum = 0, theta = 0;
  t.slice().sort((a, b) => b - a).forEach((value, k) => {
    sum += value;
    if (value > (sum - 1) / (k + 1)) theta = (sum - 1) / (k + 1);
  });
  return t.map((value) => Math.max(value - theta, 0));
}

/** t with its m-th coordinate set; the others keep their proportions, or share alike if they were all 0. */
function withCoordinate(t, m, value) {
  const rest = 1 - t[m];
  return t.map((old, k) => {
    if (k === m) return value;
    return rest > 1e-12 ? old * (1 - value) / rest : (1 - value) / (t.length - 1);
  });
}

/** Evenly spread points of the simplex: a regular grid, and for more than three objectives a spread of inner points too. */
function simplexSamples(nObjectives) {
  const limit = nObjectives === 2 ? 300 : 1300;
  let resolution = 1;
  const size = (n) => { let value = 1; for (let k = 1; k < nObjectives; k++) value = value * (n + k) / k; return value; };
  while (size(resolution + 1) <= limit) resolution += 1;
  const indices = multiIndices(nObjectives, resolution);
  const points = indices.map((index) => index.map((d) => d / resolution));
  if (nObjectives > 3) points.push(...spreadPoints(nObjectives, 1500));
  return { resolution, indices, points };
}

/** Inner points of the simplex: those of the cube, carried there by sorting; the gaps between sorted numbers sum to 1. */
function spreadPoints(nObjectives, n) {
  return kronecker(nObjectives - 1, n).map((cuts) => {
    cuts.sort((a, b) => a - b);
    return [...cuts, 1].map((cut, k) => cut - (k ? cuts[k - 1] : 0));
  });
}

/** Evenly spread points of the unit cube: a Kronecker sequence. */
function kronecker(dimension, n) {
  let golden = 2;
  for (let k = 0; k < 64; k++) golden = Math.pow(1 + golden, 1 / (dimension + 1));
  return Array.from({ length: n }, (_, i) =>
    Array.from({ length: dimension }, (_, k) => (0.5 + (i + 1) * Math.pow(golden, -k - 1)) % 1));
}
