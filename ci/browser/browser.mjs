// Headless Chromium, and pages that must be quiet.
//
// Set by ci/browser.sh: PLAYWRIGHT, the module.

import { createRequire } from "node:module";

const { chromium } = createRequire(import.meta.url)(process.env.PLAYWRIGHT);

/** The widths at which nothing may be cut off. */
export const WIDTHS = [360, 700, 800, 1120, 1400, 1600];

/** What pictures are taken of: a name, a width, a scheme of colours. */
export const VIEWS = [
  ["light", 1400, "light"],
  ["dark", 1400, "dark"],
  ["light-800", 800, "light"],
  ["dark-800", 800, "dark"],
  ["narrow", 390, "light"],
];

export const launch = () =>
  chromium.launch({
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

/** Opens a page that must be quiet: no message, no error, no request besides those that are allowed. */
export async function open(browser, url, options = {}, isAllowed = (request) => request.split("#")[0] === url) {
  const context = await browser.newContext({ viewport: { width: 1360, height: 900 }, ...options });
  const page = await context.newPage();
  const noise = [];
  page.on("console", (message) => noise.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => noise.push(`error: ${error.stack}`));
  page.on("dialog", (dialog) => noise.push(`dialog: ${dialog.message()}`));
  page.on("request", (request) => {
    if (!isAllowed(request.url()) && !request.url().startsWith("data:")) noise.push(`request: ${request.url()}`);
  });
  await page.goto(url);
  return { page, context, noise };
}

/** How many pixels the page is wider than its window. */
export const excess = (page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
