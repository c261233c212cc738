// Findings without a property: what they say, who takes part, and the run that comes there, with one lane a thread.

const page = JSON.parse(document.getElementById("data").textContent);
const SIGN = { observed: ["observed", "OBSERVED"], shown: ["predicted", "SHOWN"], possible: ["open", "possible"] };

function pageWidth() {
  return Math.min(document.documentElement.clientWidth, 1480);
}

function describeTrace(trace) {
  const execution = trace.execution ? ` (${trace.execution})` : "";
  return [html("strong", {}, trace.file + execution), ` ${counted(trace.events, "event")}, ${counted(trace.threads, "thread")}`];
}

/** The run as a table, whose rows have the slices of the lanes. */
function drawRun({ rows, omitted }, participants) {
  const threads = [...new Set(rows.map((row) => row.t))];
  const events = rows.map((row) => ({ ...row, thread: threads.indexOf(row.t), label: row.object ? `${row.op} ${row.object}` : row.op }));
  const layout = laneLayout({ threads, events }, pageWidth() - 320);
  const isAbout = (event) => participants.some((one) => one.event === event.event);
  const body = events.map((event, index) => {
    const lanes = laneRow(layout, [], index * ROW, ROW, event);
    if (isAbout(event)) lanes.prepend(svg("circle", { cx: layout.lanes[event.thread], cy: (index + 0.5) * ROW, r: DOT + 3, class: "halo earlier" }));
    const label = layout.inline ? null : html("td", {}, html("code", {}, labelText(layout, event)));
    return html(
      "tr",
      { "data-event": event.event, "data-about": isAbout(event) },
      html("td", { class: "dim" }, event.line ? number(event.line) : ""),
      html("td", {}, lanes),
      label,
      html("td", { class: "dim" }, event.loc ?? ""),
    );
  });
  const head = html("tr", {}, html("th", {}, "line"), html("th", {}, laneHead(layout)), layout.inline ? null : html("th", {}, "event"), html("th", {}, "location"));
  const before = omitted ? html("p", { class: "dim" }, `After ${counted(omitted, "event")}:`) : null;
  return [before, html("div", { class: "panel" }, html("table", { class: "run" }, html("thead", {}, head), html("tbody", {}, body)))];
}

function drawFinding(finding, number) {
  const [status, words] = SIGN[finding.label];
  return html(
    "section",
    { class: "card one-finding", id: `finding-${number}`, "data-kind": finding.kind, "data-label": finding.label },
    html("h2", {}, html("span", { class: `badge ${status}` }, words), " ", finding.title),
    html("ul", {}, finding.lines.map((line) => html("li", {}, line))),
    html("p", { class: "dim" }, finding.stands_for),
    finding.witness ? html("p", {}, finding.label === "observed" ? "As observed:" : "A run that comes there:") : null,
    finding.witness ? drawRun(finding.witness, finding.participants) : null,
  );
}

document.title = "Findings – Portent";
const several = page.traces.length > 1;
document.getElementById("trace").replaceChildren(...(several ? [counted(page.traces.length, "trace")] : page.traces.flatMap(describeTrace)));
document.querySelector("footer > p").remove();
const main = document.getElementById("finding");
let drawn = 0;
for (const trace of page.traces) {
  for (const text of trace.warnings) {
    document.getElementById("warnings").append(html("p", { class: "warning" }, html("strong", {}, "Warning "), sentence(text)));
  }
  if (several) main.append(html("p", { class: "trace-name" }, describeTrace(trace)));
  if (!trace.findings.length) main.append(html("p", { class: "lead" }, "Nothing was found."));
  main.append(...trace.findings.map((finding) => drawFinding(finding, ++drawn)));
  main.append(html("div", { class: "totals" }, trace.summary.map((line) => html("p", { class: "dim" }, line))));
}
const { version, command, date } = page.origin;
const when = new Date(date * 1000).toISOString();
document.getElementById("origin").replaceChildren(html("p", {}, `Made by Portent ${version} on ${when.slice(0, 10)} with `, html("code", {}, command)));
