// Opens reports in headless Chromium and checks what a reader would see against the JSON output.
//
// Set by ci/browser.sh: PORTENT, the command; PLAYWRIGHT, the module. With a folder as argument,
// screenshots are left there.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { VIEWS, WIDTHS, excess, launch, open } from "./browser.mjs";
import * as traces from "./traces.mjs";

const folder = mkdtempSync(join(tmpdir(), "portent-"));
const shots = process.argv[2];
if (shots) mkdirSync(shots, { recursive: true });

/** Runs the command; its exit code is 0 or 1. */
async function portent(...options) {
  const env = { ...process.env, SOURCE_DATE_EPOCH: "1700000000" };
  const run = promisify(execFile)(process.env.PORTENT, ["check", ...options], { encoding: "utf8", maxBuffer: 1 << 30, env });
  const done = await run.catch((failed) => failed);
  assert.ok(done.code === undefined || done.code === 1, done.stderr);
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
  example("lift", "lift.jsonl"),
  generated("safe", traces.safe),
  generated("observed", traces.observed),
  generated("wide", traces.wide),
  generated("hostile", traces.hostile),
  generated("prefix", traces.prefix),
  generated("folded", traces.folded),
  generated("messages", traces.messages),
  generated("neighbours", traces.neighbours),
  generated("busy", traces.busy(5000)),
  generated("big", traces.big(200_000)),
  generated("crowd", traces.crowd(16)),
];

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
  await checkJump(page, property);
  await checkGaps(page);
  await checkGeometry(page, titleOf(property));
  const status = predicted.violated ? /^(PREDICTED|OBSERVED)/ : /^(holds|open)/;
  assert.match(await page.locator("h1").innerText(), status);
  await checkFolding(page, property);
  await checkWitness(page, property);
  await checkSteps(page, property);
  await checkSlider(page, property);
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
  let count = folded;
  while (await buttons.count()) {
    await buttons.first().click();
    const now = await rows.count();
    assert.ok(now > count, "unfolded");
    count = now;
  }
}

/** A gap can be opened, or says why not. */
async function checkGaps(page) {
  const gaps = await page.locator("tr.gap").evaluateAll((rows) => rows.map((row) => ({ words: row.innerText, opens: row.querySelector("button.unfold") !== null })));
  const lengths = await page.locator("button.unfold").evaluateAll((buttons) => buttons.map(({ dataset }) => dataset.to - dataset.from + 1));
  assert.ok(lengths.every((length) => length > 2), `a fold hides more than it takes: ${lengths}`);
  for (const { words, opens } of gaps) assert.ok(opens || words.includes("left out to keep the page small"), words);
}

/** The page opens at the violation, the slider marks it, and a button and a key lead back there. */
async function checkJump(page, property) {
  const { violated, violated_at } = property.predicted;
  const position = async () => Number((await page.locator("output.position").innerText()).match(/step ([\d,]+)/)[1].replaceAll(",", ""));
  assert.equal(await position(), violated ? violated_at : 0, "opens at the violation");
  const marks = await page.locator(".track .mark").evaluateAll((marks) => marks.map((mark) => Number(mark.dataset.step)));
  if (!violated) {
    assert.deepEqual(marks, []);
    assert.equal(await page.locator("button.jump").count(), 0);
    return;
  }
  assert.ok(marks.includes(violated_at), "the slider marks it");
  // The mark stands where the thumb is now.
  const [mark, share] = await page.evaluate((step) => {
    const slider = document.querySelector(".track input");
    const box = slider.getBoundingClientRect();
    const mark = document.querySelector(`.mark[data-step="${step}"]`).getBoundingClientRect();
    const at = (mark.left + mark.right) / 2 - box.left - 8;
    return [at / (box.width - 16), Number(slider.value) / Number(slider.max)];
  }, violated_at);
  assert.ok(Math.abs(mark - share) < 0.02, `${mark} ${share}`);
  const part = violated_at / Math.max(1, property.relevant);
  assert.ok(Math.abs(mark - part) < 0.02, `the slider stands at ${mark}, and ${part} of the run is over`);
  await page.keyboard.press("Home");
  await page.locator("button.jump").click();
  assert.equal(await position(), violated_at, "button");
  await page.keyboard.press("Home");
  await page.keyboard.press("v");
  assert.equal(await position(), violated_at, "key");
  // Of the witness, if there is one: it is the run that is violated, or violated sooner.
  const seen = await page.locator('tr.step[aria-current="step"]').last().evaluate((row) => {
    const { top, bottom } = row.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  });
  assert.ok(seen, "the row is in sight");
}

/** The keys of the slider go from one shown step to the next, as they do elsewhere, whatever lies between. */
async function checkSlider(page, property) {
  const steps = await page.locator(".panel.observed tr.step").evaluateAll((rows) => rows.map((row) => Number(row.dataset.step)));
  const slider = page.locator(".track input");
  const now = async () => Number((await nowOf(page, "observed")).step);
  assert.equal(await slider.getAttribute("max"), String(property.relevant));
  await slider.focus();
  await page.keyboard.press("Home");
  for (const step of steps.slice(1, 12)) {
    await page.keyboard.press("ArrowRight");
    assert.equal(await now(), step, "the slider moves on");
    assert.equal(await slider.inputValue(), String(step));
  }
  await page.keyboard.press("ArrowLeft");
  assert.equal(await now(), steps[Math.max(0, Math.min(11, steps.length - 1) - 1)], "the slider moves back");
  await page.keyboard.press("Home");
  await page.keyboard.press("PageUp");
  assert.equal(await now(), steps[Math.min(10, steps.length - 1)], "ten rows at once");
  await slider.evaluate((node) => {
    node.value = node.max;
    node.dispatchEvent(new Event("input"));
  });
  assert.equal(await now(), steps.at(-1), "the end of the slider is the end of the run");
  await slider.evaluate((node) => node.blur());
}

/** The event is said in full where there is room, whoever does it; runs are side by side if they fit. */
async function checkLongNames(browser) {
  for (const [length, labels] of [["short", "use"], ["long", "use_the_result_of_the_order_before_shipping"]]) {
    const { name, options } = generated(`names-${length}`, traces.longNames(labels));
    const file = join(folder, `${name}.html`);
    await portent("--format", "html", "--output", file, ...options);
    const url = pathToFileURL(file).href;
    const { page, context } = await open(browser, url, { viewport: { width: 1400, height: 900 } });
    for (const run of ["observed", "witness"]) {
      await page.keyboard.press(run === "observed" ? "End" : "v");
      const words = await page.locator(`.now.${run} .event`).innerText();
      assert.ok(words.endsWith(`: ${labels}`), words);
      assert.ok(words.includes("worker-"), words);
    }
    const cut = await page.locator("td.event, text.label").evaluateAll((nodes) => nodes.map((node) => node.textContent).filter((text) => text.includes("…")));
    assert.deepEqual(cut, [], "no label is cut where there is room");
    assert.equal(await page.locator(".runs.stacked").count(), length === "long" ? 1 : 0, "side by side if they fit");
    await context.close();
    await checkWidths(browser, url, name);
    if (shots) await shoot(browser, url, name);
    console.log(`ok  ${name}`);
  }
}

const pageOf = async ({ name, options }) => {
  const file = join(folder, `${name}.html`);
  await portent("--format", "html", "--output", file, ...options);
  return pathToFileURL(file).href;
};

/** Of many names only those are told that matter; the others are folded, and can be opened. */
async function checkLets(browser) {
  const url = await pageOf(generated("lets", traces.lets));
  const { page, context, noise } = await open(browser, url);
  const why = await page.locator(".story").innerText();
  assert.match(why, /limit_3, limit_8, limit_13 and 5 more are false/);
  assert.match(why, /limit_3 is x3 < 100/);
  assert.ok(!why.includes("limit_4 is"), "what holds is no reason");
  assert.ok(why.length < 1000, `${why.length} characters`);
  const meanings = page.locator(".lets .let");
  assert.equal(await meanings.count(), 40);
  assert.ok(!(await meanings.first().isVisible()));
  await page.locator("summary").click();
  assert.ok(await meanings.first().isVisible());
  assert.deepEqual(noise, []);
  await context.close();
  await checkWidths(browser, url, "lets");
  if (shots) await shoot(browser, url, "lets");
  console.log("ok  lets");
}

/** Many threads fit if they can; if not, the texts come first, and the page says that there is more. */
async function checkCrowds(browser) {
  for (const [threads, fits] of [[30, true], [80, false]]) {
    const url = await pageOf(generated(`crowd-${threads}`, traces.crowd(threads)));
    const { page, context, noise } = await open(browser, url, { viewport: { width: 700, height: 900 } });
    assert.equal(await page.locator(".sideways").isVisible(), !fits);
    assert.equal(await page.locator(".panel.more-right").count(), fits ? 0 : 2);
    // The verdicts, and the ways to open a fold, are in sight without scrolling.
    const out = await page.locator("tr.step .pill, button.unfold").evaluateAll((nodes) => nodes.filter((node) => node.getBoundingClientRect().right > innerWidth - 40).length);
    assert.equal(out, 0, `${threads} threads`);
    const names = await page.locator(".panel.observed .lane-name").evaluateAll((nodes) => nodes.map((node) => node.firstChild.textContent));
    assert.deepEqual(names, Array.from({ length: threads }, (_, n) => `worker-${n}`));
    if (!fits) {
      await page.locator(".panel.observed").evaluate((panel) => panel.scrollTo(panel.scrollWidth, 0));
      await page.locator(".panel.observed.more-left:not(.more-right)").waitFor({ timeout: 5000 });
    }
    assert.deepEqual(noise, []);
    await context.close();
    if (shots) await shoot(browser, url, `crowd-${threads}`);
    console.log(`ok  crowd-${threads}`);
  }
}

/** On paper everything is light, open and within the sheet, and the heads of long tables have the names of the threads. */
async function checkPrint(browser) {
  for (const report of [generated("printed-busy", traces.busy(5000)), generated("printed-crowd", traces.crowd(30)), generated("printed-crowd-80", traces.crowd(80)), generated("printed-lets", traces.lets), generated("printed-bindings", traces.bindings)]) {
    const { page, context, noise } = await open(browser, await pageOf(report), { colorScheme: "dark", viewport: { width: 1400, height: 900 } });
    const before = await page.locator("main").innerText();
    const threads = await page.locator(".panel.observed .lane-name").evaluateAll((nodes) => nodes.map((node) => node.firstChild.textContent));
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    await page.setViewportSize({ width: 718, height: 1040 });
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
    for (const hidden of ["button.unfold", ".controls", "nav", ".sideways"]) assert.equal(await page.locator(`${hidden}:visible`).count(), 0, hidden);
    assert.equal(await page.locator("details:not([open])").count(), 0);
    const wide = await page.locator(".panel, .scroll, main, body").evaluateAll((nodes) => nodes.filter((node) => node.scrollWidth > node.clientWidth + 1).map((node) => node.className || node.tagName));
    assert.deepEqual(wide, [], `${report.name} is within the sheet`);
    assert.deepEqual(await page.locator(".panel.observed .printed-names span").allTextContents(), threads);
    assert.equal(await page.locator(".on-paper:visible").count(), report.name.endsWith("bindings") ? 1 : 0);
    await page.emulateMedia({ media: "screen", colorScheme: "dark" });
    await page.setViewportSize({ width: 1400, height: 900 });
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
    assert.equal(await page.locator("main").innerText(), before, "afterwards all is as before");
    if (shots) {
      await page.emulateMedia({ media: null, colorScheme: "dark" });
      await page.pdf({ path: join(shots, `${report.name}.pdf`), format: "A4" });
    }
    assert.deepEqual(noise, []);
    await context.close();
  }
  console.log("ok  print");
}

/** What is not drawn says why, and promises only what there is. */
async function checkPromises(browser) {
  const { name, options } = generated("files-700", traces.files(700));
  for (const all of [[], ["--all"]]) {
    const file = join(folder, `${name}.html`);
    await portent("--format", "html", "--output", file, ...all, ...options);
    const json = async (...more) => JSON.parse(await portent("--format", "json", ...more, ...options)).properties;
    const [usual, everything] = [await json(), await json("--all")];
    const { page, context, noise } = await open(browser, pathToFileURL(file).href);
    assert.match(await page.locator("h1").innerText(), /^OBSERVED/, "what was observed comes first");
    let [drawn, undrawn] = [0, 0];
    for (const [place, property] of usual.entries()) {
      const { violated, witness_omitted } = property.predicted;
      const isObserved = property.observed.verdict === "violated";
      if (!isObserved && place % 9) continue;
      await page.evaluate((id) => (location.hash = encodeURIComponent(id)), titleOf(property));
      await page.locator("h1", { hasText: titleOf(property) }).waitFor({ timeout: 5000 });
      const words = await page.locator("main").innerText();
      const isDrawn = (await page.locator(".runs").count()) > 0;
      if (isDrawn) drawn += 1;
      else undrawn += 1;
      assert.ok(isDrawn || /Not (drawn|described), to keep the page small/.test(words), words);
      if (violated && (isObserved || all.length)) assert.ok(isDrawn, `${titleOf(property)} is drawn`);
      if (!violated) assert.ok(!words.includes("witness") && !words.includes("--all"), words);
      else if (!isDrawn) {
        const promised = words.match(/(--format json(?: --all)?) has its witness/)[1];
        const source = promised.endsWith("--all") ? everything : usual;
        assert.notEqual(source[place].predicted.witness, null, `${promised} has the witness of ${titleOf(property)}`);
      }
      assert.equal(words.includes("--all also says"), Boolean(isDrawn && witness_omitted && !all.length));
    }
    assert.ok(drawn > 0 && undrawn > 0, `${drawn} drawn, ${undrawn} not`);
    assert.deepEqual(noise, []);
    await context.close();
    console.log(`ok  ${name} ${all.join()}: ${drawn} drawn and ${undrawn} not, of those looked at`);
  }
}

/** What the text calls a warning is a warning here; what a baseline has is none. */
async function checkWarnings(browser) {
  const { options } = generated("vacuous", { ...traces.observed, spec: "property quiet { event silence\n ltl: always !silence }" });
  const file = join(folder, "vacuous.html");
  await portent("--format", "html", "--output", file, ...options);
  const vacuous = await open(browser, pathToFileURL(file).href);
  const heads = await vacuous.page.locator("#warnings .warning strong").allInnerTexts();
  const text = (await portent(...options)).split("\n").filter((line) => line.startsWith("warning: "));
  assert.ok(text.length > 0);
  assert.deepEqual(heads.map((head) => head.trim()), text.map(() => "Warning"));
  await vacuous.context.close();
  const known = generated("known", traces.observed);
  const baseline = join(folder, "baseline.json");
  await portent("--format", "json", "--output", baseline, ...known.options);
  await portent("--format", "html", "--output", file, "--baseline", baseline, ...known.options);
  const { page, context, noise } = await open(browser, pathToFileURL(file).href);
  assert.equal(await page.locator(".warning").count(), 0);
  assert.match(await page.locator("#warnings").innerText(), /^1 known violation left out/);
  assert.deepEqual(noise, []);
  await context.close();
  console.log("ok  warnings");
}

/** No arrow crosses a label, and nothing that is drawn or written is cut off at an edge. */
async function checkGeometry(page, where) {
  const faults = await page.evaluate(() => {
    const faults = [];
    for (const drawing of document.querySelectorAll("svg.lanes")) {
      const { width } = drawing.viewBox.baseVal;
      const labels = [...drawing.querySelectorAll("text.label")].map((label) => ({ text: label.textContent, box: label.getBBox() }));
      for (const { text, box } of labels) if (box.x < 0 || box.x + box.width > width + 1) faults.push(`label ${text} is cut off`);
      for (const dot of drawing.querySelectorAll("circle")) {
        const [x, r] = [dot.cx.baseVal.value, dot.r.baseVal.value];
        if (x - r < 0 || x + r > width) faults.push("a dot is cut off");
      }
      for (const arrow of drawing.querySelectorAll("path.arrow")) {
        const length = arrow.getTotalLength();
        for (let at = 0; at <= length; at += 2) {
          const { x, y } = arrow.getPointAtLength(at);
          if (x < 0 || x > width) faults.push("an arrow is cut off");
          for (const { text, box } of labels) {
            if (x > box.x && x < box.x + box.width && y > box.y + 1 && y < box.y + box.height - 1) faults.push(`an arrow crosses ${text}`);
          }
        }
      }
    }
    // Of other drawings every text and every shape.
    for (const drawing of document.querySelectorAll("svg.lattice, svg.automaton, svg.widths, th svg")) {
      const outer = drawing.getBoundingClientRect();
      if (!outer.width) continue;
      for (const shape of drawing.querySelectorAll("text, circle, rect, path, polygon, polyline")) {
        const inner = shape.getBoundingClientRect();
        if (!inner.width || shape.closest("[hidden]")) continue;
        const out = Math.max(outer.left - inner.left, inner.right - outer.right, outer.top - inner.top, inner.bottom - outer.bottom);
        if (out > 1) faults.push(`${shape.tagName} ${shape.textContent} of ${drawing.getAttribute("class")} is cut off by ${out}`);
      }
    }
    // Text that is wider than its place scrolls, or is shortened and has its whole as a title.
    for (const node of document.querySelectorAll("body *:not(svg *)")) {
      if (!node.checkVisibility() || node.closest(".hidden, .scroll, .panel") || node.matches("input, .list")) continue;
      const { left, right, width } = node.getBoundingClientRect();
      if (width && !node.closest(".list") && (left < -1 || right > innerWidth + 1)) faults.push(`${node.tagName} ${node.className} sticks out: ${right}`);
      const clipped = getComputedStyle(node).overflowX !== "visible" && node.scrollWidth > node.clientWidth + 1;
      if (clipped && !node.closest("[title]")) faults.push(`${node.tagName} ${node.className} is cut off`);
    }
    if (innerWidth >= 700) {
      for (const panel of document.querySelectorAll(".panel")) {
        if (panel.scrollWidth > panel.clientWidth + 1) faults.push(`${panel.className} is ${panel.scrollWidth} wide, and has ${panel.clientWidth}`);
      }
    }
    return [...new Set(faults)];
  });
  assert.deepEqual(faults, [], where);
}

/** What the page says about itself and its property. */
async function checkOrigin(page, options) {
  const words = await page.locator("#origin").innerText();
  assert.match(words, /^Made by Portent \d+\.\d+\.\d+ on 2023-11-14 at 22:13 UTC with portent check --format html /);
  const spec = options[options.indexOf("--spec") + 1];
  assert.ok(words.includes(spec), words);
  assert.equal(await page.locator(".claim .spec").innerText(), `in ${spec}`);
}

/** Many bindings: what a text and the verdicts let through. */
async function checkFilter(browser, { name, options }) {
  const file = join(folder, `${name}.html`);
  await portent("--format", "html", "--output", file, ...options);
  const { properties } = JSON.parse(await portent("--format", "json", ...options));
  const url = pathToFileURL(file).href;
  const { page, context, noise } = await open(browser, url);
  const found = () => page.locator(".found").innerText();
  const links = page.locator("#findings a");
  const violated = properties.filter((property) => property.predicted.violated).length;
  assert.equal(await found(), "700 of 700");
  assert.ok((await links.count()) <= 60, "not all at once");
  const field = page.locator(".filter input");
  await field.fill("User-69");
  const matching = properties.filter((property) => JSON.stringify(property.binding).includes("user-69")).length;
  assert.equal(await found(), `${matching} of 700`);
  assert.equal(await links.count(), matching);
  await page.keyboard.press("ArrowLeft");
  assert.equal(await field.inputValue(), "User-69", "the keys of a field are its own");
  await page.locator('.switch[data-status="holds"]').click();
  const left = properties.filter((property) => property.predicted.violated && JSON.stringify(property.binding).includes("user-69")).length;
  assert.equal(await found(), `${left} of 700`);
  await field.fill("");
  assert.equal(await found(), `${violated} of 700`);
  await field.fill("nobody");
  assert.ok((await page.locator(".more").innerText()).includes("None matches"));
  await field.fill("");
  await page.locator('.switch[data-status="holds"]').click();
  await page.locator(".show-more").click();
  assert.equal(await links.count(), 360);
  // A finding that is described, one that is only named, and the way back.
  await field.fill("user-7@");
  await links.first().click();
  // The address changes with the click, the page a moment later.
  await page.locator("h1", { hasText: "user-7@" }).waitFor({ timeout: 5000 });
  assert.equal(await page.locator("a[aria-current=true]").count(), 1);
  await field.fill("user-699@");
  await links.first().click();
  await page.locator("main", { hasText: "Not described, to keep the page small" }).waitFor({ timeout: 5000 });
  assert.deepEqual(noise, []);
  await context.close();
  await checkWidths(browser, url, name);
  if (shots) await shoot(browser, url, name);
  console.log(`ok  ${name}: filtered`);
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
    const shown = await page.evaluate(() => {
      const now = (run) => ({ ...document.querySelector(`.now[data-run="${run}"]`)?.dataset });
      const current = [...document.querySelectorAll('tr.step[aria-current="step"]')].map((row) => row.dataset.state);
      const here = document.querySelector("svg.automaton .here-observed");
      const same = (circle) => ["cx", "cy"].every((side) => circle.getAttribute(side) === here.getAttribute(side));
      const ring = [...document.querySelectorAll("svg.automaton .state")].find((state) => same(state.querySelector("circle")));
      return { observed: now("observed"), witness: now("witness"), current, ring: ring?.dataset.state };
    });
    assert.equal(Number(shown.observed.step), step, how);
    if (witness) {
      const expected = Math.min(step, witness.length);
      assert.equal(Number(shown.witness.step), expected, how);
      if (expected > 0) {
        assert.equal(Number(shown.witness.state), witness[expected - 1].state, how);
        assert.equal(shown.witness.verdict, witness[expected - 1].verdict, how);
      }
    }
    assert.deepEqual(shown.current, [shown.observed.state, ...(witness ? [shown.witness.state] : [])], how);
    assert.equal(shown.ring, shown.observed.state, how);
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

/** Nothing is cut off at the side of a window of these widths. One page, loaded anew for each: a page of its own costs more than all that is asked. */
async function checkWidths(browser, url, name) {
  const { page, context, noise } = await open(browser, url, { viewport: { width: 1400, height: 800 } });
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 });
    await page.reload();
    const wide = await excess(page);
    assert.ok(wide <= 0, `${name}, ${width} pixels: ${wide} too wide`);
    await checkGeometry(page, `${name}, ${width} pixels`);
    assert.deepEqual(noise, []);
  }
  await context.close();
}

async function checkReport(browser, { name, options }) {
  const file = join(folder, `${name}.html`);
  await portent("--format", "html", "--output", file, ...options);
  const json = JSON.parse(await portent("--format", "json", ...options));
  const url = pathToFileURL(file).href;
  const { page, context, noise } = await open(browser, url);
  const rank = ({ observed, predicted }) => (observed.verdict === "violated" ? 0 : predicted.violated ? 1 : 2);
  const order = [...json.properties].sort((a, b) => rank(a) - rank(b));
  assert.ok((await page.locator("h1").innerText()).includes(titleOf(order[0])), "a violated one is shown first");
  await checkOrigin(page, options);
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
  await checkWidths(browser, url, name);
  if (shots) await shoot(browser, url, name);
  console.log(`ok  ${name}: ${order.length} ${order.length === 1 ? "finding" : "findings"}`);
}

async function shoot(browser, url, name) {
  for (const [view, width, colorScheme] of VIEWS) {
    const { page, context } = await open(browser, url, { viewport: { width, height: 900 }, colorScheme });
    await page.screenshot({ path: join(shots, `${name}-${view}.png`), fullPage: true });
    await context.close();
  }
}

const browser = await launch();

/** Does all of it, a few at a time: most of what a check does is waiting for an answer of the browser. */
async function inTurn(checks, atOnce = 4) {
  const rest = checks.values();
  const worker = async () => {
    for (const check of rest) await check();
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

try {
  await inTurn([
    () => checkPrint(browser),
    () => checkPromises(browser),
    ...reports.map((report) => () => checkReport(browser, report)),
    () => checkFilter(browser, generated("bindings", traces.bindings)),
    () => checkLongNames(browser),
    () => checkLets(browser),
    () => checkCrowds(browser),
    () => checkWarnings(browser),
  ]);
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
