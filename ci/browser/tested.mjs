// Opens the pages that annotated tests leave with PORTENT_REPORT in headless Chromium, and checks them against what `portent check` says of the
// recordings beside them.
//
// Set by ci/browser.sh: PORTENT, the command; PLAYWRIGHT, the module; PAGES, the folder of the pages. With a folder as argument, screenshots
// are left there.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { VIEWS, WIDTHS, excess, launch, open } from "./browser.mjs";

const folder = process.env.PAGES;
const shots = process.argv[2];

/** The tests of `tests/programs.rs`, and how their properties are checked. */
const TESTS = [
  ["a_queue_that_counts_too_early", "happens-before", /^PREDICTED/],
  ["a_queue", "happens-before", /^holds/],
  ["a_cache_that_keeps_old_values", "maximal", /^PREDICTED/],
  ["a_cache", "maximal", /^holds/],
];

/** What the command says of a recording; its exit code is 0 or 1. */
async function check(name, causality) {
  const [spec, trace] = [join(folder, `${name}.portent`), join(folder, `${name}.jsonl`)];
  const run = promisify(execFile)(process.env.PORTENT, ["check", "--format", "json", "--causality", causality, "--spec", spec, trace]);
  const done = await run.catch((failed) => failed);
  assert.ok(done.code === undefined || done.code === 1, done.stderr);
  return JSON.parse(done.stdout);
}

async function checkPage(browser, [test, causality, status]) {
  const name = `suite-programs-${test}`;
  const url = pathToFileURL(join(folder, `${name}.html`)).href;
  const { page, context, noise } = await open(browser, url);
  const [property] = (await check(name, causality)).properties;
  const title = await page.locator("h1").innerText();
  assert.match(title, status);
  assert.equal(/^PREDICTED/.test(title), property.predicted.violated, `${title}, and the recording says otherwise`);
  const text = await page.locator("body").innerText();
  assert.ok(text.includes(`cargo test`) && text.includes(test), "the page says which test it is of");
  // Stepping through the run.
  await page.keyboard.press("Home");
  const first = await page.locator("output.position").innerText();
  await page.keyboard.press("End");
  assert.notEqual(await page.locator("output.position").innerText(), first);
  if (property.predicted.violated) {
    // Both runs are there, and the places in the program of what is swapped.
    for (const run of ["observed", "witness"]) assert.ok((await page.locator(`.panel.${run} tr.step`).count()) > 1, run);
    assert.ok(text.includes("examples/"), "the places are those of the program");
  }
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    const wide = await excess(page);
    assert.ok(wide <= 0, `${test}, ${width} pixels: ${wide} too wide`);
  }
  assert.deepEqual(noise, [], test);
  await context.close();
  if (shots) await shoot(browser, url, name);
  console.log(`ok  ${test}: the page of a test`);
}

async function shoot(browser, url, name) {
  for (const [view, width, colorScheme] of VIEWS) {
    const { page, context } = await open(browser, url, { viewport: { width, height: 900 }, colorScheme });
    await page.screenshot({ path: join(shots, `${name}-${view}.png`), fullPage: true });
    await context.close();
  }
}

const pages = readdirSync(folder).filter((file) => file.endsWith(".html"));
assert.equal(pages.length, TESTS.length, `${pages}`);
const browser = await launch();
try {
  await Promise.all(TESTS.map((test) => checkPage(browser, test)));
} finally {
  await browser.close();
}
