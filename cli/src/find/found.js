// The page of `portent find`.

const page = JSON.parse(document.getElementById("data").textContent);

function describeTrace(trace) {
  const execution = trace.execution ? ` (${trace.execution})` : "";
  return [html("strong", {}, trace.file + execution), ` ${counted(trace.events, "event")}, ${counted(trace.threads, "thread")}`];
}

document.title = "Findings – Portent";
const several = page.traces.length > 1;
document.getElementById("trace").replaceChildren(...(several ? [counted(page.traces.length, "trace")] : page.traces.flatMap(describeTrace)));
for (const text of page.traces.flatMap((trace) => trace.warnings)) {
  document.getElementById("warnings").append(html("p", { class: "warning" }, html("strong", {}, "Warning "), sentence(text)));
}
document.getElementById("finding").append(...drawFoundTraces(page.traces, several));
const keys = document.querySelector("footer > p");
const hasRuns = page.traces.some((trace) => trace.findings.some((finding) => finding.witness));
const names = ["←", "→", "Home", "End"].flatMap((name) => [html("kbd", {}, name), " "]);
if (hasRuns) keys.replaceChildren(...names, "step through the runs of the finding that was last stepped through.");
else keys.remove();
const { version, command, date } = page.origin;
const when = new Date(date * 1000).toISOString();
document.getElementById("origin").replaceChildren(html("p", {}, `Made by Portent ${version} on ${when.slice(0, 10)} with `, html("code", {}, command)));
