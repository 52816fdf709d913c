// Elsa Studio, as the scenarios use it. It has few names for its buttons: places and pictures stand for them.
"use strict";

const PUBLISH = "button.mud-icon-button.mud-primary-text";
const RUN = "button.mud-icon-button.mud-success-text";

const whole = (text) => new RegExp(`^\\s*${text}\\s*$`);

/** Waits for an answer while the scenario goes on: it may fail before it looks at it. */
function later(promise) {
  promise.catch(() => {});
  return promise;
}

const isSave = (answer) => answer.request().method() === "POST" && answer.url().endsWith("/elsa/api/workflow-definitions");
/** The answer to the next save. */
const saved = (page) => later(page.waitForResponse(isSave));
/** The answer to the next call of that path below the API. */
const answered = (page, path) => later(page.waitForResponse((answer) => new URL(answer.url()).pathname.endsWith(path)));

/** Each save of an editor is made when it has rested: more can follow, and the last one counts. */
const savedWith = (page, isWanted) =>
  later(page.waitForResponse(async (answer) => isSave(answer) && answer.ok() && isWanted((await answer.json()).workflowDefinition)));

/** The answer to a save that sends what is wanted. */
const savedAs = (page, isWanted) => later(page.waitForResponse((answer) => isSave(answer) && isWanted(answer.request().postDataJSON())));

const open = (page, definition) => page.goto(`/workflows/definitions/${definition}/edit`);
const nodes = (page) => page.locator(".x6-node");
const node = (page, name) => nodes(page).filter({ hasText: name });
const counted = (page, what, count) =>
  page.waitForFunction(([what, count]) => document.querySelectorAll(what).length === count, [what, count]);
const drawn = (page, count) => counted(page, ".x6-node", count);

/** Drags a type from the list of activities to a place of the canvas. */
async function add(page, category, type, x, y) {
  const panel = page.locator(".mud-expand-panel").filter({ has: page.locator(".mud-expand-panel-text", { hasText: whole(category) }) });
  const tile = panel.locator("[draggable=true]").filter({ hasText: whole(type) });
  if (!(await tile.isVisible())) await panel.locator(".mud-expand-panel-header").click();
  const before = await nodes(page).count();
  await tile.dragTo(page.locator(".x6-graph").first(), { targetPosition: { x, y } });
  await drawn(page, before + 1);
}

async function center(locator) {
  const { x, y, width, height } = await locator.boundingBox();
  return [x + width / 2, y + height / 2];
}

/** Drags a connection from the port of one activity to another activity. */
async function connect(page, source, target) {
  const port = (name, port) => center(node(page, name).locator(`[port="${port}"] .elsa-designer-port-hit-area`));
  const before = await page.locator(".x6-edge").count();
  await page.mouse.move(...(await port(source, "Done")));
  await page.mouse.down();
  await page.mouse.move(...(await port(target, "In")), { steps: 5 });
  await page.mouse.up();
  await counted(page, ".x6-edge", before + 1);
}

/** Clicks on an activity. The frame of the one that is chosen already lies over it. */
const choose = (page, name) => node(page, name).click({ force: true, position: { x: 60, y: 10 } });

/** A property of the chosen activity, with its menu. */
const property = (page, label) =>
  page.locator("form.mud-form [role=group].flex-row").filter({ has: page.locator("label", { hasText: whole(label) }) });

const item = (page, text) => page.locator(".mud-popover-open").getByText(text, { exact: true });

/** Types a script into the editor of a property, in place of what is there. */
async function write(page, label, script) {
  await property(page, label).locator(".monaco-editor").first().click();
  await page.keyboard.press("ControlOrMeta+A");
  // What is typed over a choice would be put around it.
  await page.keyboard.press("Delete");
  await page.keyboard.type(script);
}

/** What Studio says for a while at the top of the page. */
const said = (page, text) => page.locator(".mud-snackbar").filter({ hasText: text }).first();

async function publish(page) {
  const answer = saved(page);
  await page.locator(PUBLISH).first().click();
  return answer;
}

/** Runs what the editor shows, and goes where Studio goes. */
async function run(page) {
  await page.locator(RUN).click();
  await page.waitForURL("**/workflows/instances/*/view");
  return new URL(page.url()).pathname.split("/").at(-2);
}

/** A line of the details of an instance. */
const detail = (page, name, value) => page.locator("tr").filter({ hasText: name }).getByText(value, { exact: true }).first();

/** Opens a tab; those that do not fit in are there, and cannot be clicked on by a pointer. */
const tab = (page, name) => page.locator(".mud-tab").filter({ hasText: name }).evaluate((tab) => tab.click());

const rows = (page, text) => page.locator("tbody .mud-table-row").filter({ hasText: text });

/** Does what a menu of a row, or of the list, has: Studio asks again before some of them. */
async function pick(page, button, text) {
  await button.click();
  await item(page, text).click();
}

/** Says yes: that is the last button, whatever it is called. */
const confirm = (page) => page.locator(".mud-dialog button").last().click();

/** The menu beside the button that publishes. */
const more = (page) => page.locator(`${PUBLISH} >> xpath=ancestor::*[contains(@class, "mud-button-group-root")][1]`).locator("button").last();

module.exports = {
  add, answered, choose, confirm, connect, detail, drawn, more, node, open, pick, property, publish, rows, run, said, saved,
  savedAs, savedWith, tab, write,
};
