// Limits on objectives: `bounds`, the worst values that are accepted, and `bests`, the best ones that are looked at. Which part of the
// front obeys them, and a point nearby that does.

/** Whether values obey all limits; a hair of tolerance, so that a point snapped to a bound stays there. */
function isFeasible(values, limits, scale) { return excess(values, limits, scale) <= 1e-9; }

/** A feasible point near t: from the feasible sample nearest to t, as far along the line to t as the limits allow; null if no sample is feasible. */
function snapToFeasible(model, limits, t) {
  const ok = (point) => isFeasible(model.values(point), limits, model.scale);
  if (ok(t)) return t;
  let nearest = null, least = Infinity;
  model.samples.forEach((point, k) => {
    if (!isFeasible(model.sampleValues[k], limits, model.scale)) return;
    const squared = point.reduce((sum, value, m) => sum + (value - t[m]) ** 2, 0);
    if (squared < least) { least = squared; nearest = point; }
  });
  if (!nearest) return null;
  let inside = 0, outside = 1;
  for (let k = 0; k < 50; k++) {
    const middle = (inside + outside) / 2;
    if (ok(nearest.map((value, m) => value + middle * (t[m] - value)))) inside = middle; else outside = middle;
  }
  return nearest.map((value, m) => value + inside * (t[m] - value));
}

/** The feasible sample where one objective is best, polished by ever shorter moves between pairs of coordinates. */
function bestFeasible(model, limits, m) {
  let best = null, value = Infinity;
  const lossOf = (values) => (values[m] - model.ideal[m]) / model.scale[m];
  model.samples.forEach((point, k) => {
    const values = model.sampleValues[k];
    if (lossOf(values) < value && isFeasible(values, limits, model.scale)) { best = point; value = lossOf(values); }
  });
  if (!best) return null;
  for (let step = 0.02; step > 1e-7; step /= 2) {
    for (let i = 0; i < best.length; i++) {
      for (let j = 0; j < best.length; j++) {
        if (i === j) continue;
        const moved = model.exchanged(best, i, j, step), values = model.values(moved);
        if (lossOf(values) < value && isFeasible(values, limits, model.scale)) { best = moved; value = lossOf(values); }
      }
    }
  }
  return best;
}

/** How far values are beyond the limit that they break most, in units of its objective's range; negative inside, −∞ without limits. */
function excess(values, { bounds, bests }, scale) {
  let worst = -Infinity;
  for (let m = 0; m < values.length; m++) worst = Math.max(worst, (values[m] - bounds[m]) / scale[m], (bests[m] - values[m]) / scale[m]);
  return worst;
}
