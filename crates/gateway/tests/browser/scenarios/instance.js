// One instance: what it is, and what can be done with it.
"use strict";

const assert = require("node:assert");
const { enter } = require("../people");
const pages = require("../pages");

async function faulted_instance_repaired_moved_and_cancelled(page) {
  page.allowed.push(/\b400\b.*\/set-variable$/);
  await enter(page, "ada");
  await page.goto("/incidents");
  await pages.card(page, "no rate yet").getByRole("link", { name: "Quote", exact: true }).click();
  await look(page);
  await set_variable(page);
  await retry(page);
  await pause_and_go_on(page);
  await migrate(page);
  await cancel(page);
}

async function look(page) {
  assert.equal(await pages.fact(page, "State"), "Faulted");
  assert.equal(await pages.fact(page, "Correlation id"), "quote-1");
  await pages.section(page, "Incidents").getByText("JavaScript error: Error: no rate yet").waitFor();
  await pages.section(page, "Timeline").getByRole("row", { name: "price" }).getByText("faulted", { exact: true }).waitFor();
  await page.getByText("What happened, line by line").click();
  await page.locator(".story").filter({ hasText: "no rate yet" }).waitFor();
  const picture = page.locator(".picture img");
  await picture.scrollIntoViewIfNeeded();
  await page.waitForFunction((image) => image.complete && image.naturalWidth > 100, await picture.elementHandle());
}

const rate = (page) => pages.section(page, "Values").getByRole("row", { name: "Rate" }).getByRole("cell").first().innerText();

async function set_variable(page) {
  assert.equal(await rate(page), "0");
  await pages.link(page, "Set Rate").click();
  assert.equal(await page.getByLabel("Name").inputValue(), "Rate");
  await page.getByLabel("Value, as JSON").fill("three");
  await pages.button(page, "Set").click();
  await page.getByText("invalid input syntax for type json").waitFor();
  assert.equal(await page.getByLabel("Value, as JSON").inputValue(), "three");
  await page.getByLabel("Value, as JSON").fill("3");
  await page.getByLabel("Reason").fill("the bank has answered");
  await pages.button(page, "Show its SQL").click();
  await pages.shows_sql(page, "wf_set_variable(");
  await pages.button(page, "Set").click();
  await pages.told(page, "The variable is set.");
  assert.equal(await rate(page), "3");
}

async function retry(page) {
  await pages.link(page, "Retry price …").click();
  assert.equal(await page.getByLabel("Activity, or nothing for all").inputValue(), "price");
  await pages.button(page, "Retry").click();
  await pages.told(page, "The faulted activities ran again.");
  assert.equal(await pages.fact(page, "State"), "Suspended");
  assert.equal(await pages.section(page, "Incidents").count(), 0);
  await pages.card(page, "check (Check quote)").getByRole("link", { name: "Open the task" }).waitFor();
}

async function pause_and_go_on(page) {
  const other = await page.context().newPage();
  await other.goto(page.url());
  await pages.link(page, "Pause …").click();
  await page.getByLabel("Reason").fill("the bank is closed");
  await pages.button(page, "Pause").click();
  await pages.told(page, "The instance is paused.");
  assert.match(await pages.fact(page, "State"), /^Suspended · paused since .* by ada: the bank is closed$/);
  // Another page shows it without being loaded again.
  await other.bringToFront();
  await other.locator('dt:text-is("State") + dd').filter({ hasText: "paused since" }).waitFor();
  await other.close();
  await page.bringToFront();
  await pages.link(page, "Unpause …").click();
  await pages.button(page, "Unpause").click();
  await pages.told(page, "The pause has ended.");
  assert.equal(await pages.fact(page, "State"), "Suspended");
}

/** There is no button that migrates before a dry run. */
async function migrate(page) {
  await pages.link(page, "Migrate …").click();
  assert.equal(await pages.button(page, "Migrate").count(), 0);
  await page.getByLabel("Version", { exact: true }).fill("2");
  await pages.button(page, "Dry run").click();
  await pages.told(page, "The dry run has found nothing that stands against it.");
  await pages.button(page, "Migrate").click();
  await pages.told(page, "The instance is in the other version.");
  assert.equal(await pages.fact(page, "Workflow"), "Quote, version 2, of ada");
}

async function cancel(page) {
  await pages.link(page, "Cancel …").click();
  await page.getByLabel("Reason").fill("the customer has left");
  await pages.button(page, "Cancel the instance").click();
  await pages.told(page, "The instance is cancelled.");
  assert.equal(await pages.fact(page, "State"), "Cancelled");
  await page.getByText("It has ended.").waitFor();
  await page.locator(".story").filter({ hasText: "the customer has left" }).waitFor({ state: "attached" });
}

module.exports = { faulted_instance_repaired_moved_and_cancelled };
