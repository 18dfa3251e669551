// Canvases: sharp on every screen, one palette, ticks that a person would choose.

const COLORS = {
  ink: "#1b2430", muted: "#566274", line: "#d5dbe3", faint: "#eef1f5", panel: "#ffffff",
  accent: "#1f5fd0", feasible: "#bcd3f7", feasibleDeep: "#7fa8ea", infeasible: "#e3e6ea", infeasibleDeep: "#c6ccd4",
  point: "#d1461f", bookmark: "#0f7b54",
};
const FONT = "12px system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";

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
  const full = `${view.canvas.width}×${view.canvas.height}: ${key}`;
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
  context.strokeStyle = "#ffffff";
  context.stroke();
}

/** Text cut to a width, with an ellipsis. */
function fitText(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let cut = text;
  while (cut.length > 1 && context.measureText(`${cut}…`).width > width) cut = cut.slice(0, -1);
  return `${cut}…`;
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
  if (Math.abs(value) <= 1e-12 * range) return "0";
  const size = Math.abs(value);
  const text = size >= 1e6 || size < 1e-4 ? value.toExponential(digits - 2) : String(Number(value.toPrecision(digits)));
  return text.replaceAll("-", "−");
}

function labelOf(thing) {
  return thing.unit ? `${thing.name} [${thing.unit}]` : thing.name;
}
