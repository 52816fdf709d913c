// A browser in which nothing may go wrong unseen: errors of the console, scripts that throw, requests that fail or are refused.
"use strict";

const { chromium } = require("playwright-core");

const FLAGS = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];
// Studio takes seconds to start, and more on a machine that does other things as well.
const PATIENCE = 60_000;

/** Runs `scenario(page)` in a browser of its own, and gives what went wrong, as texts. */
async function watch(url, picture, scenario) {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });
  const problems = [];
  try {
    const context = await browser.newContext({ baseURL: url, viewport: { width: 1400, height: 900 } });
    context.setDefaultTimeout(PATIENCE);
    const page = await context.newPage();
    page.allowed = [];
    listen(page, problems);
    try {
      await scenario(page);
    } catch (error) {
      problems.push(error.stack);
    }
    await page.screenshot({ path: picture });
    return problems.filter((problem) => !page.allowed.some((allowed) => allowed.test(problem)));
  } finally {
    await browser.close();
  }
}

function listen(page, problems) {
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(`console: ${message.text()} ${message.location().url}`);
  });
  page.on("pageerror", (error) => problems.push(`script: ${error.stack}`));
  // A request that a page gives up because it is left has not failed.
  page.on("requestfailed", (request) => {
    const why = request.failure().errorText;
    if (why !== "net::ERR_ABORTED") problems.push(`request: ${request.method()} ${request.url()} ${why}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 400) problems.push(`answer: ${response.status()} ${response.request().method()} ${response.url()}`);
  });
}

async function logIn(page, role, password) {
  await page.goto("/");
  await page.fill("input[name=role]", role);
  await page.fill("input[name=password]", password);
  await page.getByRole("button", { name: "Log in", exact: true }).click();
}

module.exports = { watch, logIn };
