// A browser in which nothing may go wrong unseen: errors of the console, scripts that throw, requests that fail or are
// refused.
"use strict";

const { chromium } = require("playwright-core");

const FLAGS = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];
// The watchdog of scripts/lib/cluster.sh: what comes later comes never. Studio takes seconds to start, and a slow machine takes many.
const PATIENCE = 1000 * Number(process.env.WORKFLOW_TEST_WATCHDOG ?? 1200);
const WIDE = { width: 1400, height: 900 };

const launch = () => chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });

/**
 * Runs `scenario(page, another)`, and gives what went wrong, as texts. The page has cookies and a cache of its own;
 * `another()` gives the page of one more person, `page.context().newPage()` one more page of the same one.
 *
 * What a scenario means to go wrong it puts into `page.allowed`, as regular expressions.
 */
async function watch(browser, url, picture, scenario) {
  const problems = [];
  const contexts = [];
  const another = async (options = {}) => {
    const context = await browser.newContext({ baseURL: url, viewport: WIDE, ...options });
    contexts.push(context);
    context.setDefaultTimeout(PATIENCE);
    listen(context, problems);
    return context.newPage();
  };
  try {
    const page = await another();
    page.allowed = [];
    await scenario(page, another).catch((error) => problems.push(error.stack));
    // A picture helps to find the reason of a failure, and its lack is no failure.
    await show(contexts, picture).catch((error) => console.error(`no picture: ${error.message}`));
    return problems.filter((problem) => !page.allowed.some((allowed) => allowed.test(problem)));
  } finally {
    await Promise.all(contexts.map((context) => context.close()));
  }
}

/** How all of them looked at the end. */
async function show(contexts, picture) {
  const pages = contexts.flatMap((context) => context.pages());
  for (const [number, page] of pages.entries()) await page.screenshot({ path: `${picture}${number > 0 ? `-${number + 1}` : ""}.png` });
}

/** All pages of the context, those that others open included. */
function listen(context, problems) {
  context.on("console", (message) => {
    if (message.type() === "error") problems.push(`console: ${message.text()} ${message.location().url}`);
  });
  context.on("weberror", (error) => problems.push(`script: ${error.error().stack}`));
  // A request that a page gives up because it is left has not failed.
  context.on("requestfailed", (request) => {
    const why = request.failure().errorText;
    if (why !== "net::ERR_ABORTED") problems.push(`request: ${request.method()} ${request.url()} ${why}`);
  });
  context.on("response", (response) => {
    if (response.status() >= 400) problems.push(`answer: ${response.status()} ${response.request().method()} ${response.url()}`);
  });
}

module.exports = { launch, watch };
