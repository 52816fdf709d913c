// A workflow from the first drag to its end.
"use strict";

const assert = require("node:assert");
const { enter } = require("../people");
const pages = require("../pages");
const studio = require("../studio");

async function definition_of_sql_is_drawn(page) {
  await enter(page, "ada");
  await page.goto("/");
  await page.getByText("Greeting", { exact: true }).click();
  await page.waitForURL("**/workflows/definitions/greeting/edit");
  await studio.drawn(page, 3);
  assert.equal(await page.title(), "Greeting · workflow");
  for (const type of ["WriteLine", "RunTask"]) await studio.node(page, type).first().waitFor();
}

async function designed_published_run_answered(page) {
  // Studio wants names that are not there yet.
  const name = `Letter ${Date.now()}`;
  await enter(page, "ada");
  await create(page, name);
  await draw(page);
  await leave_a_script_unfinished(page);
  await be_told_why_it_cannot_be_published(page);
  await put_it_right(page, name);
  await run_and_answer(page, name);
}

async function create(page, name) {
  await page.goto("/");
  await page.getByRole("button", { name: "Create workflow" }).first().click();
  await page.getByLabel("Name").first().fill(name);
  await page.getByRole("button", { name: "Ok", exact: true }).click();
  await page.waitForURL("**/workflows/definitions/*/edit");
}

async function draw(page) {
  await studio.add(page, "Console", "WriteLine", 40, 40);
  await studio.add(page, "Primitives", "RunTask", 250, 140);
  await studio.add(page, "Console", "WriteLine", 500, 40);
  const draft = studio.savedWith(page, ({ root }) => root.connections.length === 2);
  await studio.connect(page, "WriteLine1", "RunTask1");
  await studio.connect(page, "RunTask1", "WriteLine2");
  const { root, isPublished } = (await (await draft).json()).workflowDefinition;
  assert.equal(isPublished, false);
  // Studio writes them in the order of the canvas, which changes.
  const names = new Map(root.activities.map(({ id, name, type }) => [id, `${type} ${name}`]));
  assert.deepEqual([...names.values()].sort(), ["Elsa.RunTask RunTask1", "Elsa.WriteLine WriteLine1", "Elsa.WriteLine WriteLine2"]);
  assert.deepEqual(root.connections.map(({ source, target }) => [names.get(source.activity), source.port, names.get(target.activity)]), [
    ["Elsa.WriteLine WriteLine1", "Done", "Elsa.RunTask RunTask1"],
    ["Elsa.RunTask RunTask1", "Done", "Elsa.WriteLine WriteLine2"],
  ]);
}

const UNFINISHED = '"Signed by " +';
const activity = ({ root }, wanted) => root.activities.find(({ name }) => name === wanted);
const text = (definition) => activity(definition, "WriteLine2").text?.expression;

/** What does not compile is saved all the same. */
async function leave_a_script_unfinished(page) {
  await studio.choose(page, "WriteLine2");
  await studio.pick(page, studio.property(page, "Text").locator(".mud-menu button"), "JavaScript");
  const draft = studio.savedWith(page, (definition) => text(definition)?.value === UNFINISHED);
  await studio.write(page, "Text", UNFINISHED);
  assert.equal(text((await (await draft).json()).workflowDefinition).type, "JavaScript");
}

async function be_told_why_it_cannot_be_published(page) {
  page.allowed.push(/\b400\b.*\/elsa\/api\/workflow-definitions$/);
  assert.equal((await studio.publish(page)).status(), 400);
  for (const message of ["workflow definition has a problem", /^WriteLine2, text: invalid JavaScript/]) {
    const shown = studio.said(page, message);
    await shown.waitFor();
    await shown.locator("button").click();
    await shown.waitFor({ state: "hidden" });
  }
}

async function put_it_right(page, name) {
  const script = `${UNFINISHED} getLastResult()`;
  const draft = studio.savedWith(page, (definition) => text(definition)?.value === script);
  await studio.write(page, "Text", script);
  await draft;
  await studio.choose(page, "RunTask1");
  const task = studio.savedWith(page, (definition) => activity(definition, "RunTask1").taskName?.expression?.value === name);
  const field = studio.property(page, "Task name").locator("input").first();
  await field.fill(name);
  await field.blur();
  await task;
  const { workflowDefinition } = await (await studio.publish(page)).json();
  assert.deepEqual([workflowDefinition.isPublished, workflowDefinition.version], [true, 1]);
  await studio.said(page, "Workflow published").waitFor();
}

/** What another page does to the instance is seen without loading the viewer again. */
async function run_and_answer(page, task) {
  const instance = await studio.run(page);
  await studio.drawn(page, 3);
  await studio.detail(page, "Sub status", "Suspended").waitFor();
  const inbox = await page.context().newPage();
  // The task is for programs, and asks for no form.
  await pages.develop(inbox);
  await inbox.goto("/inbox?whose=all&every=yes");
  await inbox.getByRole("link", { name: task }).click();
  await inbox.getByRole("textbox", { name: "Answer" }).fill('"Ada"');
  await inbox.getByRole("button", { name: "Complete", exact: true }).click();
  await inbox.getByRole("status").filter({ hasText: `Completed: ${task}` }).waitFor();
  await studio.detail(page, "Sub status", "Finished").waitFor();
  await page.getByText("WriteLine - Completed").nth(1).waitFor();
  await inbox.goto(`/instances/${instance}`);
  await inbox.locator(".story").filter({ hasText: "Signed by Ada" }).waitFor({ state: "attached" });
}

module.exports = { definition_of_sql_is_drawn, designed_published_run_answered };
