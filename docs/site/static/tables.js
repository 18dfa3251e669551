// On narrow windows tables become lists that do not fit, or fit only in columns of a few letters: each row a block, each cell with the
// heading of its column. Large tables of figures would be lists without end: they scroll below their first column, which stays.

//
// A figure such as 2.4e-06 has no line break at its hyphen, and may have one before ±. Tables of many columns scroll, so that a long text
// in one of them needs no column of five lines and more.

const FIGURE = /([(±]?\d[\d.,]*e[+-]\d+)/;
const NARROW = window.matchMedia("(max-width: 46rem)");
const HIGH_ROW = 120;  // pixels: five lines
const MOST_CELLS = 64;
const MANY_COLUMNS = 6, LONG_TEXT = 24;

function stack(table) {
  const wrapper = table.closest(".table-wrapper") ?? table.parentElement;
  table.classList.remove("stacked");
  const tooWide = wrapper.scrollWidth > wrapper.clientWidth + 1;
  const columns = table.rows[0]?.cells.length ?? 0, figures = columns > 5 && columns * table.rows.length > MOST_CELLS;
  const tooHigh = columns > 2 && [...table.rows].some((row) => row.offsetHeight > HIGH_ROW);
  if (!NARROW.matches || figures || !(tooWide || tooHigh)) return;
  const headings = [...table.querySelectorAll("thead th")].map((cell) => cell.innerText.trim());
  for (const row of table.querySelectorAll("tbody tr")) {
    [...row.children].forEach((cell, k) => {
      cell.dataset.label = headings[k] ?? "";
      cell.classList.toggle("empty", !cell.textContent.trim());
      if (cell.childNodes.length > 1 || cell.firstChild?.nodeType === Node.TEXT_NODE) {  // text, code and links stay one item
        const content = document.createElement("span");
        content.append(...cell.childNodes);
        cell.append(content);
      }
    });
  }
  table.classList.add("stacked");
}

function keepFiguresWhole(cell) {
  const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), found = [];
  while (texts.nextNode()) if (FIGURE.test(texts.currentNode.data)) found.push(texts.currentNode);
  for (const text of found) {
    text.replaceWith(...text.data.split(FIGURE).flatMap((part) => {
      if (!FIGURE.test(part)) return [part];
      const figure = document.createElement("span");
      figure.className = "figure";
      figure.textContent = part;
      return [document.createElement("wbr"), figure];
    }));
  }
}

function widen(table) {
  const many = (table.rows[0]?.cells.length ?? 0) >= MANY_COLUMNS;
  if (!many || ![...table.rows].some((row) => row.offsetHeight > HIGH_ROW)) return;
  for (const cell of table.querySelectorAll("td")) cell.classList.toggle("long", cell.textContent.length > LONG_TEXT);
}

const stackAll = () => document.querySelectorAll("article table").forEach(stack);
window.addEventListener("load", () => {
  document.querySelectorAll("article td").forEach(keepFiguresWhole);
  document.querySelectorAll("article table").forEach(widen);
  stackAll();
});
NARROW.addEventListener("change", stackAll);
