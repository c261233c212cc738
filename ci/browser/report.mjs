// Opens reports in headless Chromium and checks what a reader would see against the JSON output.
//
// Set by ci/browser.sh: PORTENT, the command; PLAYWRIGHT, the module. With a folder as argument,
// screenshots are left there.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import * as traces from "./traces.mjs";

const { chromium } = createRequire(import.meta.url)(process.env.PLAYWRIGHT);
const folder = mkdtempSync(join(tmpdir(), "portent-"));
const shots = process.argv[2];
if (shots) mkdirSync(shots, { recursive: true });

/** Runs the command; its exit code is 0 or 1. */
function portent(...options) {
  const done = spawnSync(process.env.PORTENT, ["check", ...options], { encoding: "utf8", maxBuffer: 1 << 30 });
  assert.ok(done.status === 0 || done.status === 1, done.stderr);
  return done.stdout;
}

function example(name, trace) {
  return { name, options: ["--spec", `examples/${name}/${name}.portent`, `examples/${name}/${trace}`] };
}

function generated(name, { spec, trace, options = [] }) {
  const [specFile, traceFile] = [join(folder, `${name}.portent`), join(folder, `${name}.jsonl`)];
  writeFileSync(specFile, spec);
  writeFileSync(traceFile, trace);
  return { name, options: ["--spec", specFile, ...options, traceFile] };
}

const reports = [
  example("reservoir", "reservoir.jsonl"),
  example("landing", "landing.jsonl"),
  example("bank", "bank.jsonl"),
  example("sessions", "sessions.jsonl"),
  example("files", "files.jsonl"),
  example("kv", "kv.log"),
  generated("safe", traces.safe),
  generated("observed", traces.observed),
  generated("wide", traces.wide),
  generated("hostile", traces.hostile),
  generated("prefix", traces.prefix),
  generated("folded", traces.folded),
  generated("big", traces.big(200_000)),
];

/** Opens a page that must be quiet: no message, no error, no request beside the file itself. */
async function open(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1360, height: 900 }, ...options });
  const page = await context.newPage();
  const noise = [];
  page.on("console", (message) => noise.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => noise.push(`error: ${error.stack}`));
  page.on("dialog", (dialog) => noise.push(`dialog: ${dialog.message()}`));
  page.on("request", (request) => {
    if (request.url().split("#")[0] !== url && !request.url().startsWith("data:")) noise.push(`request: ${request.url()}`);
  });
  await page.goto(url);
  return { page, context, noise };
}

const titleOf = ({ name, binding }) => {
  const values = Object.entries(binding).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
  return values.length ? `${name} [${values.join(", ")}]` : name;
};

/** What the page shows of a run at its current step. */
const nowOf = (page, run) =>
  page.locator(`.now[data-run="${run}"]`).evaluate((box) => ({ ...box.dataset }));

/** Checks one finding that is shown against its entry in the JSON. */
async function checkFinding(page, property) {
  const { predicted, relevant } = property;
  const status = predicted.violated ? /^(PREDICTED|OBSERVED)/ : /^(holds|open)/;
  assert.match(await page.locator("h1").innerText(), status);
  await checkFolding(page, property);
  await checkWitness(page, property);
  await checkSteps(page, property);
  const lattice = page.locator("svg.lattice .cut");
  if (property.lattice.cuts !== null && property.lattice.cuts <= 400) {
    const drawn = page.locator(".scroll > svg.lattice .cut");
    assert.equal(await drawn.count(), property.lattice.cuts);
    assert.equal(await page.locator(".path-observed").count(), 2, "a path, and its line in the legend");
    assert.equal(await page.locator(".path-witness").count(), predicted.swaps.length ? 2 : 0);
  } else if (property.lattice.cuts !== null) {
    assert.equal(await page.locator("svg.widths").count(), 1);
    assert.ok((await page.locator(".lattice-card").innerText()).includes("too many to draw"));
  } else {
    assert.ok((await lattice.count()) > 0 || (await page.locator(".lattice-card").innerText()).includes("not counted"));
  }
  if (property.states <= 16) assert.equal(await page.locator("svg.automaton .state").count(), property.states);
  const rows = await page.locator(".panel.observed tr.step").count();
  if (relevant <= 400) assert.equal(rows, relevant + 1);
  else assert.ok(rows > 10 && rows <= 401 && (await page.locator("tr.gap").count()) > 0);
}

/** What is folded is not what matters, stepping goes past it, and it can be unfolded. */
async function checkFolding(page, property) {
  const buttons = page.locator("button.unfold");
  if (!(await buttons.count())) return;
  const rows = page.locator(".panel.observed tr.step");
  const folded = await rows.count();
  const { violated_at } = property.predicted;
  if (violated_at !== null && violated_at <= property.relevant) {
    assert.ok((await page.locator(`tr.step[data-step="${violated_at}"]`).count()) > 0, "the violation is shown");
  }
  await checkSteps(page, property);
  await buttons.first().click();
  assert.equal(await buttons.count(), 0);
  assert.ok((await rows.count()) > folded, "unfolded");
}

/** The witness has its rows, and the swapped events are marked in both runs. */
async function checkWitness(page, { predicted, relevant }) {
  const table = page.locator(".panel.witness");
  if (!predicted.swaps.length) {
    assert.equal(await table.count(), 0);
    return;
  }
  if (relevant <= 400) {
    assert.equal(await table.locator("tr.step").count(), predicted.witness.length + 1);
    const shown = await table.locator("tr.step[data-event]").evaluateAll((rows) => rows.map((row) => Number(row.dataset.event)));
    assert.deepEqual(shown, predicted.witness.map((row) => row.event));
    const marked = (run, mark) =>
      page.locator(`.panel.${run} tr.step`).evaluateAll(
        (rows, mark) => rows.filter((row) => row.querySelector(`.dot.${mark}`)).map((row) => Number(row.dataset.event)).sort((a, b) => a - b),
        mark,
      );
    const inWitness = new Set(predicted.witness.map((row) => row.event));
    const earlier = [...new Set(predicted.swaps.map(([, late]) => late))].sort((a, b) => a - b);
    assert.deepEqual(await marked("observed", "earlier"), earlier);
    assert.deepEqual(await marked("witness", "earlier"), earlier.filter((event) => inWitness.has(event)));
  }
  assert.ok((await page.locator(".dot.earlier").count()) > 0);
  assert.ok((await page.locator(".story").innerText()).includes("could have come before"));
}

/** Keys, buttons and clicks move both runs, and the states are those of the JSON. */
async function checkSteps(page, property) {
  const witness = property.predicted.swaps.length ? property.predicted.witness : null;
  const steps = await page.locator(".panel.observed tr.step").evaluateAll((rows) => rows.map((row) => Number(row.dataset.step)));
  const at = async (step, how) => {
    const observed = await nowOf(page, "observed");
    assert.equal(Number(observed.step), step, how);
    if (witness) {
      const now = await nowOf(page, "witness");
      const expected = Math.min(step, witness.length);
      assert.equal(Number(now.step), expected, how);
      if (expected > 0) {
        assert.equal(Number(now.state), witness[expected - 1].state, how);
        assert.equal(now.verdict, witness[expected - 1].verdict, how);
      }
    }
    const current = await page.locator('tr.step[aria-current="step"]').evaluateAll((rows) => rows.map((row) => row.dataset.state));
    const states = [observed.state, ...(witness ? [(await nowOf(page, "witness")).state] : [])];
    assert.deepEqual(current, states, how);
    const ring = await page.locator("svg.automaton").evaluate((drawing) => {
      const here = drawing.querySelector(".here-observed");
      const states = [...drawing.querySelectorAll(".state")];
      const same = (circle) => circle.getAttribute("cx") === here.getAttribute("cx") && circle.getAttribute("cy") === here.getAttribute("cy");
      return states.find((state) => same(state.querySelector("circle")))?.dataset.state;
    });
    assert.equal(ring, observed.state, how);
  };
  await page.keyboard.press("Home");
  await at(0, "Home");
  for (const step of steps.slice(1, 8)) {
    await page.keyboard.press("ArrowRight");
    await at(step, `ArrowRight to ${step}`);
  }
  await page.keyboard.press("ArrowLeft");
  await at(steps[Math.min(7, steps.length - 1) - 1], "ArrowLeft");
  await page.keyboard.press("End");
  await at(steps.at(-1), "End");
  await page.keyboard.press("ArrowRight");
  await at(steps.at(-1), "ArrowRight at the end");
  await page.locator('button[data-go="first"]').click();
  await at(0, "button");
  const row = page.locator(`.panel.observed tr[data-step="${steps[1]}"]`);
  await row.locator("td").first().click();
  await at(steps[1], "click");
  const address = await page.evaluate(() => location.hash);
  assert.ok(address.endsWith(`/${steps[1]}`), address);
}

/** Nothing is cut off at the side of a window of this width. */
async function checkWidth(browser, url, width) {
  const { page, context, noise } = await open(browser, url, { viewport: { width, height: 800 } });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wide <= 0, `${width} pixels: ${wide} too wide`);
  assert.deepEqual(noise, []);
  await context.close();
}

async function checkReport(browser, { name, options }) {
  const file = join(folder, `${name}.html`);
  portent("--format", "html", "--output", file, ...options);
  const json = JSON.parse(portent("--format", "json", ...options));
  const url = pathToFileURL(file).href;
  const { page, context, noise } = await open(browser, url);
  const order = [...json.properties].sort((a, b) => Number(b.predicted.violated) - Number(a.predicted.violated));
  assert.ok((await page.locator("h1").innerText()).includes(titleOf(order[0])), "a violated one is shown first");
  for (const [index, property] of order.entries()) {
    if (order.length > 1) await page.locator("#findings a").nth(index).click();
    await page.locator("h1", { hasText: titleOf(property) }).waitFor({ timeout: 5000 });
    await checkFinding(page, property);
  }
  // The address leads back to the same finding and step.
  await page.keyboard.press("End");
  const [step, address] = [await page.locator("output.position").innerText(), page.url()];
  const again = await open(browser, address);
  assert.equal(await again.page.locator("output.position").innerText(), step);
  assert.equal(await again.page.locator("h1").innerText(), await page.locator("h1").innerText());
  assert.deepEqual(again.noise.filter((line) => !line.startsWith("request")), []);
  await again.context.close();
  assert.deepEqual(noise, [], name);
  await context.close();
  for (const width of [360, 700, 1120, 1600]) await checkWidth(browser, url, width);
  if (shots) await shoot(browser, url, name);
  console.log(`ok  ${name}: ${order.length} ${order.length === 1 ? "finding" : "findings"}`);
}

async function shoot(browser, url, name) {
  const views = [
    ["light", 1360, "light"],
    ["dark", 1360, "dark"],
    ["narrow", 390, "light"],
  ];
  for (const [view, width, colorScheme] of views) {
    const { page, context } = await open(browser, url, { viewport: { width, height: 900 }, colorScheme });
    for (let step = 0; step < 3; step += 1) await page.keyboard.press("ArrowRight");
    await page.screenshot({ path: join(shots, `${name}-${view}.png`), fullPage: true });
    await context.close();
  }
}

const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ],
});
try {
  for (const report of reports) await checkReport(browser, report);
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
