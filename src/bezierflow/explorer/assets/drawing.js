// Canvases: sharp on every screen, the page's colors, ticks that a person would choose.

const DARK = window.matchMedia("(prefers-color-scheme: dark)"), COLORS = {};

/** The style's colors, for canvases: of the scheme that the reader prefers, and again when that changes. */
function readColors() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["ink", "muted", "line", "panel", "accent", "infeasible", "barred", "excluded", "point", "rim", "chosen"]) {
    COLORS[name] = style.getPropertyValue(`--${name}`).trim();
  }
}
readColors();

function channels(color) { return [1, 3, 5].map((k) => parseInt(color.slice(k, k + 2), 16)); }

function mixed(color, share, other = [255, 255, 255]) { return color.map((value, k) => Math.round(value + share * (other[k] - value))); }

function rgb(color) { return `rgb(${color.join()})`; }

/** The colors of a piece: in space from dark to bright, flat on the pad, pale where only a part of what is asked for holds, and of lines. */
class Tone {
  constructor(dark, bright = mixed(dark, 0.62), tint = dark, share = 0.88) { Object.assign(this, { dark, bright, tint, share }); }
  get line() { return rgb(mixed(this.dark, DARK.matches ? 0.35 : 0)); }
  get flat() { return rgb(mixed(this.dark, DARK.matches ? 0.4 : 0.6, channels(COLORS.panel))); }
  get pale() { return rgb(mixed(this.tint, this.share, channels(COLORS.panel))); }
}

const HUES = [
  [206, 142, 20], [120, 74, 184], [14, 140, 132], [198, 66, 132], [118, 132, 28], [36, 142, 186], [150, 94, 58], [92, 92, 120], [176, 112, 200],
];
const TONES = [new Tone([31, 95, 208], [176, 205, 250]), ...HUES.map((dark) => new Tone(dark))];
const FACE_TONES = [0.92, 0.84, 0.89, 0.81].map((share) => new Tone([120, 130, 145], undefined, [190, 170, 95], share));
const EXCLUDED_TONE = {
  get dark() { return channels(COLORS.barred); }, get bright() { return channels(COLORS.infeasible); }, get line() { return COLORS.barred; },
};

const FONT = "12px system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";
const LINE = 14;  // pixels from one line of text to the next
const RULER = document.createElement("canvas").getContext("2d");  // measures texts before their place is known

/** Fits a canvas to its box in device pixels and returns its context with CSS pixels for units. */
function sharpContext(canvas) {
  const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = FONT;
  return { context, width, height };
}

/**
 * Draws what stands still (kept as a picture until its key changes) and then what moves: dragging a point costs next to nothing.
 * The painters get a context with CSS pixels for units.
 */
function drawLayers(view, key, paintStill, paintMoving) {
  const { context, width, height } = sharpContext(view.canvas);
  const full = `${view.canvas.width}×${view.canvas.height}, ${COLORS.panel}: ${key}`;
  if (view.stillKey !== full) {
    view.still = document.createElement("canvas");
    view.still.width = view.canvas.width;
    view.still.height = view.canvas.height;
    const still = view.still.getContext("2d");
    still.setTransform(context.getTransform());
    still.font = FONT;
    paintStill(still, width, height);
    view.stillKey = full;
  }
  if (view.still.width && view.still.height) context.drawImage(view.still, 0, 0, width, height);
  paintMoving(context);
}

function drawPoint(context, x, y, color = COLORS.point, radius = 7) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fillStyle = color;
  context.fill();
  context.lineWidth = 2;
  context.strokeStyle = COLORS.panel;
  context.stroke();
}

/** Fills polygons of one color in one go, with a thin outline that closes the seams between them. */
function fillPolygons(context, polygons, color) {
  context.beginPath();
  for (const polygon of polygons) {
    polygon.forEach((corner, i) => context[i ? "lineTo" : "moveTo"](corner[0], corner[1]));
    context.closePath();
  }
  context.fillStyle = color;
  context.strokeStyle = color;
  context.lineWidth = 0.8;
  context.fill();
  context.stroke();
}

/** Strokes segments of one color in one go. */
function strokeSegments(context, segments, color, width) {
  context.beginPath();
  for (const [from, to] of segments) {
    context.moveTo(from[0], from[1]);
    context.lineTo(to[0], to[1]);
  }
  context.strokeStyle = color;
  context.lineWidth = width;
  context.stroke();
}

/** Lists by what `key` says of each entry. */
function grouped(entries, key) {
  const groups = new Map();
  for (const entry of entries) {
    if (!groups.has(key(entry))) groups.set(key(entry), []);
    groups.get(key(entry)).push(entry);
  }
  return groups;
}

/** A text as lines that fit a width: broken after spaces, underscores, slashes and hyphens, within a word only where it alone is too
 *  wide. What is left after so many lines that a picture has no room for more ends in an ellipsis. */
function textLines(text, width, most = 8) {
  RULER.font = FONT;
  const fits = (line) => RULER.measureText(line.trimEnd()).width <= width, lines = [""];
  const put = (part) => {
    const last = lines.length - 1;
    if (!lines[last] || fits(lines[last] + part)) lines[last] += part; else lines.push(part);
  };
  for (const word of text.match(/[^\s_/-]*[\s_/-]*/g)) {
    if (fits(word)) put(word); else { lines.push(""); for (const letter of word) put(letter); }
  }
  const kept = lines.map((line) => line.trim()).filter(Boolean);
  if (kept.length <= most) return kept.length ? kept : [""];
  let end = kept[most - 1];
  while (end && !fits(`${end}…`)) end = end.slice(0, -1);
  return [...kept.slice(0, most - 1), `${end}…`];
}

/** Lines of text below each other, the first at y. */
function fillLines(context, lines, x, y) { lines.forEach((line, k) => context.fillText(line, x, y + LINE * k)); }

/** Evaluations over a picture of the front: circles for those that no other one dominates, dots for the others. */
function drawEvaluated(context, model, place) {
  for (const { f, best } of model.evaluated.filter(({ shown }) => shown)) {
    const [x, y] = place(f);
    context.beginPath();
    context.arc(x, y, best ? 3.5 : 2, 0, 2 * Math.PI);
    context.fillStyle = best ? COLORS.panel : COLORS.muted;
    context.strokeStyle = COLORS.ink;
    context.lineWidth = 1.2;
    context.fill();
    if (best) context.stroke();
  }
}

function pointerIn(canvas, event) {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

/** Follows a mouse, a pen or one finger from where it goes down to where it leaves; further fingers are ignored meanwhile. */
function followPointer(canvas, { down, move, up = () => {} }) {
  let held = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (held !== null && !event.isPrimary) return;
    held = event.pointerId;
    canvas.setPointerCapture(held);
    down(pointerIn(canvas, event));
  });
  canvas.addEventListener("pointermove", (event) => { if (event.pointerId === held) move(pointerIn(canvas, event)); });
  for (const end of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(end, (event) => {
      if (event.pointerId !== held) return;
      held = null;
      if (end === "pointerup") up(pointerIn(canvas, event));
    });
  }
}

/** About n round numbers between low and high. */
function ticks(low, high, n) {
  const raw = (high - low) / n, power = 10 ** Math.floor(Math.log10(raw || 1));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= raw) || power;
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
  return found;
}

/** A number as a person reads it: five significant digits, no trailing zeros, an exponent only where it helps. What is next to
 *  nothing beside the range it is from is 0. */
function readable(value, digits = 5, range = 0) {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : value < 0 ? "−∞" : "–";
  if (Math.abs(value) <= 1e-12 * Math.abs(range)) return "0";
  const size = Math.abs(value);
  const text = size >= 1e6 || size < 1e-4 ? value.toExponential(digits - 2) : String(Number(value.toPrecision(digits)));
  return text.replaceAll("-", "−");
}

function labelOf(thing) {
  return thing.unit ? `${thing.name} [${thing.unit}]` : thing.name;
}

/** The label of an objective's axis. */
function axisLabelOf(objective) {
  return labelOf(objective) + (objective.best === "largest" ? " (higher is better)" : "");
}
