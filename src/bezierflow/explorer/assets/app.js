// The page: one state, and every part of the picture drawn from it.

function start() {
  const data = JSON.parse(document.getElementById("data").textContent), isAtlas = "atlas" in data;
  const model = isAtlas ? new AtlasModel(data) : new SurfaceModel(data);
  const n = model.nObjectives;
  const state = {
    t: model.start, f: [], x: [], point: null, bounds: [], bests: [],
    feasible: model.sampleValues.map(() => true), version: 0, bookmarks: [],
  };
  const part = (id) => document.getElementById(id);

  const moveTo = (t) => {
    const snapped = snapToFeasible(model, state, t);
    announce(snapped);
    if (snapped) state.t = snapped;
    refresh();
  };
  const setRange = (m, worst, best) => {
    state.bounds[m] = worst;
    state.bests[m] = best;
    applyBounds();
    moveTo(state.t);
  };
  const takeOffLimits = () => {
    state.bounds = model.objectives.map((_, m) => model.unbounded(m));
    state.bests = model.objectives.map((_, m) => model.unlimited(m));
  };
  takeOffLimits();
  const applyBounds = () => {
    state.feasible = model.sampleValues.map((values) => isFeasible(values, state, model.scale));
    state.version += 1;  // pictures of what stands still are made anew
  };
  const announce = (found) => {
    const message = found ? "" : "No trade-off meets all bounds. Loosen one: the point stays where it was.";
    if (part("message").textContent !== message) part("message").textContent = message;
    part("message").hidden = !message;
  };

  const goToBest = (m) => { const t = bestFeasible(model, state, m); if (t) moveTo(t); };
  const panels = [
    new TradeoffSliders(part("weights"), model, state, moveTo),
    new ObjectivePanel(part("objectives"), model, state, setRange, goToBest),
    new DesignPanel(part("design"), model, state),
    new RatesPanel(part("rates"), model, state),
  ];
  if (isAtlas && n <= 3) part("weights").before(element("p", { className: "note" }, model.words.sliders));
  if (isAtlas) panels.push(new PlacePanel(part("place"), part("pieces"), model, state, moveTo));
  else { part("place").hidden = true; part("pieces").closest("section").remove(); }
  const View = n === 2 ? CurveView : n === 3 ? SurfaceView : PairsView;
  const drawings = [new View(part("front"), model, state, moveTo)];
  if (n > 3) {  // all pairs of objectives take a row of their own
    drawings.push(new ParallelView(part("parallel"), model, state, moveTo, setRange));
    part("bookmarks").closest("section").before(part("front").closest("section"));
    part("front").closest("section").classList.add("full");
    part("front-title").textContent = "The front, two objectives at a time";
  } else part("parallel").closest("section").remove();
  if (n <= 3) drawings.push(new Pad(part("pad"), model, state, moveTo)); else part("pad").hidden = true;
  if (n === 2) part("pad").classList.add("line");
  part("front-hint").textContent = n === 3 ? "Drag to turn, click or tap to pick a point; arrow keys turn it too."
    : n === 2 ? "Click or drag along the curve." : "Click to pick a point.";
  part("front-hint").textContent += model.evaluatedText;
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
    takeOffLimits();
    applyBounds();
    moveTo(model.start);
  });
  part("csv").addEventListener("click", () => download("choices.csv", "text/csv", bookmarks.toCSV()));
  part("json").addEventListener("click", () => download("choices.json", "application/json", bookmarks.toJSON()));
  const movable = ["pieces", "design", "rates"].flatMap((id) => part(id)?.closest("section") ?? []);
  const fit = () => panels.forEach((panel) => panel.fit?.());
  const resize = () => { drawings.forEach((drawing) => drawing.resize?.()); arrange(movable, part("main"), fit); fit(); bookmarks.fit(); refresh(); };
  window.addEventListener("resize", resize);
  DARK.addEventListener("change", () => {
    readColors();
    state.version += 1;
    bookmarks.fit();
    refresh();
  });
  refresh();
  draw();
  resize();
  return { model, state, moveTo, setRange, bookmarks, BezierSimplex, multiIndices, tradeoffRates, snapToFeasible, projectToSimplex, readable };
}

/** Puts cards below columns so that the highest column is as low as can be; a column across the whole window takes none.
 *  `fit` turns tables that are too wide for their column into lists, which are higher.
 *  In a frame that is not shown nothing has a size: cards stay where they are until it is, which is a resize. */
function arrange(cards, main, fit) {
  if (main.offsetWidth === 0) return;
  cards.forEach((card) => card.remove());
  const columns = [...main.querySelectorAll(".column")].filter((column) => column.offsetWidth < 0.7 * main.offsetWidth);
  const bare = columns.map((column) => column.offsetHeight);
  const added = cards.map((card) => columns.map((column, i) => {
    column.append(card);
    fit();
    const height = column.offsetHeight - bare[i];
    card.remove();
    return height;
  }));
  let best = null;
  for (let k = 0; k < columns.length ** cards.length; k++) {
    const places = cards.map((_, i) => Math.floor(k / columns.length ** i) % columns.length);
    const heights = [...bare];
    places.forEach((place, i) => { heights[place] += added[i][place]; });
    const cost = Math.max(...heights) + 1e-5 * heights.reduce((sum, height) => sum + height ** 2, 0);  // then the most even one
    if (best === null || cost < best.cost) best = { cost, places };
  }
  cards.forEach((card, i) => columns[best.places[i]].append(card));
}

/** How far the answer may be from the true one, and what to be careful about. */
function showError(root, model, state) {
  const { text, flags } = model.error(state.point);
  if (root.dataset.shown === text) return;
  root.dataset.shown = text;
  root.replaceChildren(text, ...flags.map((flag) => element("span", { className: "flag" }, `Caution: ${flag}`)));
  root.classList.toggle("careful", flags.length > 0);
}

globalThis.bezierflow = start();
