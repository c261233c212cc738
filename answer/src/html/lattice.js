// The lattice: all of its cuts if there are few, else how wide its levels are.

function drawLattice(entry) {
  const { lattice } = entry.drawing;
  if (lattice.kind === "graph") return latticeGraph(entry);
  if (lattice.kind === "widths") return latticeWidths(entry);
  const text = "The lattice is too large to be drawn cut by cut, and its cuts were not counted, so there is nothing to plot.";
  return { node: html("p", { class: "dim" }, text, page.feasible || !page.switches.count ? null : ` ${page.switches.count} tries.`), select() {} };
}

/** For each cut its level, and how many events of each thread are in it. */
function cutContents(drawing) {
  const { cuts, edges } = drawing.lattice;
  const contents = cuts.map(() => null);
  contents[0] = { level: 0, counts: drawing.threads.map(() => 0) };
  for (const [from, to, event] of edges) {
    if (contents[to]) continue;
    const counts = contents[from].counts.slice();
    counts[drawing.byEvent.get(event).thread] += 1;
    contents[to] = { level: contents[from].level + 1, counts };
  }
  return contents;
}

/** Places cuts by what is in them, pushed apart where they would touch. */
function placeCuts(contents, threads, across, down) {
  const lean = (counts) =>
    counts.reduce((sum, n, thread) => sum + n * (threads > 1 ? (2 * thread) / (threads - 1) - 1 : 0), 0);
  const levels = [];
  contents.forEach(({ level, counts }, cut) => {
    (levels[level] ??= []).push({ cut, wish: (lean(counts) * across) / 2 });
  });
  const places = [];
  levels.forEach((level, index) => {
    level.sort((a, b) => a.wish - b.wish || a.cut - b.cut);
    const xs = [];
    for (const { wish } of level) xs.push(xs.length ? Math.max(wish, xs.at(-1) + across) : wish);
    const off = level.reduce((sum, { wish }, i) => sum + wish - xs[i], 0) / level.length;
    level.forEach(({ cut }, i) => (places[cut] = { x: xs[i] + off, y: index * down }));
  });
  return places;
}

/** The cuts that a run goes through, as far as it stays in the lattice. */
function cutsAlong(edges, steps) {
  const next = new Map(edges.map(([from, to, event]) => [`${from} ${event}`, to]));
  const path = [0];
  for (const { event } of steps) {
    const to = next.get(`${path.at(-1)} ${event}`);
    if (to === undefined) break;
    path.push(to);
  }
  return path;
}

/** A cut: a disc with a sector for every verdict that a run may have there. */
function cutMark(verdicts, { x, y }, r, words) {
  const group = svg("g", { class: "cut", "data-verdicts": verdicts.join(" ") }, svg("title", {}, words));
  if (verdicts.length === 1) {
    const only = verdicts[0];
    group.append(
      only === "violated"
        ? svg("rect", { x: x - r, y: y - r, width: 2 * r, height: 2 * r, rx: 2, class: only })
        : svg("circle", { cx: x, cy: y, r, class: only }),
    );
    return group;
  }
  verdicts.forEach((verdict, index) => {
    const [a, b] = [index, index + 1].map((n) => (2 * Math.PI * n) / verdicts.length + Math.PI / 2);
    const at = (angle) => `${(x + r * Math.cos(angle)).toFixed(2)} ${(y + r * Math.sin(angle)).toFixed(2)}`;
    const large = b - a > Math.PI ? 1 : 0;
    group.append(svg("path", { d: `M ${x} ${y} L ${at(a)} A ${r} ${r} 0 ${large} 1 ${at(b)} Z`, class: verdict }));
  });
  group.append(svg("circle", { cx: x, cy: y, r, class: "rim" }));
  return group;
}

function latticeGraph(entry) {
  const { drawing } = entry;
  const { cuts, edges } = drawing.lattice;
  const small = cuts.length <= 120;
  const [r, across] = small ? [9, 44] : [6, 24];
  const down = Math.max(26, Math.min(44, 640 / (entry.relevant + 1)));
  const contents = cutContents(drawing);
  const places = placeCuts(contents, drawing.threads.length, across, down);
  const xs = places.map((place) => place.x);
  const [left, right] = [Math.min(...xs) - 30, Math.max(...xs) + 30];
  const height = Math.max(...places.map((place) => place.y)) + 56;
  const label = `The lattice: ${counted(cuts.length, "cut")}, from the start at the top to the end at the bottom`;
  const drawn = canvas([left, -28, right - left, height], { class: "lattice", "aria-label": label });
  const observed = cutsAlong(edges, drawing.observed);
  const witness = hasTwoRuns(entry) ? cutsAlong(edges, drawing.witness) : [];
  const line = (path, name) => {
    const points = path.map((cut) => `${places[cut].x},${places[cut].y}`).join(" ");
    return svg("polyline", { points, class: name });
  };
  for (const [from, to] of edges) {
    const [a, b] = [places[from], places[to]];
    drawn.append(svg("line", { x1: a.x, y1: a.y, x2: b.x, y2: b.y, class: "edge" }));
  }
  drawn.append(line(observed, "path-observed"));
  if (witness.length > 1) drawn.append(line(witness, "path-witness"));
  cuts.forEach((verdicts, cut) => {
    const counts = contents[cut].counts.slice(0, 20).map((n, thread) => `${clip(drawing.threads[thread], 30)}: ${n}`);
    const words = `after ${counts.join(", ") || "nothing"}: ${verdicts.join(" or ")}`;
    drawn.append(cutMark(verdicts, places[cut], r, words));
  });
  const here = svg("circle", { r: r + 5, class: "here-observed" });
  const there = svg("circle", { r: r + (witness.length ? 9 : 5), class: "here-witness" });
  drawn.append(here);
  if (witness.length) drawn.append(there);
  const shape = html("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Lattice" }, drawn);
  const complete = drawing.witness.length + 1 === witness.length || witness.length === 0;
  const node = html(
    "div",
    {},
    shape,
    latticeLegend(cuts, witness.length > 1),
    complete ? null : html("p", { class: "dim" }, "The witness leaves this lattice: happens-before does not allow it, the model that was asked for does."),
  );
  const put = (ring, path, step, steps) => {
    // A run that left the lattice is nowhere on it.
    ring.toggleAttribute("hidden", step >= path.length && path.length <= steps.length);
    const place = places[path[Math.min(step, path.length - 1)]];
    fill(ring, { cx: place.x, cy: place.y }, []);
    return place;
  };
  const select = (step) => {
    const place = put(here, observed, step, drawing.observed);
    if (witness.length) put(there, witness, step, drawing.witness);
    const wanted = ((place.y + 28) / height) * drawn.getBoundingClientRect().height - shape.clientHeight / 2;
    if (shape.scrollHeight > shape.clientHeight) shape.scrollTop = wanted;
  };
  return { node, select };
}

function latticeLegend(cuts, witness) {
  const item = (mark, words) => html("li", {}, canvas([-12, -10, 24, 20], { "aria-hidden": "true", class: "lattice" }, mark), words);
  const origin = { x: 0, y: 0 };
  const kinds = new Map(cuts.map((verdicts) => [verdicts.join(" or "), verdicts]));
  const items = [...kinds]
    .sort(([, a], [, b]) => a.length - b.length)
    .map(([words, verdicts]) =>
      item(cutMark(verdicts, origin, 7, words), verdicts.length > 1 ? `${words}, by the way to here` : `every way to here is ${words}`),
    );
  items.push(item(svg("polyline", { points: "-12,0 12,0", class: "path-observed" }), "observed run"));
  if (witness) items.push(item(svg("polyline", { points: "-12,0 12,0", class: "path-witness" }), "witness"));
  return html("ul", { class: "legend" }, items);
}

/** A plot of the widths, with a mark at the current level. */
function latticeWidths(entry) {
  const { levels, each, bars } = entry.drawing.lattice;
  const [width, height, left, bottom] = [640, 220, 64, 34];
  const most = Math.max(...bars);
  const x = (bar) => left + (bar * (width - left - 12)) / bars.length;
  const y = (cuts) => height - bottom - (cuts * (height - bottom - 16)) / most;
  const label = `Cuts on each of ${number(levels)} levels; ${number(most)} on the widest`;
  const points = bars.flatMap((cuts, bar) => [`${x(bar).toFixed(1)},${y(cuts).toFixed(1)}`, `${x(bar + 1).toFixed(1)},${y(cuts).toFixed(1)}`]);
  const outline = `${x(0)},${y(0)} ${points.join(" ")} ${x(bars.length)},${y(0)}`;
  const mark = svg("line", { y1: 8, y2: height - bottom, class: "here-level" });
  const text = (at, words, anchor) => svg("text", { x: at[0], y: at[1], "text-anchor": anchor, class: "axis" }, words);
  const grid = most > 1 ? [most, Math.round(most / 2)] : [most];
  const drawn = canvas(
    [0, 0, width, height],
    { class: "widths", "aria-label": label },
    grid.map((cuts) => svg("line", { x1: left, x2: width - 12, y1: y(cuts), y2: y(cuts), class: "grid" })),
    svg("polygon", { points: outline, class: "area" }),
    svg("line", { x1: left, x2: width - 12, y1: y(0), y2: y(0), class: "axis-line" }),
    mark,
    grid.map((cuts) => text([left - 8, y(cuts) + 4], number(cuts), "end")),
    text([left - 8, y(0) + 4], "0", "end"),
    text([left, height - 12], "level 0", "start"),
    text([width - 12, height - 12], `level ${number(levels - 1)}`, "end"),
    text([(left + width) / 2, height - 12], "cuts on a level", "middle"),
  );
  const total = entry.lattice.cuts === null ? "" : `${counted(entry.lattice.cuts, "cut")} in all: too many to draw one by one. `;
  const group = each > 1 ? `Each bar is the widest of ${number(each)} levels. ` : "";
  const node = html("div", {}, drawn, html("p", { class: "dim" }, `${total}${group}The line marks the current step.`));
  const select = (step) => {
    const at = x(Math.min(Math.floor(step / each), bars.length - 1) + 0.5);
    fill(mark, { x1: at, x2: at }, []);
  };
  return { node, select };
}
