// What is done to many definitions or instances at once.
"use strict";

const assert = require("node:assert");
const { enter } = require("../people");
const studio = require("../studio");

/** Narrows the list, and ticks rows. */
async function choose(page, search, texts) {
  await page.getByPlaceholder("Search").fill(search);
  for (const text of texts) await studio.rows(page, text).locator("input[type=checkbox]").check();
}

async function act(page, action, path) {
  const answer = studio.answered(page, path);
  await studio.pick(page, page.getByRole("button", { name: "Bulk actions" }), action);
  await studio.confirm(page);
  return (await answer).json();
}

async function definitions_published_retracted_and_deleted_at_once(page) {
  const drafts = ["bulk-1", "bulk-2", "bulk-3"];
  await enter(page, "ada");
  await page.goto("/definitions");
  await choose(page, "Bulk", drafts);
  const published = await act(page, "Publish", "/publish/workflow-definitions/by-definition-ids");
  assert.deepEqual(published.published.sort(), drafts);
  // Then the list is read again, and nothing is ticked any more.
  await studio.said(page, "3 workflows are published").waitFor();
  for (const draft of drafts) await shows(page, draft, "1");
  await choose(page, "Bulk", ["bulk-1", "bulk-2"]);
  const retracted = await act(page, "Unpublish", "/retract/workflow-definitions/by-definition-ids");
  assert.deepEqual(retracted.retracted.sort(), ["bulk-1", "bulk-2"]);
  await studio.said(page, "2 workflows are unpublished").waitFor();
  await shows(page, "bulk-1", "-");
  await shows(page, "bulk-3", "1");
  // The one that an instance runs on stays, and does not keep the others.
  await choose(page, "Bulk", ["bulk-0", "bulk-1", "bulk-2"]);
  const deleted = await act(page, "Delete", "/delete/workflow-definitions/by-definition-id");
  assert.equal(deleted.deleted, 2);
  await studio.rows(page, "bulk-1").waitFor({ state: "detached" });
  await studio.rows(page, "bulk-2").waitFor({ state: "detached" });
  await studio.rows(page, "bulk-0").waitFor();
}

/** Waits for the published version of a definition in the list. */
const shows = (page, definition, version) =>
  studio.rows(page, definition).locator("td:nth-child(5)").filter({ hasText: new RegExp(`^\\s*${version}\\s*$`) }).waitFor();

async function instances_cancelled_and_deleted_at_once(page) {
  const chosen = ["waiting-1", "waiting-2"];
  await enter(page, "ada");
  await page.goto("/instances");
  await choose(page, "waiting", chosen);
  assert.equal((await act(page, "Cancel", "/cancel/workflow-instances")).cancelledCount, 2);
  for (const id of chosen) await studio.rows(page, id).getByText("Cancelled", { exact: true }).waitFor();
  await studio.rows(page, "waiting-3").getByText("Suspended", { exact: true }).waitFor();
  await choose(page, "waiting", chosen);
  assert.equal((await act(page, "Delete", "/delete/workflow-instances/by-id")).deleted, 2);
  for (const id of chosen) await studio.rows(page, id).waitFor({ state: "detached" });
  await studio.rows(page, "waiting-3").waitFor();
}

module.exports = { definitions_published_retracted_and_deleted_at_once, instances_cancelled_and_deleted_at_once };
