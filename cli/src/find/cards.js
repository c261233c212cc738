// Findings without a property, one card each: what they say, who takes part, and the run that comes there beside the observed one.

const SIGN = { observed: ["observed", "OBSERVED"], shown: ["predicted", "SHOWN"], possible: ["open", "possible"] };
/** The runs of this many findings are drawn at once, those of others when they are asked for. */
const DRAWN = 20;
/** Of every card with runs: how it is moved, and how it is drawn anew. */
const cards = new Map();
/** The card that keys step through. */
let stepped = null;

/** The two runs in the form in which those of properties are drawn. */
function entryOf({ kind, witness, participants, label }) {
  const { rows, arrows, omitted } = witness;
  const leftOut = witness.left_out ?? [];
  const observed = [...rows, ...leftOut].sort((a, b) => a.event - b.event);
  const threads = [...new Set(observed.map((row) => row.t))].sort(new Intl.Collator("en", { numeric: true }).compare);
  const isAbout = (row) => participants.some((one) => one.event === row.event);
  const place = new Map(rows.map((row, index) => [row.event, index]));
  const absent = new Set(leftOut.map((row) => row.event));
  const name = (row) => (row.object ? `${row.op} ${row.object}` : row.op);
  const events = observed.map((row) => {
    const others = absent.has(row.event) ? [] : rows;
    const overtakes = (other) => other.event < row.event && place.get(other.event) > place.get(row.event);
    const earlier = others.some(overtakes);
    const later = !earlier && others.some((other) => other.event > row.event && place.get(other.event) < place.get(row.event));
    return { event: row.event, thread: threads.indexOf(row.t), line: row.line, loc: row.loc, label: name(row), earlier, later, about: isAbout(row), absent: absent.has(row.event) };
  });
  const steps = (run) => run.map((row, index) => ({ step: index + 1, event: row.event, values: [] }));
  const differs = observed.some((row, index) => row.event !== rows[index]?.event);
  const after = omitted ? `after ${counted(omitted, "event")}` : "from the start";
  const unseen = witness.left_out_omitted ? `; ${counted(witness.left_out_omitted, "more event")} of it left out` : "";
  const drawing = {
    plain: true,
    threads,
    events,
    byEvent: new Map(events.map((event) => [event.event, event])),
    variables: [],
    start: { values: [] },
    observed: steps(observed),
    witness: steps(rows),
    witness_steps: rows.length,
    arrows,
  };
  const next = kind === "atomicity" ? "" : "; what is red comes next";
  const both = { observed: `as recorded${unseen}`, witness: `a run that comes there, ${after}${next}` };
  const one = label === "observed" ? `it comes there, ${after}${next}` : both.witness;
  return {
    drawing,
    relevant: observed.length,
    observed: { step: null, verdict: "" },
    predicted: { swapped: Number(differs), violated_at: null },
    notes: differs ? both : { observed: one },
  };
}

/** Both runs of a finding, and the buttons that step through them. */
function drawWitness(finding) {
  const entry = entryOf(finding);
  const last = Math.max(entry.relevant, entry.drawing.witness_steps);
  const visible = new Set(Array.from({ length: last }, (_, index) => index + 1));
  const position = html("output", { class: "position" });
  const state = { step: last, runs: null };
  const box = html("div", {});
  const go = (step, reveals) => {
    state.step = Math.max(0, Math.min(step, last));
    stepped = finding;
    position.textContent = `step ${number(state.step)} of ${number(last)}`;
    state.runs.select(state.step);
    if (reveals) state.runs.reveal();
  };
  const move = (where) => go({ first: 0, back: state.step - 1, on: state.step + 1, last }[where], true);
  const draw = () => {
    state.runs = drawRuns(entry, visible, (step) => go(step, false), () => {});
    box.replaceChildren(state.runs.node);
    state.runs.select(state.step);
    position.textContent = `step ${number(state.step)} of ${number(last)}`;
  };
  draw();
  stepped ??= finding;
  cards.set(finding, { move, draw, fits: () => !state.runs.misfits(), align: () => state.runs.align() });
  const controls = html("div", { class: "controls" }, stepButtons(move), position);
  const isShort = entry.drawing.events.some((event) => event.absent);
  const words = hasTwoRuns(entry)
    ? [html("span", { class: "key earlier" }, "↑ comes earlier"), html("span", { class: "key later" }, "↓ is overtaken"), isShort ? "than observed; × is left out. " : "than observed. "]
    : [];
  const arrows = entry.drawing.arrows.length ? "An arrow goes from an event to one that came after it because of it." : "";
  return [controls, box, words.length || arrows ? html("p", { class: "dim note" }, words, arrows) : null];
}

/** Likewise, or a button that draws them. */
function drawWitnessOrButton(finding) {
  if (cards.size < DRAWN) return drawWitness(finding);
  const button = html("button", { type: "button", class: "show-more show-runs" }, "Show the runs");
  button.addEventListener("click", () => {
    button.replaceWith(...drawWitness(finding).filter((node) => node !== null));
    cards.get(finding).align();
  });
  return button;
}

function drawCard(finding, number) {
  const [status, words] = SIGN[finding.label];
  return html(
    "section",
    { class: "card one-finding", id: `finding-${number}`, "data-kind": finding.kind, "data-label": finding.label },
    html("h2", {}, html("span", { class: `badge ${status}` }, words), " ", finding.title),
    html("ul", {}, finding.lines.map((line) => html("li", {}, line))),
    html("p", { class: "dim" }, finding.stands_for),
    finding.witness ? drawWitnessOrButton(finding) : null,
  );
}

/** The findings of all traces; each trace by its name if there are several. */
function drawFoundTraces(traces, several) {
  let drawn = 0;
  const nodes = traces.flatMap((trace) => [
    several ? html("p", { class: "trace-name" }, describeTrace(trace)) : null,
    trace.findings.length ? null : html("p", { class: "lead" }, "Nothing was found."),
    ...trace.findings.map((finding) => drawCard(finding, ++drawn)),
    html("div", { class: "totals" }, trace.summary.map((line) => html("p", { class: "dim" }, line))),
  ]);
  const align = () => {
    for (const card of cards.values()) card.align();
  };
  const redraw = () => {
    for (const card of cards.values()) card.draw();
    align();
  };
  window.addEventListener("resize", () => {
    for (const card of cards.values()) if (!card.fits()) card.draw();
    align();
  });
  const print = (value) => () => {
    isPrinted = value;
    redraw();
  };
  window.addEventListener("beforeprint", print(true));
  window.addEventListener("afterprint", print(false));
  document.addEventListener("keydown", (event) => {
    const where = stepOfKey(event);
    const card = cards.get(stepped);
    if (!where || !card || shownElsewhere(event.target)) return;
    event.preventDefault();
    card.move(where);
  });
  // Once they are part of the page.
  requestAnimationFrame(align);
  return nodes.filter((node) => node !== null);
}

/** Whether a key belongs to the properties above the findings. */
function shownElsewhere(target) {
  const box = document.getElementById("found");
  return box.childElementCount > 0 && !box.contains(target);
}
