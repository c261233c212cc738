// Opens pages of findings in headless Chromium and checks what a reader would see against the JSON output.
//
// Set by ci/browser.sh: PORTENT, the command; PLAYWRIGHT, the module. With a folder as argument,
// screenshots are left there.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { VIEWS, WIDTHS, excess, launch, open } from "./browser.mjs";

const folder = mkdtempSync(join(tmpdir(), "portent-"));
const shots = process.argv[2];
if (shots) mkdirSync(shots, { recursive: true });

function find(format, traces) {
  const done = spawnSync(process.env.PORTENT, ["find", "--causality", "strong", "--format", format, ...traces], { encoding: "utf8", maxBuffer: 1 << 28 });
  assert.ok(done.status === 0 || done.status === 1, done.stderr);
  return done.stdout;
}

function generated(name, events) {
  const file = join(folder, `${name}.jsonl`);
  writeFileSync(file, events.map((event) => `${JSON.stringify(event)}\n`).join(""));
  return file;
}

const hostile = "</script><img src=x onerror=alert(1)>";
const [examples, names, crowd, nothing] = [
  ["examples/transfer/transfer.jsonl", "examples/settings/settings.jsonl"],
  [generated("names", ["A", "B"].map((t) => ({ t: t + hostile, op: "write", var: "v".repeat(300) + hostile, loc: `${hostile}:1` })))],
  // Each of many threads writes without a lock.
  [generated("crowd", Array.from({ length: 40 }, (_, n) => ({ t: `thread-${n}`, op: "write", var: "x", loc: `src/a.rs:${n}` })))],
  [generated("nothing", [])],
];

const browser = await launch();
for (const [name, traces] of Object.entries({ examples, names, crowd, nothing })) {
  const file = join(folder, `${name}.html`);
  writeFileSync(file, find("html", traces));
  // One document a trace, or one after the other.
  const reports = traces.map((trace) => JSON.parse(find("json", [trace])));
  const findings = reports.flatMap((report) => report.findings);
  const { page, context, noise } = await open(browser, pathToFileURL(file).href);
  // The runs of the first findings are drawn at once, and those of the last one when it is asked for.
  const buttons = page.locator("button.show-runs");
  const undrawn = await buttons.count();
  if (undrawn) await buttons.last().click();
  const seen = await page.$$eval("section.card", (cards) =>
    cards.map((card) => {
      const panel = card.querySelector(".panel.witness") ?? card.querySelector(".panel.observed");
      const events = (run, rows) => [...(run?.querySelectorAll(rows) ?? [])].map((row) => Number(row.dataset.event));
      return {
        kind: card.dataset.kind,
        label: card.dataset.label,
        events: events(panel, "tr[data-event]"),
        about: events(panel, "tr[data-about]"),
        observed: events(card.querySelector(".panel.observed"), "tr[data-event]"),
      };
    }),
  );
  const wanted = findings.slice(0, 300).map(({ kind, label, witness, participants }) => ({
    kind,
    label,
    events: (witness?.rows ?? []).map((row) => row.event),
    about: (witness?.rows ?? []).map((row) => row.event).filter((event) => participants.some((one) => one.event === event)),
    observed: [...(witness?.rows ?? []), ...(witness?.left_out ?? [])].map((row) => row.event).sort((a, b) => a - b),
  }));
  const isDrawn = (index) => index < 20 || index === wanted.length - 1;
  assert.equal(undrawn, Math.max(0, wanted.filter((one) => one.events.length).length - 20), name);
  assert.deepEqual(seen.filter((_, index) => isDrawn(index)), wanted.filter((_, index) => isDrawn(index)), name);
  // Both runs of a finding are stepped through at once.
  const current = () => page.$$eval('tr[aria-current="step"]', (rows) => rows.map((row) => Number(row.dataset.step)));
  const card = findings.findIndex((finding) => finding.witness);
  if (card >= 0) {
    const controls = page.locator("section.card").nth(card).locator(".controls");
    await controls.locator('[data-go="first"]').click();
    const atStart = await current();
    await page.keyboard.press("ArrowRight");
    const steps = [atStart, await current()].map((all) => all.slice(0, 1)[0]);
    assert.deepEqual(steps, [0, 1], `${name}: stepping`);
    await page.keyboard.press("End");
    assert.match(await controls.locator("output").textContent(), /^step (\d+) of \1$/, name);
  }
  const ids = await page.$$eval("[id]", (elements) => elements.map((element) => element.id));
  assert.equal(new Set(ids).size, ids.length, `${name}: an id is given twice`);
  const warnings = await page.$$eval(".warning", (all) => all.length);
  assert.equal(warnings, reports.flatMap((report) => report.warnings).length, name);
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    await page.reload();
    assert.ok((await excess(page)) <= 0, `${name}: wider than ${width}`);
  }
  assert.deepEqual(noise, [], name);
  await context.close();
  for (const [view, width, colorScheme] of shots ? VIEWS : []) {
    const shown = await open(browser, pathToFileURL(file).href, { viewport: { width, height: 900 }, colorScheme });
    await shown.page.screenshot({ path: join(shots, `find-${name}-${view}.png`), fullPage: true });
    await shown.context.close();
  }
  console.log(`ok  findings: ${name}, ${findings.length}`);
}
await browser.close();
rmSync(folder, { recursive: true });
