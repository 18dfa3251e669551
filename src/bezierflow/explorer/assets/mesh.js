// Meshes: small triangles or segments of the simplex, and the part of them that bounds leave.

/** The small triangles of a regular grid in the canonical order, as rows of three positions. */
function gridTriangles(resolution) {
  const known = gridTriangles.known ??= new Map();
  if (known.has(resolution)) return known.get(resolution);
  const place = (i, j) => { const left = resolution - i; return left * (left + 1) / 2 + (left - j); };
  const rows = [];
  for (let i = 0; i < resolution; i++) {
    for (let j = 0; i + j < resolution; j++) {
      rows.push([place(i + 1, j), place(i, j + 1), place(i, j)]);
      if (i + j + 1 < resolution) rows.push([place(i + 1, j), place(i, j + 1), place(i + 1, j + 1)]);
    }
  }
  known.set(resolution, rows);
  return rows;
}

/** The part of a cell where a function that is linear between its corners is at most 0, as corners of a polygon. */
function clipCell(corners, heights) {
  const kept = [], n = corners.length;
  for (let k = 0; k < n; k++) {
    const next = (k + 1) % n, a = heights[k], b = heights[next];
    if (a <= 0) kept.push(corners[k]);
    if ((a <= 0) !== (b <= 0) && (n > 2 || k === 0)) {
      const share = a / (a - b);
      kept.push(corners[k].map((value, axis) => value + share * (corners[next][axis] - value)));
    }
  }
  return kept;
}

/** Cells with the places of their corners, each cut by the limits into what they leave and what they exclude. */
function cutByBounds(model, mesh, cells, limits, place) {
  const places = mesh.points.map((t, k) => place(t, mesh.values[k]));
  const beyond = mesh.values.map((values) => excess(values, limits, model.scale)), parts = [];
  for (const cell of cells) {
    const corners = mesh.cells[cell].map((k) => places[k]), heights = mesh.cells[cell].map((k) => beyond[k]);
    const keep = (polygon, feasible) => { if (polygon.length >= corners.length) parts.push({ polygon, feasible, corners, piece: mesh.pieces[cell] }); };
    keep(clipCell(corners, heights), true);
    keep(clipCell(corners, heights.map((height) => -height)), false);
  }
  return parts;
}

/** The numbers of the cells that are parts of the set, as of its pieces none is only a face of others. */
function frontCells(model, mesh) {
  return [...mesh.cells.keys()].filter((cell) => {
    const piece = model.pieces[mesh.pieces[cell]];
    return piece && !piece.face && piece.dimension === mesh.cells[cell].length - 1;
  });
}
