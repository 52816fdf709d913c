// Tasks that wait for people.
"use strict";

const assert = require("node:assert");
const { enter } = require("../people");
const pages = require("../pages");

async function task_taken_answered_by_its_form(page) {
  page.allowed.push(/\b400\b.*\/inbox\/[-0-9a-f]+(\?.*)?$/, /status of 400/);
  await enter(page, "ada");
  await list(page, "For my groups");
  await pages.row(page, "expense-1").waitFor();
  assert.equal(await pages.row(page, "Wait").count(), 0);
  await list(page, "For me");
  await page.getByText("Nothing waits here.").waitFor();
  await list(page, "All");
  assert.equal(await pages.row(page, "Wait").count(), 0);
  await page.getByLabel("with work for programs").check();
  await pages.row(page, "Wait").first().waitFor();
  // Other scenarios have deleted the others.
  await page.getByLabel("Search").fill("waiting-3");
  await page.waitForFunction(() => document.querySelectorAll(".list tbody tr").length === 1);
  assert.match(page.url(), /q=waiting-3/);
  await take_and_give_back(page);
  await answer(page);
}

async function list(page, name) {
  await page.goto("/inbox");
  await page.getByRole("navigation", { name: "Lists" }).getByRole("link", { name }).first().click();
  await page.locator(`[aria-current=page]:has-text("${name}")`).waitFor();
}

const open = (page, expense) => pages.row(page, expense).getByRole("link").click();

async function take_and_give_back(page) {
  await list(page, "For my groups");
  await open(page, "expense-1");
  await page.getByRole("cell", { name: "a train to Turin" }).waitFor();
  assert.equal(await pages.fact(page, "For"), "clerks");
  await pages.button(page, "Take").click();
  await pages.told(page, "The task is assigned to you.");
  await list(page, "For me");
  assert.equal(await pages.row(page, "").count(), 1);
  await open(page, "expense-1");
  await pages.button(page, "Give back").click();
  await pages.told(page, "The task is no longer assigned.");
}

/** What the schema refuses is said at its field; nothing that was typed is lost. The next task of the list follows. */
async function answer(page) {
  await pages.develop(page);
  await list(page, "For my groups");
  await open(page, "expense-1");
  await page.getByLabel("Account").selectOption("training");
  await page.getByLabel("Amount").fill("501");
  await pages.button(page, "Approve").click();
  await pages.warned(page, "Some fields need another answer.");
  const amount = page.getByLabel("Amount");
  assert.equal(await amount.getAttribute("aria-invalid"), "true");
  assert.deepEqual([await amount.inputValue(), await page.getByLabel("Account").inputValue()], ["501", "training"]);
  await page.getByRole("alert").getByRole("link", { name: "Amount" }).click();
  await amount.fill("40");
  await pages.button(page, "Show its SQL").click();
  await pages.shows_sql(page, "wf_complete_task(");
  const instance = await pages.link(page, "instance").getAttribute("href");
  await pages.button(page, "Approve").click();
  await pages.told(page, "Approved: Approve expense");
  await page.getByRole("heading", { name: "Approve expense" }).waitFor();
  await list(page, "For my groups");
  assert.equal(await pages.row(page, "expense-1").count(), 0);
  await page.goto(instance);
  assert.equal(await pages.fact(page, "State"), "Finished");
  await page.locator(".story").filter({ hasText: "40 for training" }).waitFor({ state: "attached" });
}

async function task_failed_with_a_reason_and_tried_again(page) {
  await enter(page, "ada");
  await pages.develop(page);
  await list(page, "All");
  await open(page, "expense-2");
  await page.getByText("It cannot be done", { exact: true }).click();
  // Without a reason the browser itself refuses.
  await pages.button(page, "Fail").click();
  assert.equal(await page.getByLabel("Reason").evaluate((field) => field.validity.valueMissing), true);
  await page.getByLabel("Reason").fill("the receipt is illegible");
  await page.getByLabel("Code").fill("illegible");
  await pages.button(page, "Fail").click();
  await pages.told(page, "The task has failed: its activity has faulted.");
  await pages.link(page, "Operations").click();
  await page.getByRole("navigation", { name: "Operations" }).getByRole("link", { name: "Incidents", exact: true }).click();
  const incident = pages.card(page, "the receipt is illegible");
  await incident.getByText("illegible", { exact: false }).first().waitFor();
  await incident.getByRole("link", { name: "Retry approve …" }).click();
  await pages.button(page, "Retry").click();
  await pages.told(page, "The faulted activities ran again.");
  await pages.link(page, "Open the task").click();
  await page.getByRole("cell", { name: "a train to Turin" }).waitFor();
  await pages.link(page, "instance").click();
  await resume(page);
}

/** Answers in place of who would answer, where it waits. */
async function resume(page) {
  await pages.link(page, "Resume approve …").click();
  await page.getByLabel("Input, as JSON").fill('{"approved": true, "account": "travel", "amount": 7}');
  await pages.button(page, "Resume").click();
  await pages.told(page, "The instance was resumed.");
  assert.equal(await pages.fact(page, "State"), "Finished");
  await page.locator(".story").filter({ hasText: "7 for travel" }).waitFor({ state: "attached" });
}

/** Comments, asks a colleague, and names a substitute. What is late is marked. */
async function task_commented_and_passed_on(page, another) {
  await enter(page, "ada");
  await list(page, "For my groups");
  await pages.row(page, "receipt of a taxi").locator(".late").waitFor();
  await open(page, "receipt of a taxi");
  await page.getByLabel("New comment").fill("Which day was that?");
  await pages.button(page, "Comment").click();
  await pages.told(page, "The comment is added.");
  await page.getByText("Pass on to a colleague", { exact: true }).click();
  await page.getByLabel("Who answers instead").fill("ben");
  await pages.button(page, "Pass on").click();
  await pages.told(page, "Passed on to ben: A receipt of a taxi");
  await pages.link(await substituted(page), "Inbox").click();
  const ben = await another();
  await enter(ben, "ben");
  await list(ben, "For me");
  await open(ben, "receipt of a taxi");
  await ben.getByText("Which day was that?").waitFor();
  await pages.button(ben, "Complete").click();
  await pages.told(ben, "Completed: A receipt of a taxi");
}

/** Names a substitute, and removes it again. */
async function substituted(page) {
  await page.locator("details.account summary").click();
  await pages.link(page, "Substitutes").click();
  await page.getByLabel("Who answers for you").fill("dora");
  await page.getByLabel("Last day").fill("2999-12-31");
  await pages.button(page, "Save").click();
  await pages.card(page, "dora answers for you").waitFor();
  await pages.button(page, "Remove dora").click();
  await pages.told(page, "The substitute is removed.");
  return page;
}

module.exports = { task_commented_and_passed_on, task_taken_answered_by_its_form, task_failed_with_a_reason_and_tried_again };
