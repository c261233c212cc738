// The observed run and the witness as tables, row by row side by side, and the lines between them that
// show where an event went. Runs of no monitor (`plain`) have neither states nor verdicts.

/** With more variables than this a table would be too wide; the line above still has them all. */
const VARIABLES = 6;
/** A label that is cut after this many characters still says something. */
const READABLE = 24;

/** How wide a sheet of paper is, with margins, while the page is printed. */
const PAPER = 720;
/** A run with more rows begins on a sheet of its own. */
const ON_A_SHEET = 20;
let isPrinted = false;

/** How much room there is from one side to the other. */
function pageWidth() {
  return isPrinted ? PAPER : Math.min(document.documentElement.clientWidth, 1480);
}

/** The rows of a table: the start, the steps that are visible, and gaps where steps are folded away or
 * are not on the page. */
function rowsOf(drawing, steps, visible, total) {
  const rows = [{ kind: "step", step: 0, ...drawing.start }];
  let [next, fold] = [1, null];
  const endFold = () => {
    if (fold) rows.push({ kind: "gap", folded: true, ...fold });
    fold = null;
  };
  const upTo = (step) => {
    if (step < next) return;
    endFold();
    rows.push({ kind: "gap", folded: false, from: next, to: step });
  };
  for (const step of steps) {
    upTo(step.step - 1);
    if (visible.has(step.step)) {
      endFold();
      rows.push({ kind: "step", ...step });
    } else {
      fold = { from: fold?.from ?? step.step, to: step.step };
    }
    next = step.step + 1;
  }
  upTo(total);
  endFold();
  let top = 0;
  for (const row of rows) {
    row.top = top;
    row.height = row.kind === "gap" ? GAP : ROW;
    top += row.height;
  }
  return rows;
}

function headRow(drawing, layout, variables) {
  const lanes = html("th", { scope: "col", class: "lanes-head" }, isPrinted ? printedHead(layout) : laneHead(layout));
  return html(
    "tr",
    {},
    html("th", { scope: "col", class: "number" }, "step"),
    html("th", { scope: "col", class: "number line" }, "line"),
    layout.fits ? lanes : null,
    layout.inline ? null : html("th", { scope: "col" }, "event"),
    variables.map((name) => html("th", { scope: "col", class: "number", title: name }, clip(name, 12))),
    drawing.plain ? null : [html("th", { scope: "col", class: "number" }, "state"), html("th", { scope: "col" }, "verdict")],
    layout.fits ? null : lanes,
  );
}

function stepRow(drawing, layout, lines, row, variables, decided) {
  const event = row.event === undefined ? null : drawing.byEvent.get(row.event);
  const shift = event?.earlier ? "earlier" : event?.later ? "later" : "";
  const words = event ? `${drawing.threads[event.thread]}: ${event.label}` : "start";
  const differs = event?.earlier ? ", comes earlier than observed" : event?.later ? ", is overtaken" : event?.absent ? ", is left out" : "";
  const said = words + differs;
  const lanes = html(
    "td",
    { class: "lanes-cell", title: event?.loc ? `${words}\n${event.loc}` : words },
    html("span", { class: "hidden" }, said),
    laneRow(layout, lines, row.top, row.height, event),
  );
  return html(
    "tr",
    {
      class: `step ${shift} ${row.step === decided ? "decided" : ""} ${event?.absent ? "absent" : ""}`,
      "data-about": event?.about,
      "data-step": row.step,
      "data-event": row.event,
      "data-state": row.state,
    },
    html("td", { class: "number" }, number(row.step)),
    html("td", { class: "number line dim", title: event?.loc }, event?.line ? number(event.line) : ""),
    layout.fits ? lanes : null,
    layout.inline ? null : html("td", { class: `event ${shift}`, title: event?.loc ? `${words}\n${event.loc}` : words }, event ? labelText(layout, event) : ""),
    variables.map((_, index) =>
      html("td", { class: "number value", title: row.values[index] }, clip(row.values[index] ?? "", 12)),
    ),
    drawing.plain ? null : [html("td", { class: "number" }, String(row.state)), html("td", {}, verdictPill(row.verdict))],
    layout.fits ? null : lanes,
  );
}

/** Where the events of a table stand. */
function heightsOf(rows) {
  return new Map(rows.filter((row) => row.event !== undefined).map((row) => [row.event, row.top + row.height / 2]));
}

/** The lanes of both runs in this many pixels, with labels next to the dots only if no arrow has to cross one. */
function fittingLayout(entry, visible, room) {
  const { drawing } = entry;
  const layout = laneLayout(drawing, room);
  if (!layout.inline) return layout;
  const runs = [[drawing.observed, entry.relevant], ...(hasTwoRuns(entry) ? [[drawing.witness, drawing.witness_steps]] : [])];
  const clear = runs.every(([steps, total]) => arrowLines(drawing, layout, heightsOf(rowsOf(drawing, steps, visible, total))).every((line) => line.clear));
  return clear ? layout : columnLayout(drawing, room);
}

/** The runs side by side if their labels can be read then, else one below the other, over the whole width. */
function arrangement(entry, visible) {
  const [half, whole] = tableRooms(entry).map((room) => fittingLayout(entry, visible, room));
  const isReadable = half.fits && half.label >= Math.min(longestLabel(entry.drawing), READABLE, whole.label);
  return hasTwoRuns(entry) && isReadable ? { stacked: false, layout: half } : { stacked: true, layout: whole };
}

/** One run as a table; `decided` is the step after which its verdict is final. */
function runTable(entry, layout, steps, visible, total, decided, title, note) {
  const { drawing } = entry;
  const rows = rowsOf(drawing, steps, visible, total);
  const heights = heightsOf(rows);
  const lines = arrowLines(drawing, layout, heights);
  const variables = drawing.variables.length <= VARIABLES ? drawing.variables : [];
  const columns = (drawing.plain ? 3 : 5) + variables.length + (layout.inline ? 0 : 1);
  const gapRow = (row) => {
    const lanes = html("td", { class: "lanes-cell" }, laneRow(layout, lines, row.top, row.height));
    const words = html("td", { colspan: columns - 3 }, html("span", { class: "gap-words" }, gapWords(entry, row)));
    return html("tr", { class: "gap" }, html("td", {}), html("td", { class: "line" }), layout.fits ? [lanes, words] : [words, lanes]);
  };
  const body = rows.map((row) => (row.kind === "step" ? stepRow(drawing, layout, lines, row, variables, decided) : gapRow(row)));
  const table = html(
    "table",
    { class: layout.inline ? "run inline" : "run" },
    html("caption", {}, html("strong", {}, title), html("span", { class: "dim" }, ` ${note}`)),
    html("thead", {}, headRow(drawing, layout, variables)),
    html("tbody", {}, body),
  );
  return { table, rows, heights, total: rows.length ? rows.at(-1).top + rows.at(-1).height : 0 };
}

/** What a gap says: how to open it, or why it cannot be opened. */
function gapWords(entry, { from, to, folded }) {
  const steps = from === to ? `step ${number(from)}` : `steps ${number(from)}–${number(to)}`;
  if (!folded) {
    const why = isViolated(entry)
      ? `Of a long run the page has the steps around the violation and the swaps.${witnessWords(entry)}`
      : "Of a long run the page has the first and last steps.";
    return html("span", { class: "absent", title: why }, `${steps} left out to keep the page small`);
  }
  const words = `Show ${steps}, where the state stays the same`;
  return html("span", { class: "folded" }, `${steps} folded`, html("button", { type: "button", class: "unfold", title: words, "aria-label": words, "data-from": from, "data-to": to }, "unfold"));
}

/** Lines from where an event was observed to where the witness has it. */
function crossing(drawing, left, right) {
  const width = 72;
  const drawn = canvas([0, 0, width, Math.max(left.total, right.total)], {
    class: "crossing",
    "aria-label": "Lines from each event of the observed run to the same event of the witness",
  });
  const ordered = drawing.events.slice().sort((a, b) => Number(a.earlier) - Number(b.earlier));
  for (const event of ordered) {
    const [from, to] = [left.heights.get(event.event), right.heights.get(event.event)];
    if (from === undefined || to === undefined) continue;
    const shift = event.earlier ? "earlier" : event.later ? "later" : "";
    const path = `M 0 ${from} C ${width / 2} ${from} ${width / 2} ${to} ${width - 8} ${to}`;
    const words = `${drawing.threads[event.thread]}: ${event.label}`;
    drawn.append(
      svg("path", { d: path, class: `way ${shift}`, "data-event": event.event }, svg("title", {}, words)),
      svg("polygon", { points: `${width},${to} ${width - 9},${to - 4} ${width - 9},${to + 4}`, class: `way-head ${shift}` }),
    );
  }
  return drawn;
}

/** Shows at which sides a run goes on that is wider than the page. */
function markEdges(panel) {
  const { scrollLeft, clientWidth, scrollWidth } = panel;
  panel.classList.toggle("more-left", scrollLeft > 1);
  panel.classList.toggle("more-right", scrollLeft + clientWidth < scrollWidth - 1);
}

/** How much of the page is left for the lanes and labels of a run: in one half of it, and in all of it. */
function tableRooms(entry) {
  const { drawing } = entry;
  const page = pageWidth();
  const narrow = page <= 640;
  const card = page - (narrow ? 52 : 90);
  const steps = Math.max(textWidth(number(entry.relevant)), 26) + 14;
  const columns = drawing.plain ? 2 * steps + 30 : narrow ? steps + 72 : 2 * steps + 150;
  const values = drawing.variables.length <= VARIABLES ? drawing.variables : [];
  const widest = values.map((name, index) => {
    const texts = [drawing.start, ...drawing.observed].map((row) => clip(row.values[index], 12));
    return Math.max(...[clip(name, 12), ...texts].map(textWidth)) + (narrow ? 8 : 12);
  });
  const others = columns + widest.reduce((sum, width) => sum + width, 0);
  return [(card - 72) / 2 - others, card - others];
}

/** Both runs. `go` is called with a step that was clicked, `unfold` if folded rows are asked for. */
function drawRuns(entry, visible, go, unfold) {
  const drawing = entry.drawing;
  const two = hasTwoRuns(entry);
  const { layout, stacked } = arrangement(entry, visible);
  const decided = entry.observed.step;
  const verdict = entry.observed.verdict;
  const observedNote = decided === null ? `ends ${verdict}` : `${verdict} after ${counted(decided, "step")}`;
  const left = runTable(entry, layout, drawing.observed, visible, entry.relevant, decided, "Observed run", entry.notes?.observed ?? observedNote);
  const panelOf = (run, { rows }) => `panel ${run}${rows.length > ON_A_SHEET ? " long" : ""}`;
  const parts = [html("div", { class: panelOf("observed", left), tabindex: "0", role: "group", "aria-label": "Observed run" }, left.table)];
  const tables = [left.table];
  if (two) {
    const at = entry.predicted.violated_at;
    const whole = drawing.witness_steps === entry.relevant;
    const note = `violated after ${counted(at, "step")}${whole ? "" : "; a prefix, as far as it is needed"}`;
    const right = runTable(entry, layout, drawing.witness, visible, drawing.witness_steps, at, "Witness", entry.notes?.witness ?? note);
    tables.push(right.table);
    parts.push(
      html("div", { class: "between" }, crossing(drawing, left, right)),
      html("div", { class: panelOf("witness", right), tabindex: "0", role: "group", "aria-label": "Witness" }, right.table),
    );
  }
  const sideways = html("p", { class: "sideways dim", hidden: true }, "The runs are wider than the page: scroll them sideways to see every thread.");
  const node = html("div", { class: two ? "runs two" : "runs" }, sideways, parts);
  for (const table of tables) {
    table.addEventListener("click", (event) => {
      const fold = event.target.closest("button.unfold");
      if (fold) return unfold(Number(fold.dataset.from), Number(fold.dataset.to));
      const row = event.target.closest("tr.step");
      if (row) go(Number(row.dataset.step));
    });
  }
  const panels = tables.map((table) => table.parentElement);
  for (const panel of panels) panel.addEventListener("scroll", () => markEdges(panel), { passive: true });
  const align = () => {
    // On paper nothing can be scrolled: what is too wide is made smaller.
    if (isPrinted) for (const table of tables) table.style.zoom = Math.min(1, (PAPER - 60) / table.offsetWidth);
    alignRows();
    panels.forEach(markEdges);
    sideways.hidden = !panels.some((panel) => panel.scrollWidth > panel.clientWidth + 1);
  };
  const alignRows = () => {
    const between = node.querySelector(".between");
    if (!between) return;
    node.classList.toggle("stacked", stacked);
    const cramped = tables.some((table) => table.offsetWidth > table.parentElement.clientWidth);
    node.classList.toggle("stacked", stacked || cramped);
    const row = left.table.querySelector("tbody tr");
    between.style.paddingTop = `${row.getBoundingClientRect().top - node.getBoundingClientRect().top}px`;
  };
  const select = (step) => {
    for (const row of node.querySelectorAll('tr[aria-current="step"]')) row.removeAttribute("aria-current");
    for (const way of node.querySelectorAll(".way.current")) way.classList.remove("current");
    for (const table of tables) {
      // The witness may be a prefix: then it stays at its end.
      const rows = table.querySelectorAll("tr.step");
      const row = table.querySelector(`tr[data-step="${step}"]`) ?? rows[rows.length - 1];
      row.setAttribute("aria-current", "step");
      for (const way of node.querySelectorAll(`.way[data-event="${row.dataset.event}"]`)) way.classList.add("current");
    }
  };
  /** Scrolls to the current row if it is out of sight; where the runs stand below each other, to that of the run which matters more. */
  const reveal = (isViolation = false) => {
    const rows = node.querySelectorAll('tr[aria-current="step"]');
    rows[isViolation ? rows.length - 1 : 0]?.scrollIntoView({ block: "nearest" });
  };
  /** Whether the page has become so wide or narrow that the runs are to be laid out anew. */
  const misfits = () => {
    const now = arrangement(entry, visible);
    return now.stacked !== stacked || now.layout.inline !== layout.inline || now.layout.label !== layout.label || now.layout.width !== layout.width || now.layout.fits !== layout.fits;
  };
  return { node, align, select, reveal, misfits };
}
