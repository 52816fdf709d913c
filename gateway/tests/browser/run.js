// Runs the scenarios: node run.js RESULTS [WORD...], with URL and GATEWAY_LOG in the environment. A line for each, in the
// form of cargo; pictures of how each ended are in RESULTS.
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const { watch } = require("./browser");
const scenarios = require("./scenarios");

const [results, ...words] = process.argv.slice(2);
const { URL: url, GATEWAY_LOG: log } = process.env;

/** Reports of browsers that a page tried what its policy forbids, as the gateway logs them. */
const reports = () => fs.readFileSync(log, "utf8").split("\n").filter((line) => line.includes("policy forbids"));

async function main() {
  let failed = 0;
  for (const [name, scenario] of Object.entries(scenarios)) {
    const full = `browser/${name}`;
    if (words.length > 0 && !words.some((word) => full.includes(word))) continue;
    const before = reports().length;
    const problems = await watch(url, path.join(results, `${name}.png`), scenario);
    problems.push(...reports().slice(before));
    console.log(`test ${full} ... ${problems.length ? "FAILED" : "ok"}`);
    for (const problem of problems) console.error(`${full}: ${problem}`);
    failed += problems.length ? 1 : 0;
  }
  process.exitCode = failed ? 1 : 0;
}

main();
