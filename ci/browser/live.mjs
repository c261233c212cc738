// Opens the page of `portent serve` in headless Chromium, and checks what a reader sees while programs send events.
//
// Set by ci/browser.sh: PORTENT, the command; PLAYWRIGHT, the module. With a folder as argument,
// screenshots are left there.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { VIEWS, WIDTHS, excess, launch, open } from "./browser.mjs";

const folder = mkdtempSync(join(tmpdir(), "portent-"));
const shots = process.argv[2];
if (shots) mkdirSync(shots, { recursive: true });

const spec = join(folder, "orders.portent");
writeFileSync(
  spec,
  `property order(o) { event paid(o), shipped(o)  ltl: always (shipped -> once paid) }
   property stock { event sold, returned  ltl: always (returned -> once sold) }`,
);

const running = new Set();

/** Starts a server, on ports that are free or on those given. */
async function serve({ events = "127.0.0.1:0", page = "127.0.0.1:0", options = [] } = {}) {
  const child = spawn(process.env.PORTENT, ["serve", "--spec", spec, "--listen", events, "--page", page, ...options], { stdio: ["ignore", "ignore", "pipe"] });
  running.add(child);
  const server = { child };
  for await (const line of createInterface({ input: child.stderr })) {
    const [what, address] = line.split(": ");
    if (what === "events") server.events = address;
    if (what === "page") return { ...server, url: address, page: new URL(address).host };
  }
  throw new Error("the server has ended");
}

/** Ctrl-C, which is answered with the exit code of `check`. */
async function stop({ child }) {
  child.kill("SIGINT");
  const [code] = await once(child, "exit");
  running.delete(child);
  return code;
}

/** Sends lines as a program that ends then. */
async function send({ events }, lines) {
  const [host, port] = events.split(":");
  const socket = connect(Number(port), host);
  socket.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  await once(socket, "close");
}

const line = (t, vc, name, ...args) => ({ t, vc: { [t]: vc }, name, args });
/** An order that was paid for, and one that was shipped at the same time. */
const hasty = (number, order) => [line("bank", number, "paid", order), line("store", number, "shipped", order)];

/** A page of the server: it asks that server and nobody else. */
const look = (browser, { url }, options, search = "") => open(browser, url + search, options, (request) => request.startsWith(url));

const says = (page, text) => page.locator("#standing", { hasText: text }).waitFor({ timeout: 20_000 });
const items = (page) => page.locator("#violations li:visible");

const HOSTILE = "<img src=x onerror=alert(1)></script><b>";

/** Events come, a violation is predicted, and its witness is drawn. */
async function checkNews(page, server) {
  await says(page, "0 events");
  assert.equal(await page.locator("#none").innerText(), "none so far");
  assert.equal(await page.locator("#rows tr").count(), 2);
  assert.equal(await page.locator("#violation").isVisible(), false);
  await send(server, hasty(1, HOSTILE));
  await says(page, "2 events, 0 programs, 1 violation");
  assert.ok((await items(page).first().innerText()).includes(HOSTILE), "what comes from a program is text");
  const rows = await page.locator("#rows tr").allInnerTexts();
  assert.match(rows[0], /^PREDICTED\s+order/);
  assert.match(rows[1], /^none so far\s+stock/);
  const figures = await page.locator("#figures").innerText();
  for (const name of ["events a second", "window", "search", "exhaustive", "lost", "0 events, 0 lines"]) assert.ok(figures.includes(name), figures);
  const frame = page.frameLocator("#violation");
  await frame.locator(".panel.witness tr.step").first().waitFor();
  assert.equal(await frame.locator(".panel.witness tr.step").count(), 3, "the start and both events");
  assert.ok((await frame.locator(".dot.earlier").count()) > 0);
  assert.ok((await frame.locator("svg.lattice .cut").count()) > 0);
  assert.match(await frame.locator(".story").innerText(), /could have come before/);
  await frame.locator("body").press("End");
  assert.match(await frame.locator("output.position").innerText(), /2/);
}

/** Violations are listed as they come, whatever is asked for and looked at meanwhile. */
async function checkFilter(page, server) {
  await send(server, Array.from({ length: 30 }, (_, index) => hasty(index + 2, `order ${index + 1}`)).flat());
  await says(page, "62 events, 0 programs, 31 violations");
  assert.equal(await items(page).count(), 31);
  await page.locator("#text").fill("ORDER 1");
  assert.equal(await items(page).count(), 11, "1, and 10 to 19");
  assert.equal(await page.locator("#found").innerText(), "11 of 31");
  await items(page).nth(3).locator("button").click();
  const drawn = page.frameLocator("#violation").locator("h1", { hasText: '"order 12"' });
  await drawn.waitFor();
  // One that is observed, while somebody looks at another and the filter stays.
  await send(server, [line("till", 1, "returned"), ...hasty(32, "order 100")]);
  await says(page, "65 events, 0 programs, 33 violations");
  assert.equal(await items(page).count(), 12);
  assert.equal(await page.locator("#text").inputValue(), "ORDER 1");
  assert.ok(await drawn.isVisible());
  assert.equal(await page.locator('#violations button[aria-pressed="true"]').count(), 1);
  await page.locator("#text").fill("");
  await page.locator('.switch[data-status="predicted"]').click();
  assert.deepEqual(await items(page).locator(".what").allInnerTexts(), ["stock"]);
  await page.locator('.switch[data-status="predicted"]').click();
  assert.equal(await items(page).count(), 33);
  assert.match((await page.locator("#rows tr").allInnerTexts())[1], /^OBSERVED\s+stock/);
  const address = await page.locator("#alone a").getAttribute("href");
  assert.equal(address, "violation/12");
}

/** Nothing is cut off, in the light and in the dark. */
async function checkWidths(browser, server) {
  for (const colorScheme of ["light", "dark"]) {
    const { page, context, noise } = await look(browser, server, { colorScheme });
    await says(page, "33 violations");
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 });
      const wide = await excess(page);
      assert.ok(wide <= 0, `${width} pixels: ${wide} too wide`);
    }
    const [ink, paper] = await page.evaluate(() => ["color", "backgroundColor"].map((what) => getComputedStyle(document.body)[what].match(/\d+/g).map(Number)));
    const isDark = ink[0] > paper[0];
    assert.equal(isDark, colorScheme === "dark");
    assert.deepEqual(noise, []);
    await context.close();
  }
}

/** The page outlives its server, and goes on with the next. */
async function checkRestart(page, server, noise) {
  assert.deepEqual(noise, [], "all was quiet so far");
  assert.equal(await stop(server), 1);
  await says(page, "The server does not answer");
  assert.equal(await items(page).count(), 33, "what was known is still shown");
  const drawn = page.frameLocator("#violation").locator("h1", { hasText: '"order 12"' });
  const next = await serve(server);
  await says(page, "0 events, 0 programs, 0 violations");
  // That nobody answered is said by the browser, too.
  assert.deepEqual(noise.splice(0).filter((text) => !/ERR_CONNECTION_(REFUSED|RESET)|ERR_EMPTY_RESPONSE/.test(text)), []);
  assert.equal(await items(page).count(), 0);
  assert.ok(await drawn.isVisible(), "what somebody looks at stays");
  assert.ok(await page.locator("#past").isVisible(), "and it is said that it is old");
  await send(next, hasty(1, "again"));
  await says(page, "2 events, 0 programs, 1 violation");
  await items(page).first().locator("button").click();
  await page.frameLocator("#violation").locator("h1", { hasText: '"again"' }).waitFor();
  assert.equal(await page.locator("#past").isVisible(), false);
  assert.deepEqual(noise, []);
  assert.equal(await stop(next), 1);
}

/** Who has the token sees the page, its style and the drawings; who has not is told so. */
async function checkToken(browser) {
  const token = join(folder, "token");
  writeFileSync(token, "secret\n");
  const server = await serve({ options: ["--token-file", token] });
  const { page, context, noise } = await look(browser, server, {}, "?token=secret");
  await says(page, "0 events");
  assert.notEqual(await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--paper")), "", "it has its style");
  await send(server, [{ portent: 1, token: "secret" }, ...hasty(1, "x")]);
  await says(page, "1 violation");
  await page.frameLocator("#violation").locator(".panel.witness tr.step").first().waitFor();
  assert.deepEqual(noise, []);
  await page.goto(server.url);
  assert.match(await page.locator("body").innerText(), /a token is asked for/);
  await context.close();
  await stop(server);
}

async function shoot(browser, server) {
  for (const [view, width, colorScheme] of VIEWS) {
    const { page, context } = await look(browser, server, { viewport: { width, height: 900 }, colorScheme });
    await page.frameLocator("#violation").locator(".panel.witness tr.step").first().waitFor();
    await page.screenshot({ path: join(shots, `live-${view}.png`), fullPage: true });
    await context.close();
  }
}

const browser = await launch();
try {
  const server = await serve({ options: ["--record", join(folder, "events.jsonl.zst")] });
  const { page, context, noise } = await look(browser, server);
  await checkNews(page, server);
  if (shots) await page.screenshot({ path: join(shots, "live-one.png"), fullPage: true });
  await checkFilter(page, server);
  await checkWidths(browser, server);
  if (shots) await shoot(browser, server);
  await checkRestart(page, server, noise);
  await context.close();
  await checkToken(browser);
  console.log("ok  live page");
} finally {
  await browser.close();
  for (const child of running) child.kill();
  rmSync(folder, { recursive: true, force: true });
}
