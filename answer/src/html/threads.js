// The space-time part of a run: one lane a thread, time goes down, an event is a dot in its row.
//
// Every row has a drawing of its own that shows its slice of the whole, so that rows can be
// highlighted, left out and broken over printed pages like any table row.

const ROW = 30;
const GAP = 34;
const DOT = 6;
/** Lanes that are nearer than this cannot be told apart. */
const NARROWEST = 10;
/** Names that are turned to stand above narrow lanes. */
const TURNED = 18;
/** How many characters a label may have, where there is room; and where there is none. */
const [LONGEST, SHORTEST] = [120, 14];

/**
 * Where the lanes are, and how long labels may be, in this many pixels. Labels stand next to the dots, or in a column
 * of their own if that leaves more room for them.
 */
function laneLayout(drawing, room) {
  const longest = longestLabel(drawing);
  const column = columnLayout(drawing, room);
  for (const label of [LONGEST, 80, 60, 45, 32, 22]) {
    if (label < Math.min(longest, column.label)) break;
    const inline = inlineLayout(drawing, label);
    if (inline.width <= room) return inline;
  }
  return column;
}

function longestLabel({ events }) {
  return Math.max(0, ...events.map(({ label }) => [...label].length));
}

/** Lanes that are wide enough for labels of this length. */
function inlineLayout({ threads, events }, label) {
  const short = shortNames(threads, label);
  const widths = short.map((name) => textWidth(name) + 14);
  for (const event of events) {
    const mark = markOf(event) ? 14 : 0;
    const width = textWidth(clipMiddle(event.label, label)) + mark + 36;
    widths[event.thread] = Math.max(widths[event.thread], width);
  }
  const lanes = [];
  let width = 0;
  for (const lane of widths) {
    lanes.push(width + 12);
    width += lane;
  }
  return { lanes, inline: true, fits: true, label, upright: true, width: Math.max(Math.ceil(width), 40), names: threads, short };
}

/** Narrow lanes, and what is left for labels beyond them. */
function columnLayout(drawing, room) {
  const { threads } = drawing;
  // So that nothing of the first and last lane is cut off.
  const margin = 8;
  const widthOf = (step) => Math.max(threads.length * step + 2 * margin, 40);
  const freeBeside = (step) => Math.floor((room - widthOf(step) - 34) / textWidth("0"));
  const needed = Math.min(longestLabel(drawing), SHORTEST);
  const wished = [[6, 24], [12, 20], [20, 16]].find(([most]) => threads.length <= most)?.[1] ?? 13;
  const steps = [wished, 16, 13, 12, 11, NARROWEST].filter((step) => step <= wished);
  // Where even the narrowest lanes leave no room, they are scrolled anyway, and may as well be wide.
  const step = steps.find((step) => freeBeside(step) >= needed) ?? wished;
  const lanes = threads.map((_, thread) => margin + (thread + 0.5) * step);
  const width = widthOf(step);
  const narrow = pageWidth() <= 640;
  const free = freeBeside(step);
  // Beside the values of variables there is none.
  const label = narrow && !drawing.plain ? SHORTEST : Math.max(SHORTEST, Math.min(free, LONGEST));
  const fits = free >= needed;
  // Names that are short stand upright even above narrow lanes.
  const upright = threads.every((name) => textWidth(name) <= step - 2);
  return { lanes, inline: false, fits, label, upright, tight: step < 13, width, names: threads, short: shortNames(threads, TURNED) };
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
      { transform: `translate(${lanes[thread] + (layout.tight ? 3 : 4)} ${height - 4}) rotate(-90)`, class: layout.tight ? "lane-name tight" : "lane-name" },
      short[thread],
      svg("title", {}, name),
    ),
  );
  return canvas([0, 0, width, height], { "aria-label": label }, texts);
}

/** The same as boxes: where the head of a table is repeated on the next sheet, browsers leave out what is drawn or moved. */
function printedHead({ lanes, inline, upright, tight, width, names, short }) {
  let end = 0;
  const boxes = names.map((_, thread) => {
    const next = lanes[thread + 1] ?? width;
    const [left, room] = upright && inline ? [lanes[thread] - DOT, next - lanes[thread]] : [lanes[thread] - 8, 16];
    const style = `margin-left: ${left - end}px; width: ${room}px${upright && !inline ? "; text-align: center" : ""}`;
    end = left + room;
    return html("span", { class: `${upright ? "" : "turned"} ${tight ? "tight" : ""}`, style }, short[thread]);
  });
  return html("div", { class: "printed-names", style: `width: ${width}px` }, boxes);
}

/** Where the label of an event is, if it stands next to its dot. */
function labelBox(layout, event, y) {
  const left = layout.lanes[event.thread] + DOT + 12;
  return { left: left - 4, right: left + textWidth(labelText(layout, event)) + 4, top: y - 10, bottom: y + 10 };
}

function labelText(layout, event) {
  return clipMiddle(event.label, layout.label) + markOf(event);
}

/** How an event of the observed run differs from the other run, behind its label. */
function markOf({ earlier, later, absent }) {
  return earlier ? " ↑" : later ? " ↓" : absent ? " ×" : "";
}

/** The arrows of a run as lines between the rows where its events stand. */
function arrowLines(drawing, layout, heights) {
  const marks = [...heights].map(([number, y]) => {
    const event = drawing.byEvent.get(number);
    return { x: layout.lanes[event.thread], y, box: layout.inline ? labelBox(layout, event, y) : null };
  });
  const lines = [];
  for (const [cause, effect] of drawing.arrows) {
    const from = heights.get(cause);
    const to = heights.get(effect);
    // Where the witness may leave the observed order, an arrow need not hold.
    if (from === undefined || to === undefined || from > to) continue;
    const [a, b] = [drawing.byEvent.get(cause), drawing.byEvent.get(effect)];
    const start = { x: layout.lanes[a.thread], y: from };
    const end = { x: layout.lanes[b.thread], y: to };
    lines.push({ top: from, bottom: to, ...route(start, end, marks, layout.width) });
  }
  return lines;
}

const SAMPLES = Array.from({ length: 49 }, (_, index) => index / 48);

/** A way for an arrow that passes by the dots and labels of events, and whether it is clear of labels. */
function route(start, end, marks, width) {
  const isEnd = (mark) => (mark.x === start.x && mark.y === start.y) || (mark.x === end.x && mark.y === end.y);
  const between = marks.filter((mark) => mark.y >= start.y && mark.y <= end.y);
  const others = between.filter((mark) => !isEnd(mark));
  let best = null;
  for (const [first, second] of curves(start, end)) {
    const [tail, tip] = [rim(start, first, DOT), rim(end, second, DOT + 1)];
    const length = apart(second, tip) || 1;
    const [ux, uy] = [(tip.x - second.x) / length, (tip.y - second.y) / length];
    const last = { x: tip.x - ux * 6, y: tip.y - uy * 6 };
    const points = [...SAMPLES.map((t) => onCubic(tail, first, second, last, t)), tip];
    const inside = ({ x, y }, box) => x > box.left && x < box.right && y > box.top && y < box.bottom;
    const labels = between.filter(({ box }) => box && points.some((point) => inside(point, box))).length;
    const dots = others.filter((mark) => points.some((point) => apart(point, mark) < DOT + 4)).length;
    const outside = points.some(({ x }) => x < 2 || x > width - 2) ? 1 : 0;
    const cost = 100 * outside + 10 * labels + dots;
    if (best && best.cost <= cost) continue;
    const path = `M ${tail.x} ${tail.y} C ${[first, second, last].map(({ x, y }) => `${x} ${y}`).join(" ")}`;
    best = { path, head: { ...tip, ux, uy }, cost, clear: labels === 0 && !outside };
    if (cost === 0) break;
  }
  return best;
}

/** Curves to choose from: straight or bent a little, and such that leave and arrive along the lanes. */
function curves(start, end) {
  const [dx, dy] = [end.x - start.x, end.y - start.y];
  const length = Math.hypot(dx, dy);
  const bent = [0, 14, -14, 26, -26, 40, -40].map((bend) => {
    const control = { x: (start.x + end.x) / 2 - (dy / length) * bend, y: (start.y + end.y) / 2 + (dx / length) * bend };
    const toward = (point) => ({ x: point.x + ((control.x - point.x) * 2) / 3, y: point.y + ((control.y - point.y) * 2) / 3 });
    return [toward(start), toward(end)];
  });
  const along = [[1, 1], [0.4, 1.6], [1.6, 0.4], [0, 2], [2, 0]].map(([first, second]) => [
    { x: start.x, y: start.y + (first * dy) / 2 + 8 },
    { x: end.x, y: end.y - (second * dy) / 2 - 8 },
  ]);
  // Next to the lanes, past the dots on them.
  const beside = [start.x, end.x].flatMap((x) => [x + 12, x - 12]).map((x) => [
    { x, y: start.y + 0.1 * dy },
    { x, y: end.y - 0.1 * dy },
  ]);
  return [...bent, ...along, ...beside];
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
      drawing.append(svg("text", { x: x + DOT + 12, y: y + 4, class: `label ${shift}` }, labelText(layout, event)));
    }
  }
  return drawing;
}
