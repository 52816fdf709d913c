// Runs the scenarios: node run.js RESULTS [WORD...], with URL, ENDPOINTS_URL and GATEWAY_LOG in the environment. A line for each, in
// the form of cargo; pictures of how each ended are in RESULTS.
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const { launch, watch } = require("./browser");

const SCENARIOS = {
  ...require("./scenarios/sessions"),
  ...require("./scenarios/designer"),
  ...require("./scenarios/versions"),
  ...require("./scenarios/editors"),
  ...require("./scenarios/own_activities"),
  ...require("./scenarios/refusals"),
  ...require("./scenarios/many"),
  ...require("./scenarios/inbox"),
  ...require("./scenarios/requests"),
  ...require("./scenarios/instance"),
  ...require("./scenarios/console"),
  ...require("./scenarios/access"),
  ...require("./scenarios/looks"),
  ...require("./scenarios/endpoints"),
};

const [results, ...words] = process.argv.slice(2);
const { URL: url, GATEWAY_LOG: log } = process.env;

/** Reports of browsers that a page tried what its policy forbids, as the gateway logs them. */
const reports = () => fs.readFileSync(log, "utf8").split("\n").filter((line) => line.includes("policy forbids"));

async function main() {
  const browser = await launch();
  let failed = 0;
  for (const [name, scenario] of Object.entries(SCENARIOS)) {
    const full = `browser/${name}`;
    if (words.length > 0 && !words.some((word) => full.includes(word))) continue;
    const before = reports().length;
    const started = Date.now();
    const problems = await watch(browser, url, path.join(results, name), scenario);
    problems.push(...reports().slice(before));
    console.log(`test ${full} ... ${problems.length ? "FAILED" : "ok"}`);
    console.error(`${full}: ${((Date.now() - started) / 1000).toFixed(1)} s`);
    for (const problem of problems) console.error(`${full}: ${problem}`);
    failed += problems.length ? 1 : 0;
  }
  await browser.close();
  process.exitCode = failed ? 1 : 0;
}

main();
