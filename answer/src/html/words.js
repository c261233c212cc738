// What is said: the claim, the shares of the runs, the swap in words, what was searched.

function badge(status) {
  return html("span", { class: `badge ${status}` }, { predicted: "PREDICTED", observed: "OBSERVED", holds: "holds", open: "open" }[status]);
}

/** A bar with the share of each verdict among all runs. */
function shareBar(runs) {
  const total = BigInt(runs.total);
  const shares = ["violated", "satisfied", "pending", "ok", "unknown"]
    .map((verdict) => ({ verdict, runs: runs[verdict] ?? "0" }))
    .filter((share) => share.runs !== "0");
  // A share that is there is seen, however small.
  const part = ({ runs: n }) => Math.max(1, Number((BigInt(n) * 10000n) / total) / 100);
  const short = (digits) => (digits.length > 18 ? `about ${digits[0]}.${digits.slice(1, 3)} × 10^${digits.length - 1}` : number(digits));
  const words = shares.map((share) => `${short(share.runs)} ${share.verdict}`).join(", ");
  return html(
    "figure",
    { class: "share" },
    html(
      "div",
      { class: "bar", role: "img", "aria-label": `Of ${short(runs.total)} runs: ${words}` },
      shares.map((share) => html("span", { class: share.verdict, style: `flex-grow: ${part(share)}` })),
    ),
    html(
      "figcaption",
      {},
      shares.map((share) => html("span", {}, html("i", { class: share.verdict }, SIGNS[share.verdict]), ` ${short(share.runs)} ${share.verdict}`)),
      html("span", { class: "dim" }, `of ${short(runs.total)} equivalent run${runs.total === "1" ? "" : "s"}`),
    ),
  );
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** More definitions than this are folded; those that matter are told with the violation. */
const LETS = 12;

/** The property: its body, what the names in it mean, and where it is written. */
function drawProperty({ formula, definitions, spec }) {
  const from = spec ? html("span", { class: "spec" }, "in ", html("code", {}, spec)) : null;
  const meanings = definitions.map(([name, meaning]) => html("code", { class: "let" }, html("span", { class: "keyword" }, "let "), html("strong", {}, name), ` = ${meaning}`));
  const list = meanings.length ? html("p", { class: "lets" }, meanings) : null;
  const lets = meanings.length > LETS ? html("details", {}, html("summary", {}, `${number(meanings.length)} names are defined with `, html("code", {}, "let")), list) : list;
  return html("div", { class: "property" }, html("p", { class: "formula" }, html("code", {}, formula), " ", from), lets);
}

/** The head of a finding. */
function drawClaim(entry) {
  return html(
    "section",
    { class: "claim", "aria-labelledby": "title" },
    html("h1", { id: "title" }, badge(entry.status), " ", html("span", {}, entry.title)),
    entries.length > 1 ? html("p", { class: "dim on-paper" }, `One of ${number(entries.length)} findings; the page has them all.`) : null,
    html("p", { class: "lead" }, `${capital(entry.claim)}.`),
    drawProperty(page.properties[entry.property]),
    entry.runs && entry.relevant > 0 ? shareBar(entry.runs) : null,
  );
}

/** How the witness differs, why it is violated, and what to do. */
function drawStory(entry) {
  if (!entry.searched) return null;
  const steps = counted(entry.predicted.violated_at ?? 0, "step");
  const checked =
    entry.runs?.total === "1"
      ? "The order in which things waited for each other leaves no other run."
      : `No ${page.feasible ? "feasible" : "equivalent"} order of these events violates it; all of them were checked, not only the observed one.`;
  const locks = entry.searched.find(([begin]) => begin.startsWith("Locks"));
  const parts = [
    ["Checked", entry.status === "holds" ? checked : null],
    ["Locks", locks && capital(locks[1])],
    ["Witness", entry.omitted && entry.drawing ? `It is drawn below${page.switches.all ? `; ${page.switches.all} also says how it differs from the observed run and why it is violated` : ""}.` : null],
    ["Witness", entry.predicted.violated && !entry.omitted && !entry.swap ? `The observed run itself: it is violated after ${steps}.` : null],
    ["The swap", entry.swap],
    ["The run", entry.stops && capital(entry.stops)],
    ["Why", entry.why && capital(entry.why)],
    ["Observed", entry.also && capital(entry.also)],
    ["Next", entry.next && capital(entry.next)],
  ].filter(([, text]) => text);
  if (!parts.length) return null;
  const list = parts.map(([name, text]) => [html("dt", {}, name), html("dd", {}, sentence(text))]);
  return html("section", { class: `story ${entry.status}`, "aria-label": "In words" }, html("dl", {}, list));
}

/** What has the witness of a finding. */
function witnessWords(entry) {
  const { json, all } = page.switches;
  if (!json || !isViolated(entry)) return "";
  return entry.omitted || page.room.all ? ` ${json} ${all} has its witness.` : ` ${json} has its witness.`;
}

/** Why a finding is not drawn, and what has its witness if there is one. */
function undrawnWords(entry) {
  const { all, pictures, bytes, described } = page.room;
  const where = witnessWords(entry);
  if (entry.lattice?.limit === "memory" && entry.lattice.dropped === 0) return `Not drawn: the order of all these threads does not fit in the memory limit.${where}`;
  const more = all || !page.switches.all ? "" : ` ${page.switches.all} draws and describes more.`;
  if (!entry.searched) return `Not described, to keep the page small: ${number(described)} findings are, violated ones first.${isViolated(entry) ? more : ""}${where}`;
  if (!isViolated(entry)) return "Not drawn, to keep the page small: violated findings are drawn first, and others as long as there is room.";
  const room = `it has room for ${number(pictures)} drawings of each property and ${bytes / 1e6} MB of drawings in all, observed violations first`;
  return `Not drawn, to keep the page small: ${room}.${more}${where}`;
}

function drawSearch(entry) {
  const facts = entry.searched.filter(([begin]) => !begin.startsWith("Locks"));
  const list = facts.map(([begin, text]) => html("li", {}, begin ? html("strong", {}, begin) : null, text));
  return html("section", { class: "card search", "aria-label": "What was searched" }, html("h2", {}, "What was searched"), html("ul", {}, list));
}
