// Bookmarks: candidates side by side, and out of the page as CSV and JSON.

// neither bright nor dark: each has a contrast of 3.4 at least with the panels of both schemes
const BOOKMARK_COLORS = ["#12875d", "#9159c9", "#b8650b", "#14809a", "#cc4285", "#75850f", "#74749a", "#a8643c"];

class Bookmarks {
  constructor(root, model, state, onChange, onGo) {
    Object.assign(this, { model, state, onChange, onGo, count: 0 });
    this.body = element("tbody");
    this.empty = element("p", { className: "note" }, "Nothing yet. Move to a trade-off you like and choose “Bookmark this choice”.");
    const head = element("tr", {}, element("th", { scope: "col" }, "Choice"));
    model.objectives.forEach((objective) => head.append(element("th", { scope: "col" }, ...nameCell(objective))));
    model.variables.slice(0, 8).forEach((variable) => head.append(element("th", { scope: "col" }, ...nameCell(variable))));
    head.append(element("th", { scope: "col" }, element("span", { className: "hidden" }, "Actions")));
    this.table = element("table", { className: "bookmarks" }, element("thead", {}, head), this.body);
    const canvas = element("canvas", { className: "comparison", role: "img", hidden: true, ariaLabel: "Bookmarked choices on an axis for each objective, best at the top" });
    this.chart = new ComparisonChart(canvas, model, state);
    root.append(this.empty, canvas, element("div", { className: "fitted" }, this.table));
    this.update();
  }

  add() {
    const { t, f, x } = this.state, color = BOOKMARK_COLORS[this.count % BOOKMARK_COLORS.length];
    this.count += 1;
    this.state.bookmarks.push({ name: `Choice ${this.count}`, color, t: t.slice(), f: f.slice(), x: x.slice() });
    this.onChange();
  }

  update() {
    this.empty.hidden = this.state.bookmarks.length > 0;
    this.table.hidden = !this.empty.hidden;
    const { objectives, variables } = this.model, best = this.model.signs.map((sign, m) => sign * Math.min(...this.state.bookmarks.map((bookmark) => sign * bookmark.f[m])));
    this.body.replaceChildren(...this.state.bookmarks.map((bookmark) => element("tr", {},
      element("td", { className: "name" }, swatchOf(bookmark.color), element("input", {
        type: "text", value: bookmark.name, ariaLabel: "Name of this choice",
        oninput: (event) => { bookmark.name = event.target.value; },
      })),
      ...bookmark.f.map((value, m) => element("td", {
        className: value === best[m] && this.state.bookmarks.length > 1 ? "number best" : "number", "data-label": labelOf(objectives[m]),
      }, this.model.figure(m, value, 5))),
      ...bookmark.x.slice(0, 8).map((value, i) => element("td", { className: "number", "data-label": labelOf(variables[i]) }, this.model.text(i, value, 4))),
      element("td", { className: "actions" },
        element("button", { type: "button", className: "quiet", onclick: () => this.onGo(bookmark.t) }, "go"),
        element("button", { type: "button", className: "quiet", ariaLabel: `Remove ${bookmark.name}`,
          onclick: () => { this.state.bookmarks.splice(this.state.bookmarks.indexOf(bookmark), 1); this.onChange(); } }, "remove")))));
    this.fit();
  }

  fit() { stackIfWide(this.table); this.chart.draw(); }

  toJSON() {
    const { names, problem } = this.model.data;
    return JSON.stringify({ title: problem, names, choices: this.state.bookmarks.map(({ name, t, f, x }) => ({ name, t, f, x: x.map((value, i) => this.model.exported(i, value)) })) }, null, 2);
  }

  toCSV() {
    const quoted = (cell) => `"${String(cell).replaceAll('"', '""')}"`;
    const heading = ["choice", ...this.model.objectives.map(labelOf), ...this.model.objectives.map((one) => `t: ${one.name}`), ...this.model.variables.map(labelOf)];
    const rows = this.state.bookmarks.map(({ name, f, t, x }) => [quoted(name), ...f, ...t, ...x.map((value, i) => this.model.exported(i, value)).map((cell) => (typeof cell === "string" ? quoted(cell) : cell))].join(","));
    return [heading.map(quoted).join(","), ...rows].join("\r\n") + "\r\n";
  }
}

function swatchOf(color = "") {
  const swatch = element("span", { className: "swatch", ariaHidden: "true" });
  swatch.style.background = color;
  return swatch;
}

function download(name, type, text) {
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
