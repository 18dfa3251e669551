// The page: one state, and every part of the picture drawn from it.

function start() {
  const model = new Model(JSON.parse(document.getElementById("data").textContent));
  const n = model.nObjectives;
  const state = {
    t: new Array(n).fill(1 / n), f: [], x: [], bounds: new Array(n).fill(Infinity),
    feasible: model.sampleValues.map(() => true), excess: model.sampleValues.map(() => -Infinity), version: 0, bookmarks: [],
  };
  const part = (id) => document.getElementById(id);

  const moveTo = (t) => {
    const snapped = snapToFeasible(model, state.bounds, t);
    announce(snapped);
    if (snapped) state.t = snapped;
    refresh();
  };
  const setBound = (m, value) => {
    state.bounds[m] = value;
    applyBounds();
    moveTo(state.t);
  };
  const applyBounds = () => {
    state.feasible = model.sampleValues.map((values) => isFeasible(values, state.bounds, model.scale));
    state.version += 1;  // pictures of what stands still are made anew
    state.excess = model.sampleValues.map((values) => excess(values, state.bounds, model.scale));
  };
  const announce = (found) => {
    const message = found ? "" : "No trade-off meets all bounds. Loosen one: the point stays where it was.";
    if (part("message").textContent !== message) part("message").textContent = message;
    part("message").hidden = !message;
  };

  const weights = new WeightSliders(part("weights"), model, state, moveTo);
  const goToLeast = (m) => { const t = leastFeasible(model, state.bounds, m); if (t) moveTo(t); };
  const panels = [
    weights,
    new ObjectivePanel(part("objectives"), model, state, setBound, goToLeast),
    new DesignPanel(part("design"), model, state),
    new RatesPanel(part("rates"), model, state),
  ];
  if (n <= 3) {  // few objectives leave room beside the front and below it
    part("right").append(part("rates").closest("section"));
    part("middle").append(part("design").closest("section"));
  }
  if (n >= 5) {  // a wide table: a row of its own
    const section = part("rates").closest("section");
    section.classList.add("full");
    part("bookmarks").closest("section").before(section);
  }
  const View = n === 2 ? CurveView : n === 3 ? SurfaceView : PairsView;
  const drawings = [new View(part("front"), model, state, moveTo)];
  if (n <= 3) drawings.push(new Pad(part("pad"), model, state, moveTo)); else part("pad").hidden = true;
  if (n === 2) part("pad").classList.add("line");
  part("front-hint").textContent = n === 3 ? "Drag to turn, click to pick a point; arrow keys turn it too."
    : n === 2 ? "Click or drag along the curve." : "Each panel shows two objectives; click to pick a point.";
  part("pad-hint").textContent = n <= 3 ? "Drag the point, or focus it and use the arrow keys (Shift for larger steps)."
    : "Move a slider; the others keep their proportions.";
  const bookmarks = new Bookmarks(part("bookmarks"), model, state, () => { bookmarks.update(); refresh(); }, moveTo);

  let waiting = false;
  const draw = () => {
    waiting = false;
    drawings.forEach((drawing) => drawing.draw());
    panels.forEach((panel) => panel.update());
    showError(part("error"), model, state);
  };
  /** Values at once, pictures with the next frame: however fast the pointer moves, each frame is drawn once. */
  const refresh = () => {
    state.f = model.front.evaluate(state.t);
    state.x = model.designs.evaluate(state.t);
    if (!waiting) { waiting = true; requestAnimationFrame(draw); }
  };

  part("add").addEventListener("click", () => bookmarks.add());
  part("reset").addEventListener("click", () => {
    state.bounds.fill(Infinity);
    applyBounds();
    moveTo(new Array(n).fill(1 / n));
  });
  part("csv").addEventListener("click", () => download("choices.csv", "text/csv", bookmarks.toCSV()));
  part("json").addEventListener("click", () => download("choices.json", "application/json", bookmarks.toJSON()));
  window.addEventListener("resize", refresh);
  refresh();
  draw();
  return { model, state, moveTo, setBound, bookmarks, BezierSimplex, multiIndices, tradeoffRates, snapToFeasible, projectToSimplex, readable };
}

/** How far the design at the point may be from the true Pareto set: measured nearby where the page has that, else overall. */
function showError(root, model, state) {
  const { error } = model.data, local = model.errorAt(state.t);
  const share = (value) => `${readable(100 * value / (error.diameter || 1), 2)} % of the set's size`;
  const parts = local === null ? [`Surface error ${readable(error.rms, 2)} overall (${share(error.rms)})`]
    : [`Surface error about ${readable(local, 2)} here (${share(local)})`];
  parts.push(`expected below ${readable(error.bound, 2)} everywhere`);
  root.textContent = parts.join(", ");
  root.classList.toggle("caution", error.flags.length > 0);
  root.title = error.flags.join("\n");
}

globalThis.bezierflow = start();
