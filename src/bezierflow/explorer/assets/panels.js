// Sliders, figures and tables. Every name is put in as text, never as markup.

/** An element with attributes, event handlers (onclick: …) and children, which are elements or text. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name in made && name !== "list") made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

function nameCell(thing) {
  return thing.unit ? [thing.name, element("span", { className: "unit" }, thing.unit)] : [thing.name];
}

/** A note beside an objective that is maximized. */
function betterNote(objective) {
  return objective.best === "largest" ? [element("span", { className: "unit" }, "higher is better")] : [];
}

/** One slider for each objective: its weight t_m, or how much of it is accepted. */
class TradeoffSliders {
  constructor(root, model, state, onMove) {
    Object.assign(this, { model, state });
    this.rows = model.objectives.map((objective, m) => {
      const id = `weight-${m}`;
      const slider = element("input", {
        type: "range", id, min: "0", max: "1", step: "0.001",
        oninput: (event) => onMove(model.withShare(state.t, m, Number(event.target.value))),
      });
      const figure = element("output", { htmlFor: id });
      root.append(element("div", { className: "weight" }, element("label", { htmlFor: id }, objective.name), figure, slider));
      return { slider, figure };
    });
  }

  update() {
    this.rows.forEach(({ slider, figure }, m) => {
      const share = this.model.share(this.state.point, m), text = this.model.shareText(this.state.point, m);
      slider.value = String(share);
      slider.setAttribute("aria-valuetext", text);
      fillTrack(slider, share);
      figure.textContent = text;
    });
  }
}

function fillTrack(slider, share) {
  slider.style.setProperty("--share", `${(100 * Math.min(1, Math.max(0, share))).toFixed(2)}%`);
}

/** Each objective: its value, where that lies between best and worst, and a slider for the worst that is acceptable. */
class ObjectivePanel {
  constructor(root, model, state, onRange, onBest) {
    Object.assign(this, { model, state });
    this.rows = model.objectives.map((objective, m) => {
      const id = `bound-${m}`;
      const value = element("span", { className: "value" }), error = element("span", { className: "tolerance" });
      const marker = element("span", { className: "marker" });
      const cut = element("span", { className: "cut" }), front = element("span", { className: "cut front" });
      const slider = element("input", {
        type: "range", id, min: "0", max: "1000", step: "1", value: "1000",
        oninput: (event) => {
          const share = Number(event.target.value) / 1000;
          onRange(m, share >= 1 ? model.unbounded(m) : model.ideal[m] + share * model.scale[m], state.bests[m]);
        },
      });
      const figure = element("output", { htmlFor: id });
      const best = element("button", { type: "button", className: "quiet limit", hidden: true, title: "Take this limit off",
        onclick: () => onRange(m, state.bounds[m], model.unlimited(m)) });
      root.append(element("section", { className: "objective" },
        element("div", { className: "heading" }, element("h3", {}, ...nameCell(objective), ...betterNote(objective)), value),
        element("div", { className: "range", "aria-hidden": "true" }, front, cut, marker),
        element("div", { className: "ends" },
          element("span", {}, `best ${model.figure(m, model.ideal[m], 4)}`), error,
          element("span", {}, `worst ${model.figure(m, model.nadir[m], 4)}`)),
        element("div", { className: "bound" },
          element("label", { htmlFor: id }, objective.best === "largest" ? "at least" : "at most"), slider, figure,
          element("button", { type: "button", className: "quiet", title: `Go to the ${objective.best} ${objective.name} within all bounds`,
            onclick: () => onBest(m) }, `go to ${objective.best}`)), best));
      return { value, error, marker, cut, front, slider, figure, best };
    });
  }

  update() {
    const { model, state } = this;
    this.rows.forEach((row, m) => {
      const share = (state.f[m] - model.ideal[m]) / model.scale[m], bound = state.bounds[m];
      const limit = Number.isFinite(bound) ? (bound - model.ideal[m]) / model.scale[m] : 1;
      row.value.textContent = model.figure(m, state.f[m], 5);
      row.error.textContent = `± ${readable(model.frontError[m], 2)}`;
      row.error.title = model.words.tolerance;
      row.marker.style.left = `${(100 * Math.min(1, Math.max(0, share))).toFixed(2)}%`;
      row.cut.style.left = `${(100 * limit).toFixed(2)}%`;
      row.slider.value = String(Math.round(1000 * limit));
      row.slider.setAttribute("aria-valuetext", Number.isFinite(bound) ? readable(bound) : "no bound");
      fillTrack(row.slider, limit);
      row.figure.textContent = Number.isFinite(bound) ? readable(bound, 4) : "no bound";
      row.best.hidden = !Number.isFinite(state.bests[m]);
      row.front.style.right = row.best.hidden ? "100%" : `${(100 - 100 * (state.bests[m] - model.ideal[m]) / model.scale[m]).toFixed(2)}%`;
      row.best.textContent = `not better than ${readable(state.bests[m], 4)} ✕`;
    });
  }
}

/** The design: each variable with its value, where that lies in its range over the whole set if it has one, and the bound that it is at. */
class DesignPanel {
  constructor(root, model, state) {
    Object.assign(this, { model, state });
    const body = element("tbody"), { low, high } = model.designRange, all = model.variables.length;
    this.rows = mostVarying(low, high, MOST_ROWS).map((i) => {
      const value = element("span"), bound = element("span", { className: "at-bound" }), marker = element("span", { className: "marker" });
      const varies = high[i] - low[i] > 1e-6 * Math.max(Math.abs(low[i]), Math.abs(high[i]));
      body.append(element("tr", {}, element("th", { scope: "row" }, ...nameCell(model.variables[i])), element("td", { className: "number" }, value),
        element("td", { className: "bar" }, ...(varies ? [element("div", { className: "range", "aria-hidden": "true" }, marker)] : []), bound,
          ...(varies ? [] : [element("span", { className: "unit" }, "the same in every design")]))));
      return { i, value, bound, marker, varies };
    });
    root.append(element("table", { className: "design" }, body));
    root.classList.toggle("long", this.rows.length > 40);
    const which = this.rows.length < all ? `The ${this.rows.length} of ${all} variables that change most` : `All ${all} variables`;
    if (this.rows.length > 40) root.after(element("p", { className: "note" }, `${which}: scroll the list.`));
  }

  update() {
    const { low, high } = this.model.designRange;
    for (const { i, value, bound, marker, varies } of this.rows) {
      const x = this.state.x[i], share = varies ? (x - low[i]) / (high[i] - low[i]) : 0.5;
      value.textContent = this.model.text(i, x, 5, 1e5 * (high[i] - low[i]));
      bound.textContent = { "-1": "at lower bound", 1: "at upper bound" }[this.model.sideOf?.(i, this.state.point)] ?? "";
      marker.style.left = `${(100 * Math.min(1, Math.max(0, share))).toFixed(2)}%`;
    }
  }
}

/** A browser takes many seconds to lay out thousands of rows. */
const MOST_ROWS = 200;

/** The numbers of at most n variables, in their order: those with the widest ranges. */
function mostVarying(low, high, n) {
  const order = low.map((_, i) => i).sort((i, j) => (high[j] - low[j]) - (high[i] - low[i]) || i - j);
  return order.slice(0, n).sort((i, j) => i - j);
}

/** What one unit more of an objective (column) saves in another (row). */
class RatesPanel {
  constructor(root, model, state) {
    Object.assign(this, { model, state });
    const head = element("tr", {}, element("td")), more = (objective) => `+1 ${objective.unit}`.trim() + ` ${objective.name}`;
    model.objectives.forEach((objective) => head.append(element("th", { scope: "col" }, more(objective))));
    const body = element("tbody");
    this.cells = model.objectives.map((objective) => {
      const cells = model.objectives.map((other) => element("td", { className: other === objective ? "number self" : "number", "data-label": more(other) }));
      body.append(element("tr", {}, element("th", { scope: "row" }, ...nameCell(objective)), ...cells));
      return cells;
    });
    this.note = element("p", { className: "note" });
    this.table = element("table", { className: "rates" }, element("thead", {}, head), body);
    root.append(element("div", { className: "fitted" }, this.table), this.note);
  }

  /** As its texts are now: columns that become wider than these are reason to look again. */
  fit() {
    this.widest = this.width();
    stackIfWide(this.table);
  }

  /** The longest texts of the columns together, in characters. */
  width() {
    const longest = (j) => Math.max(...this.cells.map((row) => row[j].textContent.length));
    return this.cells[0].reduce((total, _, j) => total + longest(j), 0);
  }

  update() {
    const { matrix, note } = this.model.rates(this.state.point);
    this.cells.forEach((row, i) => row.forEach((cell, j) => {
      const rate = matrix?.[i][j] ?? null;
      cell.textContent = i === j ? "" : rate === null ? "–" : readable(rate, 4);
    }));
    this.note.textContent = note;
    if (this.width() > (this.widest ?? 0)) this.fit();
  }
}

/** A table that is wider than its place becomes a list: each row a heading with a line for each column. */
function stackIfWide(table) {
  table.classList.remove("stacked");
  table.classList.toggle("stacked", table.scrollWidth > table.parentElement.clientWidth + 1 || table.offsetWidth > table.parentElement.clientWidth + 1);
}

/** What holds at the current point of an atlas, in words, and the pieces of its set, each a button that leads there. */
class PlacePanel {
  constructor(root, list, model, state, onMove) {
    Object.assign(this, { model, state });
    this.lines = element("div", { className: "place", role: "status" });
    const least = (piece) => Math.min(...piece.places.map((a) => model.values(a)[0]));
    const own = [...model.pieces.entries()].filter(([, piece]) => !piece.face)
      .sort(([, one], [, other]) => other.dimension - one.dimension || least(one) - least(other));
    this.buttons = own.map(([number, piece]) => {
      const swatch = swatchOf(), button = element("button", { type: "button", className: "piece", title: "Go to the middle of this piece",
        onclick: () => onMove(middleOf(piece.places)) }, swatch, element("span", {}, model.titleOf(number)));
      return { number, button, piece, swatch };
    });
    root.append(this.lines);
    list.append(element("div", { className: "pieces" }, ...this.buttons.map(({ button }) => button)));
    list.previousElementSibling.textContent = this.buttons.length === 1 ? "One piece" : `${this.buttons.length} pieces`;
  }

  update() {
    const lines = this.model.describe(this.state.point);
    if (lines.join() !== this.shown) this.lines.replaceChildren(...lines.map((line) => element("p", {}, line)));
    this.shown = lines.join();
    this.buttons.forEach(({ number, button, piece, swatch }) => {
      button.setAttribute("aria-current", String(this.state.point.piece === number));
      swatch.style.background = this.model.isFull(number) ? piece.tone.flat : piece.tone.line;
    });
  }
}

/** The point with the least sum of distances to the others. */
function middleOf(places) {
  const total = (place) => places.reduce((sum, other) => sum + Math.hypot(...place.map((value, m) => value - other[m])), 0);
  return places.reduce((best, place) => (total(place) < best.total ? { place, total: total(place) } : best), { total: Infinity }).place;
}
