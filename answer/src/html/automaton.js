// The automaton: states in layers from the initial one to the final ones, with the edges curved
// around what is in their way. Conditions stand in a list below, because they are long.

const STATE = 29;
/** Between layers, and between the states of one; more where there are many edges. */
const SPACE = { layer: 150, place: 116 };
const WIDE = { layer: 200, place: 150 };

/** Where the states are: in layers by their distance from the initial one, final ones last. */
function placeStates({ initial, states, edges }) {
  const final = new Set(states.filter((s) => s.verdict === "violated" || s.verdict === "satisfied").map((s) => s.state));
  const layer = new Map([[initial, 0]]);
  const queue = [initial];
  for (const state of queue) {
    for (const { from, to } of edges) {
      if (from !== state || layer.has(to) || final.has(to)) continue;
      layer.set(to, layer.get(state) + 1);
      queue.push(to);
    }
  }
  const deepest = Math.max(...layer.values());
  for (const { state } of states) {
    if (!layer.has(state)) layer.set(state, final.has(state) && state !== initial ? deepest + 1 : deepest);
  }
  // Layers that would be too many for the width are folded.
  const last = Math.max(...layer.values());
  const space = edges.length > 2.5 * states.length ? WIDE : SPACE;
  const places = new Map();
  const sizes = [];
  for (const { state } of states) {
    const column = last <= 4 ? layer.get(state) : Math.round((layer.get(state) * 4) / last);
    sizes[column] = (sizes[column] ?? 0) + 1;
    places.set(state, { column, row: sizes[column] - 1 });
  }
  const tallest = Math.max(...sizes.filter(Boolean));
  for (const place of places.values()) {
    place.x = place.column * space.layer;
    place.y = (place.row + (tallest - sizes[place.column]) / 2) * space.place;
    // Self-loops stand on the side where there is nothing else.
    place.side = sizes[place.column] > 1 && place.row >= sizes[place.column] / 2 ? 1 : -1;
    place.r = STATE;
  }
  return places;
}

/** Bends an edge so that it passes by what is in its way, and its tag by other tags. */
function bendEdge(from, to, others, tags) {
  const length = apart(from, to);
  const normal = { x: -(to.y - from.y) / length, y: (to.x - from.x) / length };
  const middle = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
  let best = null;
  for (const bend of [0, 34, -34, 70, -70, 110, -110, 160, -160, 220, -220]) {
    const control = { x: middle.x + normal.x * bend * 2, y: middle.y + normal.y * bend * 2 };
    const points = [0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85].map((t) => onCurve(from, control, to, t));
    const hits = points.flatMap((p) => others.map((other) => Math.max(0, other.r + 12 - apart(p, other))));
    const crossed = points.flatMap((p) => tags.map((tag) => Math.max(0, 14 - apart(p, tag))));
    for (const t of [0.5, 0.42, 0.58, 0.34, 0.66]) {
      const tag = onCurve(from, control, to, t);
      const crowd = tags.map((other) => Math.max(0, 26 - apart(tag, other)));
      const near = others.map((other) => Math.max(0, other.r + 14 - apart(tag, other)));
      const sum = (list) => list.reduce((total, n) => total + n, 0);
      const cost = Math.abs(bend) + 20 * Math.abs(t - 0.5) + 12 * sum(hits) + 10 * sum(crowd) + 10 * sum(near) + 4 * sum(crossed);
      if (!best || cost < best.cost) best = { cost, control, tag, bend, points };
    }
  }
  return best;
}

/** a, b, ..., z, aa, ab, ... */
function tagName(index) {
  const letter = String.fromCharCode(97 + (index % 26));
  return index < 26 ? letter : tagName(Math.floor(index / 26) - 1) + letter;
}

function drawEdges(automaton, places) {
  const tags = [];
  const extent = [];
  const loops = automaton.edges
    .filter((edge) => edge.from === edge.to)
    .map((edge) => places.get(edge.from))
    .map(({ x, y, side }) => ({ x, y: y + 48 * side, r: 16 }));
  const drawn = automaton.edges.map((edge, index) => {
    const from = places.get(edge.from);
    const to = places.get(edge.to);
    const group = svg("g", { class: "edge", "data-from": edge.from, "data-to": edge.to });
    const name = tagName(index);
    const titled = (tag) => {
      tags.push(tag);
      group.append(
        svg("circle", { cx: tag.x, cy: tag.y, r: 9, class: "tag" }),
        svg("text", { x: tag.x, y: tag.y + 3.5, class: "tag-name" }, name),
        svg("title", {}, `${edge.from} → ${edge.to} when ${edge.when}`),
      );
    };
    if (edge.from === edge.to) {
      const { x, y, side } = from;
      const [start, end] = [rim(from, { x: x - 14, y: y + 24 * side }, STATE), rim(from, { x: x + 14, y: y + 24 * side }, STATE + 2)];
      const path = `M ${start.x} ${start.y} C ${x - 26} ${y + 64 * side} ${x + 26} ${y + 64 * side} ${end.x} ${end.y}`;
      group.append(svg("path", { d: path, class: "line" }), arrowHead({ ...end, ux: -0.33, uy: -0.94 * side }));
      titled({ x, y: y + 55 * side });
      extent.push({ x, y: y + 66 * side });
      return group;
    }
    const others = [...places.values()].filter((place) => place !== from && place !== to).concat(loops);
    const mirrored = automaton.edges.some((other) => other.from === edge.to && other.to === edge.from);
    const blocked = mirrored ? [{ x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 }] : [];
    const { control, tag, points } = bendEdge(from, to, others, [...tags, ...blocked]);
    const [start, end] = [rim(from, control, STATE), rim(to, control, STATE + 2)];
    const length = apart(control, end) || 1;
    group.append(
      svg("path", { d: `M ${start.x} ${start.y} Q ${control.x} ${control.y} ${end.x} ${end.y}`, class: "line" }),
      arrowHead({ ...end, ux: (end.x - control.x) / length, uy: (end.y - control.y) / length }),
    );
    titled(tag);
    extent.push(...points);
    return group;
  });
  return { drawn, extent };
}

function drawState({ state, verdict }, { x, y }) {
  const final = verdict === "violated" || verdict === "satisfied";
  return svg(
    "g",
    { class: "state", "data-state": state },
    svg("title", {}, `state ${state}: ${verdict}`),
    svg("circle", { cx: x, cy: y, r: STATE, class: final ? `${verdict} final` : verdict }),
    svg("text", { x, y: y + 1, class: "state-name" }, String(state)),
    svg("text", { x, y: y + 14, class: "state-verdict" }, verdict),
  );
}

function edgeList(automaton) {
  const rows = automaton.edges.map((edge, index) =>
    html(
      "tr",
      { "data-from": edge.from, "data-to": edge.to },
      html("td", {}, html("span", { class: "tag" }, tagName(index))),
      html("td", { class: "from-to" }, `${edge.from} → ${edge.to}`),
      html("td", {}, html("code", {}, edge.when)),
    ),
  );
  const head = ["edge", "states", "when"].map((name) => html("th", { scope: "col" }, name));
  return html("table", { class: "edges" }, html("thead", {}, html("tr", {}, head)), html("tbody", {}, rows));
}

/** The automaton; `statesAt` tells the states of both runs after a step, and before it. */
function drawAutomaton(entry, statesAt) {
  const { automaton } = entry.drawing;
  const places = placeStates(automaton);
  const { drawn, extent } = drawEdges(automaton, places);
  const all = [...places.values(), ...extent];
  const [left, right] = [Math.min(...all.map((p) => p.x)) - 62, Math.max(...all.map((p) => p.x)) + 40];
  const [top, bottom] = [Math.min(...all.map((p) => p.y)) - 40, Math.max(...all.map((p) => p.y)) + 44];
  const start = places.get(automaton.initial);
  const entryArrow = [
    svg("line", { x1: start.x - STATE - 26, x2: start.x - STATE - 8, y1: start.y, y2: start.y, class: "line" }),
    arrowHead({ x: start.x - STATE - 2, y: start.y, ux: 1, uy: 0 }),
  ];
  const label = `The automaton with ${counted(entry.states, "state")}`;
  const here = svg("circle", { r: STATE + 4, class: "here-observed" });
  const there = svg("circle", { r: STATE + 8, class: "here-witness" });
  const two = hasTwoRuns(entry);
  const picture = canvas(
    [left, top, right - left, bottom - top],
    { class: "automaton", "aria-label": label, style: `min-width: ${Math.min(right - left, 480)}px` },
    svg("g", { class: "entry" }, entryArrow),
    drawn,
    automaton.states.map((state) => drawState(state, places.get(state.state))),
    here,
    two ? there : null,
  );
  const more = automaton.omitted ? `${counted(automaton.omitted, "more state")} not shown, nor the edges from and to them.` : null;
  const node = html(
    "div",
    {},
    html("div", { class: "scroll whole" }, picture),
    more ? html("p", { class: "dim" }, more) : null,
    html(
      "ul",
      { class: "legend" },
      html("li", {}, html("span", { class: "ring observed" }), "observed run is here"),
      two ? html("li", {}, html("span", { class: "ring witness" }), "witness is here") : null,
    ),
    html("div", { class: "scroll edges-box", tabindex: "0", role: "group", "aria-label": "Edges and their conditions" }, edgeList(automaton)),
  );
  const select = (step) => {
    const { observed, witness } = statesAt(step);
    for (const marked of node.querySelectorAll(".taken-observed, .taken-witness")) {
      marked.classList.remove("taken-observed", "taken-witness");
    }
    for (const [run, ring, name] of [[observed, here, "observed"], [two ? witness : null, there, "witness"]]) {
      if (!run) continue;
      const place = places.get(run.state);
      ring.toggleAttribute("hidden", !place);
      if (place) fill(ring, { cx: place.x, cy: place.y }, []);
      if (run.before === null) continue;
      const taken = node.querySelectorAll(`[data-from="${run.before}"][data-to="${run.state}"]`);
      for (const edge of taken) edge.classList.add(`taken-${name}`);
    }
  };
  return { node, select };
}
