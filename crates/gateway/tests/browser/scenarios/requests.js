// Someone asks for something, follows it, and somebody else decides.
"use strict";

const assert = require("node:assert");
const { enter } = require("../people");
const pages = require("../pages");

/** Everything works without scripts, too. */
const WITHOUT_SCRIPTS = { javaScriptEnabled: false };

async function leave_requested_followed_and_approved(page, another) {
  page.allowed.push(/\b400\b.*\/start\/leave$/, /status of 400/);
  await enter(page, "ben");
  await page.goto("/");
  await page.waitForURL("**/inbox");
  await page.getByText("Nothing waits here.").waitFor();
  await pages.link(page, "New request").click();
  await page.getByLabel("Search").fill("days off");
  await page.waitForFunction(() => document.querySelectorAll(".cards li").length === 1);
  await pages.link(page, "Leave of absence").click();
  await page.getByLabel("First day").fill("2031-01-07");
  await page.getByLabel("Number of days").fill("31");
  await pages.button(page, "Send").click();
  await pages.warned(page, "Some fields need another answer.");
  assert.equal(await page.getByLabel("First day").inputValue(), "2031-01-07");
  await page.getByLabel("Number of days").fill("5");
  await page.getByLabel("Reference").fill("winter");
  await pages.button(page, "Send").click();
  await pages.told(page, "The request is sent.");
  await pages.card(page, "winter").getByText("waits for clerks").waitFor();
  await decide(await another(WITHOUT_SCRIPTS));
  await page.reload();
  await pages.card(page, "winter").getByText("answered by ada").waitFor();
  await pages.card(page, "winter").getByText("Finished").waitFor();
}

async function decide(page) {
  await enter(page, "ada");
  await page.goto("/inbox");
  await page.getByLabel("Search").fill("5 days of leave");
  await pages.button(page, "Search").click();
  await pages.row(page, "5 days of leave").getByRole("link").click();
  await page.getByRole("rowheader", { name: "First day" }).waitFor();
  assert.equal(await page.getByText("wf_complete_task").count(), 0);
  await pages.button(page, "Approve").click();
  await pages.told(page, "Approved: 5 days of leave");
  await page.goto("/inbox?whose=done");
  await pages.row(page, "5 days of leave").getByText("Approved").waitFor();
}

async function preferences_without_scripts(_, another) {
  const page = await another(WITHOUT_SCRIPTS);
  await enter(page, "ben");
  await page.goto("/preferences?next=/requests");
  await page.getByLabel("Language").selectOption("Deutsch");
  await page.getByLabel("Time zone").selectOption("Asia/Kolkata");
  await pages.button(page, "Save").click();
  await page.getByRole("heading", { name: "Meine Anträge" }).waitFor();
  assert.match(await page.locator("time").first().getAttribute("title"), /IST$/);
}

module.exports = { leave_requested_followed_and_approved, preferences_without_scripts };
