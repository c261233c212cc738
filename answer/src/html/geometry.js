// Points, curves and arrow heads.

/** A point of a quadratic curve. */
function onCurve(a, c, b, t) {
  const mix = (p, q, r) => (1 - t) ** 2 * p + 2 * t * (1 - t) * q + t ** 2 * r;
  return { x: mix(a.x, c.x, b.x), y: mix(a.y, c.y, b.y) };
}

/** A point of a cubic curve. */
function onCubic(a, c, d, b, t) {
  const u = 1 - t;
  const mix = (p, q, r, s) => u ** 3 * p + 3 * u * u * t * q + 3 * u * t * t * r + t ** 3 * s;
  return { x: mix(a.x, c.x, d.x, b.x), y: mix(a.y, c.y, d.y, b.y) };
}

/** How far two points are from each other. */
const apart = (p, q) => Math.hypot(p.x - q.x, p.y - q.y);

/** The end of a curve on the rim of a disc. */
function rim(disc, toward, distance) {
  const length = apart(disc, toward) || 1;
  return { x: disc.x + ((toward.x - disc.x) * distance) / length, y: disc.y + ((toward.y - disc.y) * distance) / length };
}

/** The head of an arrow, at its tip and in its direction. */
function arrowHead({ x, y, ux, uy }) {
  const [bx, by] = [x - ux * 8, y - uy * 8];
  const points = [
    [x, y],
    [bx - uy * 4, by + ux * 4],
    [bx + uy * 4, by - ux * 4],
  ];
  return svg("polygon", { points: points.map((p) => p.map((c) => c.toFixed(1)).join(",")).join(" "), class: "head" });
}
