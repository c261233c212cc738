// The page: which finding is shown, at which step, and the keys that move it.

const page = JSON.parse(document.getElementById("data").textContent);
const entries = page.traces.flatMap((trace) => trace.findings.map((entry) => Object.assign(entry, { trace })));
const main = document.getElementById("finding");
/** The finding that is shown, its parts, the steps that can be gone to, and the current one's place. */
const shown = { entry: null, parts: [], runs: null, steps: [0], place: 0 };

function drawWarnings() {
  const several = page.traces.length > 1;
  const box = document.getElementById("warnings");
  for (const trace of page.traces) {
    for (const text of trace.warnings) {
      const where = several ? `${trace.file}: ` : "";
      box.append(html("p", { class: "warning" }, html("strong", {}, "Warning "), where, sentence(text)));
    }
    if (trace.known) box.append(html("p", { class: "known" }, several ? `${trace.file}: ` : "", `${trace.known}.`));
  }
}

/** Which Portent made the page, when, and how. */
function drawOrigin() {
  const { version, command, date } = page.origin;
  const when = new Date(date * 1000).toISOString();
  const node = html("p", {}, `Made by Portent ${version} on `, html("time", { datetime: when }, `${when.slice(0, 10)} at ${when.slice(11, 16)} UTC`), " with ", html("code", {}, command));
  document.getElementById("origin").replaceChildren(node);
}

/** The buttons, the slider, and how both runs stand at the current step. */
function drawStepper(entry) {
  const slider = drawSlider(entry);
  const track = html("div", { class: "track" }, slider, sliderMarks(entry));
  const position = html("output", { class: "position" });
  const runs = ["observed", ...(hasTwoRuns(entry) ? ["witness"] : [])].map((run) => html("div", { class: `now ${run}`, "data-run": run }));
  const node = html(
    "section",
    { class: "stepper", "aria-label": "Step through the runs" },
    html(
      "div",
      { class: "controls" },
      stepButtons(move),
      track,
      entry.predicted.violated ? jumpButton() : null,
      position,
    ),
    html("div", { class: "nows", "aria-live": "polite" }, runs),
  );
  node.addEventListener("click", (event) => {
    if (event.target.closest('button[data-go="violation"]')) goToViolation();
  });
  const select = (step) => {
    slider.value = step;
    slider.setAttribute("aria-valuetext", `step ${step} of ${entry.relevant}`);
    position.textContent = `step ${number(step)} of ${number(entry.relevant)}`;
    for (const box of runs) {
      const standing = standingAt(entry, box.dataset.run, step);
      box.replaceChildren(...describeStanding(entry, box.dataset.run, standing));
      fill(box, { "data-step": standing.step, "data-state": standing.state, "data-verdict": standing.verdict }, []);
    }
  };
  return { node, select };
}

/** A slider over all steps of the run, shown or not, so that its thumb says how far the run is. */
function drawSlider(entry) {
  const slider = html("input", { type: "range", min: 0, max: entry.relevant, value: 0, "aria-label": "Step" });
  slider.addEventListener("input", () => {
    const step = Number(slider.value);
    const by = step - shown.steps[shown.place];
    // A key moves it by one: to the next step that is shown.
    if (Math.abs(by) === 1) goPlace(shown.place + by);
    else goPlace(nearestPlace(step));
    shown.runs.reveal();
  });
  slider.addEventListener("keydown", (event) => {
    // Ten rows, as a tenth of the run may well end where nothing is shown.
    const by = { PageUp: 10, PageDown: -10 }[event.key];
    if (!by) return;
    event.preventDefault();
    goPlace(shown.place + by);
    shown.runs.reveal();
  });
  return slider;
}

/** The place of the step that is shown nearest to a step. */
function nearestPlace(step) {
  const away = (place) => Math.abs(shown.steps[place] - step);
  return shown.steps.reduce((best, _, place) => (away(place) < away(best) ? place : best), 0);
}

/** The step to look at first: where the witness is violated, or the observed run; else the start. */
function violatedStep(entry) {
  if (!entry.predicted?.violated) return 0;
  return entry.predicted.violated_at ?? entry.observed.step ?? 0;
}

function jumpButton() {
  const words = "Go to the violation";
  return html("button", { type: "button", class: "jump", "data-go": "violation", title: `${words} (v)` }, html("span", { "aria-hidden": "true" }, SIGNS.violated), " violation");
}

/** Marks on the slider where the runs become violated. */
function sliderMarks(entry) {
  const last = Math.max(1, entry.relevant);
  const mark = (step, run) => {
    const words = `${run} is violated after ${counted(step, "step")}`;
    const left = `calc(8px + (100% - 16px) * ${step / last})`;
    return html("span", { class: `mark ${run}`, title: words, "data-step": step, style: `left: ${left}` });
  };
  const swapped = hasTwoRuns(entry);
  return [
    entry.observed.verdict === "violated" ? mark(entry.observed.step, "observed") : null,
    entry.predicted.violated && (swapped || entry.observed.verdict !== "violated") ? mark(entry.predicted.violated_at, swapped ? "witness" : "observed") : null,
  ];
}

/** How a run stands after a step; a run that is only a prefix stays at its end. */
function standingAt(entry, run, step) {
  const rows = entry.drawing[run];
  if (step === 0 || !rows.length) return { step: 0, ...entry.drawing.start };
  return rows.find((row) => row.step === step) ?? rows.at(-1);
}

function describeStanding(entry, run, standing) {
  const { drawing } = entry;
  const event = drawing.byEvent.get(standing.event);
  const words = event ? `${drawing.threads[event.thread]}: ${event.label}` : "start";
  // What happens matters more than who does it.
  const short = event ? `${shortNames(drawing.threads, 28)[event.thread]}: ${clipMiddle(event.label, 100)}` : "start";
  const values = drawing.variables.map((name, index) => html("span", { class: "binding" }, `${name} = ${standing.values[index]}`));
  const allValues = drawing.variables.map((name, index) => `${name} = ${standing.values[index]}`).join("\n");
  return [
    html("span", { class: "run-name" }, run),
    html("code", { class: "event", title: words }, short),
    event?.line ? html("span", { class: "dim" }, `line ${number(event.line)}`) : "",
    event?.note ? html("span", { class: "dim", title: event.note }, clip(event.note, 80)) : "",
    html("span", { class: "bindings" }, values.slice(0, 12), values.length > 12 ? html("span", { class: "dim", title: allValues }, `and ${values.length - 12} more`) : null),
    html("span", { class: "at" }, `state ${standing.state} `, verdictPill(standing.verdict)),
  ];
}

/** The states of both runs after a step and, where that is shown, before it. */
function statesAt(entry, step) {
  const of = (run) => {
    const now = standingAt(entry, run, step);
    const before = now.step === 1 ? entry.drawing.start : entry.drawing[run].find((row) => row.step === now.step - 1);
    return { state: now.state, before: now.step === 0 || !before ? null : before.state };
  };
  return { observed: of("observed"), witness: of("witness") };
}

function drawFinding(entry) {
  const { drawing } = entry;
  main.replaceChildren(drawClaim(entry));
  const story = drawStory(entry);
  if (story) main.append(story);
  shown.parts = [];
  shown.runs = null;
  shown.steps = [0];
  if (!drawing) {
    main.append(html("p", { class: "card dim" }, undrawnWords(entry)), entry.searched ? drawSearch(entry) : "");
    return;
  }
  drawing.byEvent ??= new Map(drawing.events.map((event) => [event.event, event]));
  const visible = stepsShown(entry);
  shown.steps = [0, ...visible].sort((a, b) => a - b);
  const stepper = drawStepper(entry);
  const runs = drawRuns(entry, visible, goStep, unfold);
  const lattice = drawLattice(entry);
  const automaton = drawAutomaton(entry, (step) => statesAt(entry, step));
  const card = (name, title, part) => html("section", { class: `card ${name}`, "aria-label": title }, html("h2", {}, title), part.node);
  main.append(
    stepper.node,
    html("section", { class: "card both", "aria-label": "The runs" }, runs.node, runsLegend(entry)),
    html("div", { class: "drawings" }, card("lattice-card", page.feasible ? "The lattice of happens-before" : "All equivalent runs: the lattice", lattice), card("automaton-card", "The monitor", automaton)),
    drawSearch(entry),
  );
  runs.align();
  shown.parts = [stepper, runs, lattice, automaton];
  shown.runs = runs;
}

/** Shows rows of the current finding that are folded away. */
function unfold(from, to) {
  const step = shown.steps[shown.place];
  (shown.entry.unfolded ??= []).push([from, to]);
  drawFinding(shown.entry);
  goStep(step);
}

function runsLegend(entry) {
  const arrows = entry.drawing.arrows.length ? " An arrow goes from an event to one that must come after it." : "";
  if (!hasTwoRuns(entry)) return arrows ? html("p", { class: "dim note" }, arrows) : null;
  const pairs = entry.omitted ? "some pairs" : counted(entry.predicted.swapped, "pair");
  return html(
    "p",
    { class: "dim note" },
    html("span", { class: "key earlier" }, "↑ comes earlier"),
    html("span", { class: "key later" }, "↓ is overtaken"),
    `The witness has ${pairs} of events the other way round.${arrows}`,
  );
}

function goPlace(place) {
  shown.place = Math.max(0, Math.min(place, shown.steps.length - 1));
  const step = shown.steps[shown.place];
  for (const part of shown.parts) part.select(step);
  const hash = `#${encodeURIComponent(shown.entry.id)}/${step}`;
  if (location.hash === hash) return;
  try {
    history.replaceState(null, "", hash);
  } catch {
    // Some browsers refuse after many changes in a short time; the next one will do.
  }
}

/** Goes to a step, or to the last one before it that is shown. */
function goStep(step) {
  const after = shown.steps.findIndex((other) => other > step);
  goPlace((after < 0 ? shown.steps.length : after) - 1);
}

function goToViolation() {
  goStep(violatedStep(shown.entry));
  shown.runs?.reveal(true);
}

function move(where) {
  const places = { first: 0, back: shown.place - 1, on: shown.place + 1, last: shown.steps.length - 1 };
  goPlace(places[where]);
  shown.runs?.reveal();
}

/** Shows a finding at a step. */
function show(entry, step) {
  if (shown.entry !== entry) {
    shown.entry = entry;
    document.title = `${clip(entry.title, 60)} – Portent`;
    document.getElementById("trace").replaceChildren(...describeTrace(entry.trace));
    drawFinding(entry);
    markCurrent(entry);
  }
  goStep(step);
}

/** The finding and the step that the address names. */
function fromAddress() {
  const [, id, step] = location.hash.match(/^#(.*?)(?:\/(\d+))?$/) ?? [];
  let name = id ?? "";
  try {
    name = decodeURIComponent(name);
  } catch {
    // An address that was cut short names nothing.
  }
  const entry = entries.find((other) => other.id === name) ?? entries[0];
  if (entry) show(entry, step === undefined ? violatedStep(entry) : Number(step));
}

document.addEventListener("keydown", (event) => {
  const typing = event.target.matches?.("input");
  const jumps = event.key === "v" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey;
  const where = stepOfKey(event);
  // Who is among the findings that need no property steps through those.
  if ((!where && !jumps) || !shown.entry || event.target.closest?.("#found")) return;
  event.preventDefault();
  if (jumps) goToViolation();
  else move(where);
});
/** Draws the finding once more, for a page of another width. */
function redraw() {
  if (!shown.entry) return;
  const { place } = shown;
  drawFinding(shown.entry);
  goPlace(place);
}

// On paper nothing can be scrolled or opened.
window.addEventListener("beforeprint", () => {
  isPrinted = true;
  redraw();
  for (const fold of document.querySelectorAll("details")) fold.open = true;
});
window.addEventListener("afterprint", () => {
  isPrinted = false;
  redraw();
});
window.addEventListener("hashchange", fromAddress);
window.addEventListener("resize", () => {
  if (shown.runs?.misfits()) redraw();
  shown.runs?.align();
});

drawWarnings();
drawOrigin();
const markCurrent = drawList(page.traces, entries);
if (entries.length) {
  fromAddress();
} else {
  document.getElementById("trace").replaceChildren(...page.traces.flatMap(describeTrace));
  if (!page.found) main.append(html("p", { class: "lead" }, "There is nothing to show."));
}
if (page.found) document.getElementById("found").append(...drawFoundTraces(page.found, page.traces.length > 1));
