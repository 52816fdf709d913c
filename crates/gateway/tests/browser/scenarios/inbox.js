// Tasks that wait for people.
"use strict";

const assert = require("node:assert");
const { enter } = require("../people");
const pages = require("../pages");

async function task_taken_answered_by_its_form(page) {
  page.allowed.push(/\b400\b.*\/inbox\/[-0-9a-f]+$/);
  await enter(page, "ada");
  await list(page, "of my roles");
  await pages.card(page, "expense-1").waitFor();
  assert.equal(await pages.card(page, "Wait").count(), 0);
  await list(page, "assigned to me");
  await page.getByText("There are no such tasks for ada.").waitFor();
  await list(page, "all that I can see");
  await pages.card(page, "Wait").first().waitFor();
  await take_and_give_back(page);
  await answer(page);
}

async function list(page, whose) {
  await page.goto("/inbox");
  await page.getByLabel("Tasks").selectOption(whose);
  await pages.button(page, "Show").click();
}

const open = (page, expense) => pages.card(page, expense).getByRole("link").click();

async function take_and_give_back(page) {
  await open(page, "expense-1");
  await page.getByText("a train to Turin").waitFor();
  assert.equal(await pages.fact(page, "Who may do it"), "role:clerks");
  await pages.button(page, "Take").click();
  await pages.told(page, "The task is assigned to you.");
  await list(page, "assigned to me");
  assert.equal(await pages.card(page, "").count(), 1);
  await open(page, "expense-1");
  await pages.button(page, "Give back").click();
  await pages.told(page, "The task is no longer assigned.");
}

/** What the schema refuses is said at its field; nothing that was typed is lost. */
async function answer(page) {
  await list(page, "of my roles");
  await open(page, "expense-1");
  await page.getByLabel("Yes").check();
  await page.getByLabel("Account").selectOption("training");
  await page.getByLabel("Amount").fill("501");
  await pages.button(page, "Complete").click();
  await pages.warned(page, "Some fields need another answer.");
  const amount = page.getByLabel("Amount");
  assert.equal(await amount.getAttribute("aria-invalid"), "true");
  assert.deepEqual([await amount.inputValue(), await page.getByLabel("Account").inputValue()], ["501", "training"]);
  assert.equal(await page.getByLabel("Yes").isChecked(), true);
  await amount.fill("40");
  await pages.button(page, "Show its SQL").click();
  await pages.shows_sql(page, "wf_complete_task(");
  const instance = await pages.link(page, "instance").getAttribute("href");
  await pages.button(page, "Complete").click();
  await pages.told(page, "The task is completed.");
  assert.equal(await pages.card(page, "expense-1").count(), 0);
  await page.goto(instance);
  assert.equal(await pages.fact(page, "State"), "Finished");
  await page.locator(".story").filter({ hasText: "40 for training" }).waitFor();
}

async function task_failed_with_a_reason_and_tried_again(page) {
  await enter(page, "ada");
  await list(page, "all that I can see");
  await open(page, "expense-2");
  // Without a reason the browser itself refuses.
  await pages.button(page, "Fail").click();
  assert.equal(await page.getByLabel("Reason").evaluate((field) => field.validity.valueMissing), true);
  await page.getByLabel("Reason").fill("the receipt is illegible");
  await page.getByLabel("Code").fill("illegible");
  await pages.button(page, "Fail").click();
  await pages.told(page, "The task has failed: its activity has faulted.");
  await pages.link(page, "Incidents").click();
  const incident = pages.card(page, "the receipt is illegible");
  await incident.getByText("illegible", { exact: false }).first().waitFor();
  await incident.getByRole("link", { name: "Retry approve …" }).click();
  await pages.button(page, "Retry").click();
  await pages.told(page, "The faulted activities ran again.");
  await pages.link(page, "Open the task").click();
  await page.getByText("a train to Turin").waitFor();
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
  await page.locator(".story").filter({ hasText: "7 for travel" }).waitFor();
}

module.exports = { task_taken_answered_by_its_form, task_failed_with_a_reason_and_tried_again };
