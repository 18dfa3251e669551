// The page: one state, and every part of the picture drawn from it.

function start() {
  const data = JSON.parse(document.getElementById("data").textContent), isAtlas = "atlas" in data;
  const model = isAtlas ? new AtlasModel(data) : new SurfaceModel(data);
  const n = model.nObjectives;
  const state = {
    t: model.start, f: [], x: [], point: null, bounds: model.objectives.map((_, m) => model.unbounded(m)),
    feasible: model.sampleValues.map(() => true), version: 0, bookmarks: [],
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
  };
  const announce = (found) => {
    const message = found ? "" : "No trade-off meets all bounds. Loosen one: the point stays where it was.";
    if (part("message").textContent !== message) part("message").textContent = message;
    part("message").hidden = !message;
  };

  const goToBest = (m) => { const t = bestFeasible(model, state.bounds, m); if (t) moveTo(t); };
  const panels = [
    new TradeoffSliders(part("weights"), model, state, moveTo),
    new ObjectivePanel(part("objectives"), model, state, setBound, goToBest),
    new DesignPanel(part("design"), model, state),
    new RatesPanel(part("rates"), model, state),
  ];
  if (isAtlas && n <= 3) part("weights").before(element("p", { className: "note" }, model.words.sliders));
  if (isAtlas) panels.push(new PlacePanel(part("place"), model, state, moveTo)); else part("place").hidden = true;
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
  if (n <= 3) drawings.push(new (isAtlas ? ChartPad : SimplexPad)(part("pad"), model, state, moveTo)); else part("pad").hidden = true;
  if (n === 2) part("pad").classList.add("line");
  part("front-hint").textContent = n === 3 ? "Drag to turn, click to pick a point; arrow keys turn it too."
    : n === 2 ? "Click or drag along the curve." : "Each panel shows two objectives; click to pick a point.";
  const drag = "Drag the point, or focus it and use the arrow keys (Shift for larger steps).";
  part("pad-hint").textContent = n > 3 ? model.words.sliders : drag;
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
    state.point = model.point(state.t);
    ({ f: state.f, x: state.x } = state.point);
    if (!waiting) { waiting = true; requestAnimationFrame(draw); }
  };

  part("add").addEventListener("click", () => bookmarks.add());
  part("reset").addEventListener("click", () => {
    state.bounds = model.objectives.map((_, m) => model.unbounded(m));
    applyBounds();
    moveTo(model.start);
  });
  part("csv").addEventListener("click", () => download("choices.csv", "text/csv", bookmarks.toCSV()));
  part("json").addEventListener("click", () => download("choices.json", "application/json", bookmarks.toJSON()));
  window.addEventListener("resize", refresh);
  refresh();
  draw();
  return { model, state, moveTo, setBound, bookmarks, BezierSimplex, multiIndices, tradeoffRates, snapToFeasible, projectToSimplex, readable };
}

/** How far the answer may be from the true one; the title has what to be careful about. */
function showError(root, model, state) {
  const { text, flags } = model.error(state.point);
  root.textContent = text;
  root.classList.toggle("caution", flags.length > 0);
  root.title = flags.join("\n");
}

globalThis.bezierflow = start();
