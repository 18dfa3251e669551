// The front of four and more objectives, two at a time.

class PairsView {
  constructor(canvas, model, state, onMove) {
    Object.assign(this, { canvas, model, state, onMove });
    this.pairs = [];
    for (let i = 0; i < model.nObjectives; i++) for (let j = i + 1; j < model.nObjectives; j++) this.pairs.push([i, j]);
    canvas.classList.add("scrolls");  // nothing is dragged here, and it is higher than a phone
    canvas.addEventListener("click", (event) => {
      const [x, y] = pointerIn(canvas, event);
      const panel = this.panels.find(({ frame }) => x >= frame.left && x <= frame.right && y >= frame.top && y <= frame.bottom);
      if (!panel) return;
      this.onMove(nearestSample({ canvas, model, place: (values) => this.placeIn(panel, values) }, [x, y]));
    });
    this.resize();
  }

  resize() {
    const columns = this.columns(), rows = Math.ceil(this.pairs.length / columns), wide = this.canvas.clientWidth / columns - 58;
    const longest = Math.max(...this.model.objectives.map((objective) => textLines(axisLabelOf(objective), wide).length));
    this.canvas.style.height = `${rows * (201 + LINE * longest)}px`;
  }

  columns() {
    const wide = this.canvas.clientWidth;
    const most = Math.max(2, Math.floor(wide / 185)), rows = Math.ceil(this.pairs.length / most);
    return Math.ceil(this.pairs.length / rows);  // rows as even as they come
  }

  placeIn({ frame, i, j }, values) {
    const { model } = this;
    return [
      frame.left + model.height(i, values[i]) * (frame.right - frame.left),
      frame.bottom - model.height(j, values[j]) * (frame.bottom - frame.top),
    ];
  }

  draw() {
    this.resize();
    const { clientWidth: width, clientHeight: height } = this.canvas, { state } = this;
    const columns = this.columns(), rows = Math.ceil(this.pairs.length / columns);
    this.panels = this.pairs.map(([i, j], k) => {
      const left = (k % columns) * width / columns, top = Math.floor(k / columns) * height / rows;
      const frame = { left: left + 46, right: left + width / columns - 12, top: top + 8, bottom: top + height / rows - 40 };
      return { i, j, frame: frameWithLabels(this.model, i, j, frame) };
    });
    drawLayers(this, state.version, (context) => this.panels.forEach((panel) => this.drawPanel(context, panel)), (context) => {
      for (const panel of this.panels) {
        for (const bookmark of state.bookmarks) drawPoint(context, ...this.placeIn(panel, bookmark.f), bookmark.color, 4);
        drawPoint(context, ...this.placeIn(panel, state.f), COLORS.point, 5.5);
      }
    });
  }

  /** One pair of objectives: the samples that obey the bounds over those that do not. */
  drawPanel(context, panel) {
    const { model, state } = this;
    drawAxes(context, panel.frame, model, panel.i, panel.j, true);
    const colorOf = (k) => (state.feasible[k] ? model.pieces[model.samplePieces[k]].tone.line : COLORS.infeasible);
    const order = (color) => (color === COLORS.infeasible ? 0 : color === FACE_TONES[0].line ? 1 : 2);
    const groups = [...grouped(model.sampleValues.keys(), colorOf)].sort(([one], [other]) => order(one) - order(other));
    for (const [color, mine] of groups) {
      context.fillStyle = color;
      context.globalAlpha = color === COLORS.infeasible ? 1 : 0.42;
      context.beginPath();
      for (const k of mine) {
        const [x, y] = this.placeIn(panel, model.sampleValues[k]);
        context.rect(x - 1, y - 1, 2, 2);
      }
      context.fill();
    }
    context.globalAlpha = 1;
    drawEvaluated(context, model, (values) => this.placeIn(panel, values));
  }
}
