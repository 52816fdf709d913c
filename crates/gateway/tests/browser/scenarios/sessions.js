// Logging in, and sessions that end.
"use strict";

const assert = require("node:assert");
const { enter, logIn, PASSWORDS } = require("../people");
const studio = require("../studio");

async function wrong_password_then_right(page) {
  page.allowed.push(/\b401\b.*\/login$/);
  await page.goto("/");
  await logIn(page, "ada", "wrong");
  assert.match(await page.getByRole("alert").innerText(), /password is wrong/);
  await logIn(page, "ada", PASSWORDS.ada);
  await page.waitForURL("**/definitions");
}

async function who_may_not_change_reads_only(page) {
  await enter(page, "ben");
  await studio.open(page, "greeting");
  await studio.drawn(page, 3);
  await page.getByText(/read-?only/i).first().waitFor();
  assert.equal(await page.getByText("Auto-save").count(), 0);
}

async function session_that_ends_loses_nothing(page) {
  page.allowed.push(/\b401\b/);
  await enter(page, "ada");
  await studio.open(page, "shared");
  await studio.drawn(page, 1);
  await page.context().clearCookies();
  await page.getByLabel("Description").first().fill("written without a session");
  await page.getByLabel("Description").first().blur();
  await page.getByText("Your session has ended").waitFor();
  const refused = studio.answered(page, "/login");
  await page.fill("dialog input[name=password]", "wrong");
  await page.getByRole("button", { name: "Log in", exact: true }).click();
  assert.equal((await refused).status(), 401);
  await page.locator("dialog [role=alert]", { hasText: "password is wrong" }).waitFor();
  const again = studio.savedWith(page, () => true);
  await page.fill("dialog input[name=password]", PASSWORDS.ada);
  await page.getByRole("button", { name: "Log in", exact: true }).click();
  const { workflowDefinition } = await (await again).json();
  assert.equal(workflowDefinition.description, "written without a session");
  await page.locator("dialog").waitFor({ state: "hidden" });
}

module.exports = { wrong_password_then_right, who_may_not_change_reads_only, session_that_ends_loses_nothing };
