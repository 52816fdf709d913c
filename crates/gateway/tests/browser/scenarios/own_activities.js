// Studio's editors of what is not Elsa's: SQL, forms, retry, catches. And definitions without positions.
"use strict";

const assert = require("node:assert");
const { enter } = require("../people");
const studio = require("../studio");

const ROOT = {
  type: "Flowchart",
  id: "flow",
  activities: [
    { type: "Sql", id: "query", statement: "SELECT 1 AS one", parameters: [{ deep: 1 }], retry: { maxAttempts: 2 } },
    { type: "RunTask", id: "ask", taskName: "Ask", payload: { amount: 250 }, form: { title: "A form" } },
    { type: "Try", id: "try", body: { type: "WriteLine", id: "body", text: "a" },
      catch: [{ on: ["22012"], body: { type: "WriteLine", id: "caught", text: "c" } }] },
  ],
  connections: [{ source: "query", target: "ask" }, { source: "ask", target: "try" }],
};

const node = (page, id) => page.locator(`.x6-node[data-cell-id="${id}"]`);
/** The editor of code with this label. */
const editor = (page, label) =>
  page.locator(".mud-input-control").filter({ has: page.locator("label", { hasText: new RegExp(`^${label}$`) }) }).locator(".monaco-editor").first();

/** Opens an activity, once the editors of the one before are gone. */
async function choose(page, id, label) {
  await node(page, id).click({ position: { x: 30, y: 15 } });
  await editor(page, label).scrollIntoViewIfNeeded();
}

/** What stands in an editor. Monaco writes blanks that do not break. */
const shows = (page, label, text) =>
  page.waitForFunction(
    ([label, text]) => [...document.querySelectorAll(".mud-input-control")].some((control) =>
      [...control.querySelectorAll("label")].some((one) => one.innerText === label) &&
      (control.querySelector(".view-lines")?.innerText ?? "").replace(/\s+/g, " ").includes(text)),
    [label, text],
  );

/** Writes over what an editor has, and gives the answer to the save that follows. */
async function write(page, label, text) {
  await editor(page, label).click();
  await page.keyboard.press("Control+A");
  const saved = studio.savedAs(page, (request) => JSON.stringify(request).includes(JSON.stringify(text)));
  await page.keyboard.press("Delete");
  // The editor closes a bracket or quote that is opened, and passes over what it has closed itself.
  await page.keyboard.type(text);
  return (await (await saved).json()).workflowDefinition;
}

const activity = (definition, id) => definition.root.activities.find((one) => one.id === id);

async function own_activities_have_editors(page) {
  const id = `own-${Date.now()}`;
  await enter(page, "ada");
  const imported = await page.request.post("/elsa/api/workflow-definitions/import", {
    data: { definitionId: id, name: id, root: ROOT },
    headers: { Origin: new URL(process.env.URL).origin },
  });
  assert.equal(imported.status(), 200);

  await studio.open(page, id);
  await studio.drawn(page, 3);
  // It has no positions: the activities stand beside each other, in the order of the flow.
  const places = await Promise.all(["query", "ask", "try"].map((one) => node(page, one).boundingBox()));
  for (const at of [0, 1]) assert.ok(places[at].x + places[at].width < places[at + 1].x, JSON.stringify(places));

  await choose(page, "query", "Statement");
  await shows(page, "Statement", "SELECT 1 AS one");
  // SQL has colours.
  await editor(page, "Statement").locator(".view-line [class*=mtk]").nth(1).waitFor();
  await shows(page, "Parameters", '"deep"');
  await shows(page, "Retry", '"maxAttempts": 2');
  const changed = await write(page, "Retry", '{"maxAttempts": 3}');
  assert.deepEqual(activity(changed, "query")["customProperties.retry"], { maxAttempts: 3 });
  assert.equal(activity(changed, "query").statement.expression.value, "SELECT 1 AS one");

  await choose(page, "ask", "Form");
  await shows(page, "Payload", '"amount":250');
  await shows(page, "Form", '"title":"A form"');

  await choose(page, "try", "Catch");
  await shows(page, "Catch", '"id": "caught"');
  const caught = await write(page, "Catch", '[{"body": {"type": "WriteLine", "id": "any", "text": "any"}}]');
  assert.equal(activity(caught, "try").catch[0].body.type, "Elsa.WriteLine");

  await page.reload();
  await studio.drawn(page, 3);
  await choose(page, "query", "Retry");
  await shows(page, "Retry", '"maxAttempts": 3');
  const { workflowDefinition } = await (await studio.publish(page)).json();
  assert.equal(workflowDefinition.isPublished, true);
  assert.deepEqual(activity(workflowDefinition, "query")["customProperties.retry"], { maxAttempts: 3 });
}

module.exports = { own_activities_have_editors };
