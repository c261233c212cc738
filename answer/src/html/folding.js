// Which rows of a run are worth a look: where something changes. What lies between is folded away.

/** A run with fewer rows is shown whole. */
const WHOLE = 24;
/** This many steps are shown before and after one that matters. */
const AROUND = 2;
/** So few rows may as well be shown: a fold takes the room of one. */
const SHORT_FOLD = 2;
/** How many of the places where a run parts from the observed order matter: the first and the last ones. */
const [FIRST_PARTINGS, LAST_PARTINGS] = [4, 8];

/** The steps that are shown, the same for both runs, so that their rows stay side by side. */
function stepsShown(entry) {
  const { drawing, predicted } = entry;
  const runs = [drawing.observed, drawing.witness];
  const all = [...new Set(runs.flat().map((row) => row.step))].sort((a, b) => a - b);
  if (all.length <= WHOLE) return new Set(all);
  const opened = (step) => entry.unfolded?.some(([from, to]) => from <= step && step <= to);
  const marks = new Set([1, all.at(-1), entry.observed.step, predicted.violated_at]);
  for (const run of runs) for (const step of changes(drawing, run)) marks.add(step);
  const near = (step) => [...marks].some((mark) => mark !== null && Math.abs(mark - step) <= AROUND);
  const isShown = all.map((step) => near(step) || opened(step));
  return new Set(all.filter((_, place) => isShown[place] || foldLength(all, isShown, place) <= SHORT_FOLD));
}

/** How many steps the fold has that the step at this place is in; a gap on the page ends it as well. */
function foldLength(all, isShown, place) {
  let [from, to] = [place, place];
  while (from > 0 && !isShown[from - 1] && all[from - 1] === all[from] - 1) from -= 1;
  while (to + 1 < all.length && !isShown[to + 1] && all[to + 1] === all[to] + 1) to += 1;
  return to - from + 1;
}

/** The steps at which a run comes to another state, or begins or ceases to leave the observed order. */
function changes(drawing, run) {
  const shift = ({ event }) => {
    const { earlier, later } = drawing.byEvent.get(event);
    return `${earlier} ${later}`;
  };
  const [states, partings] = [[], []];
  run.forEach((row, index) => {
    const before = run[index - 1];
    const isNext = row.step === (before?.step ?? 0) + 1;
    if (isNext && row.state !== (before ?? drawing.start).state) states.push(row.step);
    if (shift(row) !== (before ? shift(before) : "false false")) partings.push(row.step);
  });
  return [...states, ...partings.slice(0, FIRST_PARTINGS), ...partings.slice(-LAST_PARTINGS)];
}
