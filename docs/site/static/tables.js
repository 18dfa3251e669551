// On narrow windows tables that do not fit become lists: each row a block, each cell with the heading of its column.

const NARROW = window.matchMedia("(max-width: 46rem)");

function stack(table) {
  const wrapper = table.closest(".table-wrapper") ?? table.parentElement;
  table.classList.remove("stacked");
  if (!NARROW.matches || wrapper.scrollWidth <= wrapper.clientWidth + 1) return;
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

const stackAll = () => document.querySelectorAll("article table").forEach(stack);
window.addEventListener("load", stackAll);
NARROW.addEventListener("change", stackAll);
