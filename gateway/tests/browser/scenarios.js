// What people do in front of the gateway. Each scenario has a browser and a session of its own.
"use strict";

const assert = require("node:assert");
const { logIn } = require("./browser");

// These buttons of Studio have pictures and no names. They differ by their colours.
const PUBLISH = "button.mud-icon-button.mud-primary-text";
const RUN = "button.mud-icon-button.mud-success-text";

const ada = (page) => logIn(page, "ada", "lovelace");
const nodes = (page) => page.locator(".x6-node");
const drawn = (page, count) => page.waitForFunction((count) => document.querySelectorAll(".x6-node").length === count, count);

/** Waits for an answer while the scenario goes on: it may fail before it looks at it. */
function later(promise) {
  promise.catch(() => {});
  return promise;
}

const isSave = (answer) => answer.request().method() === "POST" && answer.url().endsWith("/elsa/api/workflow-definitions");
/** The answer to the next save. */
const saved = (page) => later(page.waitForResponse(isSave));

async function wrong_password_then_right(page) {
  page.allowed.push(/\b401\b/);
  await logIn(page, "ada", "wrong");
  assert.match(await page.getByRole("alert").innerText(), /password is wrong/);
  await page.fill("input[name=role]", "ada");
  await page.fill("input[name=password]", "lovelace");
  await page.getByRole("button", { name: "Log in", exact: true }).click();
  await page.getByText("Greeting", { exact: true }).waitFor();
  assert.equal(new URL(page.url()).pathname, "/definitions");
}

async function definition_of_sql_is_drawn(page) {
  await ada(page);
  await page.getByText("Greeting", { exact: true }).click();
  await page.waitForURL("**/workflows/definitions/greeting/edit");
  await drawn(page, 3);
  assert.equal(await page.title(), "Greeting · workflow");
  for (const type of ["WriteLine", "RunTask"]) await nodes(page).getByText(type).first().waitFor();
}

async function made_published_and_run(page) {
  // Studio wants names that are not there yet.
  const name = `Made at ${Date.now()}`;
  await ada(page);
  await page.getByRole("button", { name: "Create workflow" }).first().click();
  await page.getByLabel("Name").first().fill(name);
  await page.getByRole("button", { name: "Ok", exact: true }).click();
  await page.waitForURL("**/workflows/definitions/*/edit");
  await page.getByText("Console", { exact: true }).first().click();
  const draft = saved(page);
  const canvas = page.locator(".x6-graph").first();
  await page.getByText("WriteLine", { exact: true }).first().dragTo(canvas, { targetPosition: { x: 200, y: 150 } });
  await drawn(page, 1);
  const { workflowDefinition } = await (await draft).json();
  assert.deepEqual(workflowDefinition.root.activities.map((activity) => activity.type), ["Elsa.WriteLine"]);
  const published = saved(page);
  await page.locator(PUBLISH).click();
  assert.equal((await (await published).json()).workflowDefinition.isPublished, true);
  await page.locator(RUN).click();
  await page.waitForURL("**/workflows/instances/*/view");
  await drawn(page, 1);
  await page.getByText("Finished", { exact: true }).first().waitFor();
  await page.goto("/instances");
  await page.getByText(name, { exact: true }).first().waitFor();
}

async function who_may_not_change_reads_only(page) {
  await logIn(page, "ben", "franklin");
  await page.getByText("Greeting", { exact: true }).click();
  await drawn(page, 3);
  await page.getByText(/read-?only/i).first().waitFor();
  assert.equal(await page.getByText("Auto-save").count(), 0);
}

async function session_that_ends_loses_nothing(page) {
  page.allowed.push(/\b401\b/);
  await ada(page);
  await page.goto("/workflows/definitions/greeting/edit");
  await drawn(page, 3);
  await page.context().clearCookies();
  await page.getByLabel("Description").first().fill("written without a session");
  await page.getByLabel("Description").first().blur();
  await page.getByText("Your session has ended").waitFor();
  const refused = later(page.waitForResponse("**/login"));
  await page.fill("dialog input[name=password]", "wrong");
  await page.getByRole("button", { name: "Log in", exact: true }).click();
  assert.equal((await refused).status(), 401);
  await page.locator("dialog [role=alert]", { hasText: "password is wrong" }).waitFor();
  const again = later(page.waitForResponse((answer) => isSave(answer) && answer.status() === 200));
  await page.fill("dialog input[name=password]", "lovelace");
  await page.getByRole("button", { name: "Log in", exact: true }).click();
  const { workflowDefinition } = await (await again).json();
  assert.equal(workflowDefinition.description, "written without a session");
  await page.locator("dialog").waitFor({ state: "hidden" });
}

module.exports = {
  wrong_password_then_right,
  definition_of_sql_is_drawn,
  made_published_and_run,
  who_may_not_change_reads_only,
  session_that_ends_loses_nothing,
};
