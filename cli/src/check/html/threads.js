// The space-time part of a run: one lane a thread, time goes down, an event is a dot in its row.
//
// Every row has a drawing of its own that shows its slice of the whole, so that rows can be
// highlighted, left out and broken over printed pages like any table row.

const ROW = 30;
const GAP = 34;
const DOT = 6;
const LABEL = 22;
/** Names that are turned to stand above narrow lanes. */
const TURNED = 18;

/** Where the lanes are; labels stand beside the dots if all lanes then fit in so many pixels. */
function laneLayout(drawing, room) {
  const { threads, events } = drawing;
  const widths = shortNames(threads, LABEL).map((name) => textWidth(name) + 14);
  for (const event of events) {
    const mark = event.earlier || event.later ? 14 : 0;
    const width = textWidth(clip(event.label, LABEL)) + mark + 36;
    widths[event.thread] = Math.max(widths[event.thread], width);
  }
  const total = widths.reduce((sum, width) => sum + width, 0);
  const inline = total <= room;
  const step = threads.length <= 12 ? 24 : 16;
  const label = document.documentElement.clientWidth <= 640 ? 14 : 26;
  const lanes = [];
  let x = 0;
  threads.forEach((_, thread) => {
    lanes.push(x + (inline ? 12 : step / 2));
    x += inline ? widths[thread] : step;
  });
  // Names that are short stand upright even above narrow lanes.
  const upright = inline || threads.every((name) => textWidth(name) <= step - 2);
  const short = shortNames(threads, upright ? LABEL : TURNED);
  return { lanes, inline, label, upright, width: Math.max(Math.ceil(x), 40), names: threads, short };
}

/** The names of the threads above their lanes. */
function laneHead(layout) {
  const { lanes, inline, upright, width, names, short } = layout;
  const label = names.length ? `Threads ${names.slice(0, 40).join(", ")}` : "No threads";
  if (upright) {
    const place = (thread) => (inline ? { x: lanes[thread] - DOT } : { x: lanes[thread], "text-anchor": "middle" });
    const texts = names.map((name, thread) =>
      svg("text", { ...place(thread), y: 20, class: "lane-name" }, short[thread], svg("title", {}, name)),
    );
    return canvas([0, 0, width, ROW], { "aria-label": label }, texts);
  }
  const height = 14 + Math.max(...short.map(textWidth));
  const texts = names.map((name, thread) =>
    svg(
      "text",
      { transform: `translate(${lanes[thread] + 4} ${height - 4}) rotate(-90)`, class: "lane-name" },
      short[thread],
      svg("title", {}, name),
    ),
  );
  return canvas([0, 0, width, height], { "aria-label": label }, texts);
}

/** The arrows of a run as lines between the rows where its events stand. */
function arrowLines(drawing, layout, heights) {
  const lines = [];
  const dots = [...heights].map(([event, y]) => ({ x: layout.lanes[drawing.byEvent.get(event).thread], y }));
  for (const [cause, effect] of drawing.arrows) {
    const from = heights.get(cause);
    const to = heights.get(effect);
    // Where the witness may leave the observed order, an arrow need not hold.
    if (from === undefined || to === undefined || from > to) continue;
    const [a, b] = [drawing.byEvent.get(cause), drawing.byEvent.get(effect)];
    const start = { x: layout.lanes[a.thread], y: from };
    const end = { x: layout.lanes[b.thread], y: to };
    const control = around(start, end, dots);
    const [tail, head] = [rim(start, control, DOT), rim(end, control, DOT + 1)];
    const length = apart(control, head) || 1;
    const [ux, uy] = [(head.x - control.x) / length, (head.y - control.y) / length];
    lines.push({
      path: `M ${tail.x} ${tail.y} Q ${control.x} ${control.y} ${head.x - ux * 6} ${head.y - uy * 6}`,
      top: from,
      bottom: to,
      head: { ...head, ux, uy },
    });
  }
  return lines;
}

/** Where to pull an arrow so that it passes by the dots of other events. */
function around(start, end, dots) {
  const length = apart(start, end);
  const between = dots.filter((dot) => dot.y > start.y && dot.y < end.y);
  let best = null;
  for (const bend of [0, 14, -14, 26, -26, 40, -40]) {
    const control = {
      x: (start.x + end.x) / 2 - ((end.y - start.y) / length) * bend,
      y: (start.y + end.y) / 2 + ((end.x - start.x) / length) * bend,
    };
    const points = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9].map((t) => onCurve(start, control, end, t));
    const hit = between.some((dot) => points.some((point) => apart(point, dot) < DOT + 5));
    if (!hit) return control;
    best ??= control;
  }
  return best;
}

/** The slice of the diagram that belongs to one row. */
function laneRow(layout, lines, top, height, event) {
  const bottom = top + height;
  const drawing = canvas([0, top, layout.width, height], { "aria-hidden": "true", class: "lanes" });
  const lanes = layout.lanes.map((x) => `M ${x} ${top} V ${bottom}`).join(" ");
  drawing.append(svg("path", { d: lanes, class: event === undefined ? "lane gap" : "lane" }));
  for (const line of lines) {
    // A bent arrow may reach a little beyond its ends.
    if (line.bottom + 12 < top || line.top - 12 > bottom) continue;
    drawing.append(svg("path", { d: line.path, class: "arrow" }));
    if (line.head.y > top - 10 && line.head.y < bottom + 10) drawing.append(arrowHead(line.head));
  }
  if (event) {
    const x = layout.lanes[event.thread];
    const y = top + height / 2;
    const shift = event.earlier ? "earlier" : event.later ? "later" : "";
    if (shift) drawing.append(svg("circle", { cx: x, cy: y, r: DOT + 3, class: `halo ${shift}` }));
    drawing.append(svg("circle", { cx: x, cy: y, r: DOT, class: `dot ${shift}` }));
    if (layout.inline) {
      const mark = event.earlier ? " ↑" : event.later ? " ↓" : "";
      drawing.append(svg("text", { x: x + DOT + 12, y: y + 4, class: `label ${shift}` }, clip(event.label, LABEL) + mark));
    }
  }
  return drawing;
}
