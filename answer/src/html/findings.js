// The list of findings. A few are shown as they are; of many those that a text and their verdicts let
// through, some at a time.

/** More findings than this get a filter. */
const UNFILTERED = 12;
/** This many are listed at once, and five times as many more when they are asked for. */
const AT_ONCE = 60;
/** In the order in which they are listed. */
const STATUSES = ["observed", "predicted", "open", "holds"];

function describeTrace(trace) {
  const execution = trace.execution ? ` (${trace.execution})` : "";
  return [html("strong", {}, trace.file + execution), ` ${counted(trace.events, "event")}, ${counted(trace.threads, "thread")}`];
}

/** What tells a finding from the others of the list. */
function shortTitle(entry, entries) {
  const alike = entries.every((other) => other.property === entry.property);
  const inner = entry.title.startsWith(`${entry.property} [`) ? entry.title.slice(entry.property.length + 2).replace(/\]$/, "") : "";
  return alike && inner && entries.length > UNFILTERED ? inner : entry.title;
}

function findingLink(entry, current, title) {
  const attributes = { href: `#${encodeURIComponent(entry.id)}`, "data-id": entry.id, title: entry.title, "aria-current": String(entry === current) };
  return html("li", {}, html("a", attributes, badge(entry.status), html("span", {}, title)));
}

/** How many characters the titles of a long list get: so many that most are whole, if they are not very long. */
function titleLength(entries) {
  const lengths = entries.map((entry) => [...shortTitle(entry, entries)].length).sort((a, b) => a - b);
  return Math.max(20, Math.min(lengths[Math.floor(0.95 * (lengths.length - 1))] ?? 0, 30));
}

function omittedWords(trace) {
  const violated = trace.omitted_violated ? `, ${number(trace.omitted_violated)} of them violated` : "";
  const all = page.switches.json ? `; ${page.switches.json} has them all` : "";
  return `… and ${number(trace.omitted)} more${violated}${all}`;
}

/** Fills the list, and tells how to show which finding is the current one. */
function drawList(traces, entries) {
  const nav = document.getElementById("findings");
  nav.hidden = entries.length < 2;
  const lists = traces.map((trace) => ({ trace, list: html("ul", {}), more: html("p", { class: "dim more" }) }));
  const several = traces.length > 1;
  const box = html(
    "div",
    { class: "list", tabindex: entries.length > UNFILTERED ? "0" : null, role: "group", "aria-label": "List of findings" },
    lists.map(({ trace, list, more }) => [several ? html("p", { class: "trace-name" }, describeTrace(trace)) : null, list, more]),
  );
  const found = html("output", { class: "found" });
  const isLong = entries.length > UNFILTERED;
  const most = isLong ? titleLength(entries) : 44;
  // What is cut off is cut out of the middle, as titles often differ at their ends; a few are kept apart.
  const whole = entries.map((entry) => shortTitle(entry, entries));
  const short = isLong ? whole.map((title) => clipMiddle(title, most)) : shortNames(whole, most);
  const titles = new Map(entries.map((entry, index) => [entry, short[index]]));
  const state = { text: "", hidden: new Set(), limit: AT_ONCE, current: null };
  const passes = (entry) => !state.hidden.has(entry.status) && entry.title.toLowerCase().includes(state.text);
  const fillLists = () => {
    let matching = 0;
    for (const { trace, list, more } of lists) {
      const passing = trace.findings.filter(passes);
      matching += passing.length;
      list.replaceChildren(...passing.slice(0, state.limit).map((entry) => findingLink(entry, state.current, titles.get(entry))));
      const rest = passing.length - state.limit;
      const button = html("button", { type: "button", class: "show-more" }, `Show ${number(Math.min(rest, 5 * AT_ONCE))} more of ${number(passing.length)}`);
      button.addEventListener("click", () => {
        state.limit += 5 * AT_ONCE;
        fillLists();
      });
      const words = [];
      if (!trace.findings.length) words.push("nothing was checked");
      else if (!passing.length) words.push("None matches.");
      if (rest > 0) words.push(button);
      if (trace.omitted) words.push(` ${omittedWords(trace)}`);
      more.replaceChildren(...words);
      more.hidden = !words.length;
    }
    found.textContent = `${number(matching)} of ${number(entries.length)}`;
  };
  if (isLong) box.style.setProperty("--column", `${124 + 7 * most}px`);
  if (isLong) nav.append(drawFilter(entries, state, found, fillLists));
  nav.append(box);
  fillLists();
  return (entry) => {
    state.current = entry;
    for (const link of nav.querySelectorAll("a")) link.setAttribute("aria-current", String(link.dataset.id === entry.id));
    const link = nav.querySelector('a[aria-current="true"]');
    if (link && box.scrollHeight > box.clientHeight) {
      const [inner, outer] = [link.getBoundingClientRect(), box.getBoundingClientRect()];
      if (inner.top < outer.top || inner.bottom > outer.bottom) box.scrollTop += inner.top - outer.top - 40;
    }
  };
}

/** A field for a text, and a switch for each verdict that occurs. */
function drawFilter(entries, state, found, refill) {
  const field = html("input", { type: "search", placeholder: "Filter by name or value", "aria-label": "Filter findings", spellcheck: "false" });
  field.addEventListener("input", () => {
    state.text = field.value.trim().toLowerCase();
    state.limit = AT_ONCE;
    refill();
  });
  const switches = STATUSES.map((status) => [status, entries.filter((entry) => entry.status === status).length])
    .filter(([, count]) => count > 0)
    .map(([status, count]) => {
      const button = html("button", { type: "button", class: "switch", "data-status": status, "aria-pressed": "true" }, badge(status), ` ${number(count)}`);
      button.title = "Show or hide these";
      button.addEventListener("click", () => {
        if (!state.hidden.delete(status)) state.hidden.add(status);
        button.setAttribute("aria-pressed", String(!state.hidden.has(status)));
        state.limit = AT_ONCE;
        refill();
      });
      return button;
    });
  return html("div", { class: "filter", role: "search" }, field, switches, found);
}
