// What a page of a workflow can do to its visitor, who is logged in at the gateway. It is on another port of the same host, so the browser
// sends the cookie of the gateway with its requests.
"use strict";

const assert = require("node:assert");
const { enter } = require("../people");

const { URL: gateway, ENDPOINTS_URL: endpoints } = process.env;

async function page_of_a_workflow_cannot_act_as_its_visitor(page) {
  await enter(page, "ada");
  const hostile = `${endpoints}/hostile?gateway=${encodeURIComponent(gateway)}`;
  const requests = [];
  page.on("request", (request) => requests.push(request.url()));
  // The browser says that it has run no script.
  page.allowed.push(/sandboxed/);
  await page.goto(hostile);
  assert.equal(await page.title(), "innocent");
  assert.deepEqual(requests, [hostile]);

  // Without the sandbox the same script runs and asks the gateway, which lets no page of another origin read. So the first part can fail.
  await page.route(hostile, async (route) => {
    const response = await route.fetch();
    const { "content-security-policy": policy, ...headers } = response.headers();
    assert.match(policy, /sandbox/);
    await route.fulfill({ response, headers });
  });
  page.allowed.push(/CORS policy/, /ERR_FAILED/);
  await page.goto(hostile);
  await page.waitForFunction(() => document.title !== "innocent");
  assert.equal(await page.title(), "refused");
  assert.ok(requests.includes(`${gateway}/elsa/api/workflow-definitions`), requests.join(" "));
}

module.exports = { page_of_a_workflow_cannot_act_as_its_visitor };
