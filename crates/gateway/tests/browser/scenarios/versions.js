// Versions of a definition, and files of definitions.
"use strict";

const assert = require("node:assert");
const fs = require("node:fs/promises");
const { enter } = require("../people");
const studio = require("../studio");

async function history_rolled_back_exported_and_imported(page) {
  await enter(page, "ada");
  await studio.open(page, "history");
  await studio.drawn(page, 2);
  await studio.tab(page, "Version history");
  await look_at_the_first_version(page);
  await roll_back(page);
  const file = await export_it(page);
  await import_into_the_editor(page, file);
  await import_from_the_list(page, file);
}

/** Versions as the list shows them, the newest first. */
async function versions(page, expected) {
  await studio.rows(page, "").nth(expected.length - 1).waitFor();
  const cells = await page.locator("tbody .mud-table-row td:nth-child(3)").allInnerTexts();
  assert.deepEqual(cells, expected);
}

const menu = (page, version) =>
  page.locator("tbody .mud-table-row").filter({ has: page.locator(`td:nth-child(3):text-is("${version}")`) }).locator(".mud-menu button");

async function look_at_the_first_version(page) {
  await versions(page, ["2", "1"]);
  await studio.pick(page, menu(page, 1), "View");
  await studio.drawn(page, 1);
  await page.getByText("Version 1", { exact: true }).waitFor();
  assert.equal(await page.getByText("Auto-save").count(), 0);
}

async function roll_back(page) {
  const answer = studio.answered(page, "/revert/1");
  await studio.pick(page, menu(page, 1), "Rollback to this version");
  assert.equal((await answer).status(), 200);
  await versions(page, ["3", "2", "1"]);
  await studio.drawn(page, 1);
  await page.getByText("Auto-save").waitFor();
}

async function export_it(page) {
  await studio.pick(page, studio.more(page), "Export");
  const download = page.waitForEvent("download");
  await studio.confirm(page);
  const file = await download;
  assert.equal(file.suggestedFilename(), "workflow-definition-history.json");
  const document = JSON.parse(await fs.readFile(await file.path(), "utf8"));
  assert.deepEqual([document.definitionId, document.version, document.root.activities.length], ["history", 3, 1]);
  return document;
}

const upload = (document) => ({ name: "definition.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(document)) });

async function import_into_the_editor(page, document) {
  const [activity] = document.root.activities;
  const activities = ["one", "two", "three"].map((id) => ({ ...activity, id, nodeId: null, name: id }));
  const answer = studio.answered(page, "/workflow-definitions/import");
  await page.locator("input[type=file]").first().setInputFiles(upload({ ...document, root: { ...document.root, activities } }));
  assert.equal((await answer).status(), 200);
  await studio.drawn(page, 3);
}

async function import_from_the_list(page, document) {
  await page.goto("/definitions");
  await studio.rows(page, "").first().waitFor();
  const answer = studio.answered(page, "/workflow-definitions/import");
  await page.locator("input[type=file]").setInputFiles(upload({ ...document, definitionId: "history-copy", name: "History, copied" }));
  const imported = await (await answer).json();
  assert.deepEqual([imported.definitionId, imported.isPublished, imported.root.activities.length], ["history-copy", false, 1]);
  await page.getByPlaceholder("Search").fill("copied");
  await studio.rows(page, "History, copied").waitFor();
}

module.exports = { history_rolled_back_exported_and_imported };
