// The pages for those on duty: from the overview to what has failed, and how it is mended.
"use strict";

const assert = require("node:assert");
const fs = require("node:fs");
const { enter } = require("../people");
const pages = require("../pages");

async function incidents_of_one_cause_retried(page) {
  await enter(page, "ada");
  await page.goto("/inbox");
  await pages.link(page, "Operations").click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await page.getByRole("link", { name: "open incidents" }).click();
  await pages.row(page, "division by zero").getByRole("link", { name: "Retry these …" }).click();
  await page.getByText("Can be retried now: 3").waitFor();
  await pages.button(page, "Retry 3 instances").click();
  // The cause is still there.
  await pages.told(page, "3 still faulted");
  await page.getByText("All instances with these incidents were taken.").waitFor();
  await page.reload();
  await pages.told(page, "3 still faulted");
  await pages.link(page, "The incidents").click();
  await pages.card(page, "division by zero").nth(2).waitFor();
}

async function schedule_paused_and_resumed(page) {
  await enter(page, "ada");
  await page.goto("/schedules?q=purge");
  await pages.link(page, "purge").click();
  assert.match(await pages.fact(page, "Next runs"), /29 Feb/);
  await page.getByText("SQL of these buttons").click();
  await pages.shows_sql(page, "wf_alter_schedule('purge', active => false)");
  await pages.button(page, "Pause").click();
  await pages.told(page, "The schedule is paused");
  assert.equal(await pages.fact(page, "State"), "paused");
  await pages.button(page, "Resume").click();
  await pages.told(page, "The schedule runs again");
  assert.equal(await pages.fact(page, "State"), "active");
}

async function dead_letters_replayed(page) {
  await enter(page, "ada");
  await page.goto("/overview");
  await page.getByRole("link", { name: /^3 dead letters$/ }).click();
  await pages.button(page, "Replay Paid").first().click();
  await pages.told(page, "It is stored or due");
  await pages.link(page, "Replay all that match …").click();
  await page.getByText("Dead letters to replay: 2").waitFor();
  await pages.button(page, "Replay 2").click();
  await pages.told(page, "2 stored or due");
  await page.reload();
  await page.getByText("All of them were taken.").waitFor();
}

async function acts_found_and_saved(page) {
  await enter(page, "ada");
  await page.goto("/overview");
  await page.getByRole("navigation", { name: "Operations" }).getByRole("link", { name: "Audit", exact: true }).click();
  await page.getByLabel("Action", { exact: true }).fill("limit tasks");
  await pages.button(page, "Show").click();
  await pages.row(page, "limit tasks").waitFor();
  assert.equal(await page.getByLabel("Action", { exact: true }).inputValue(), "limit tasks");
  const [file] = await Promise.all([page.waitForEvent("download"), pages.link(page, "Download as CSV").click()]);
  assert.equal(file.suggestedFilename(), "audit.csv");
  const lines = fs.readFileSync(await file.path(), "utf8").trim().split("\r\n");
  assert.ok(lines.length === 2 && lines[1].includes(",limit tasks,"), lines.join("\n"));
}

module.exports = { acts_found_and_saved, incidents_of_one_cause_retried, dead_letters_replayed, schedule_paused_and_resumed };
