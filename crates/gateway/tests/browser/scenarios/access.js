// Pages of ours without a mouse, and on a telephone.
"use strict";

const assert = require("node:assert");
const { enter, PASSWORDS } = require("../people");
const pages = require("../pages");

// More than any of the pages has to step through.
const MOST_STEPS = 60;

/** What has the focus: its name as it is read out, and whether one can see that it has it. */
const focused = (page) =>
  page.evaluate(() => {
    const element = document.activeElement;
    const labels = [...(element.labels ?? [])].map((label) => label.textContent);
    const style = getComputedStyle(element);
    return {
      name: (element.getAttribute("aria-label") ?? (labels.join(" ") || element.textContent)).trim().replace(/\s+/g, " "),
      isSeen: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0,
    };
  });

/** Goes on with the Tab key until what has that name has the focus. */
async function step(page, name) {
  const passed = [];
  for (let steps = 0; steps < MOST_STEPS; steps += 1) {
    await page.keyboard.press("Tab");
    const here = await focused(page);
    assert.ok(here.isSeen || here.name === "", `one sees that "${here.name}" has the focus`);
    if (here.name.startsWith(name)) return;
    passed.push(here.name);
  }
  assert.fail(`"${name}" is not reached by the Tab key, but ${passed.join(" | ")}`);
}

async function press(page, name, key = "Enter") {
  await step(page, name);
  await page.keyboard.press(key);
}

async function task_completed_by_keyboard_alone(page) {
  await page.goto("/inbox");
  // The first field takes the focus by itself.
  await page.waitForFunction(() => document.activeElement.name === "role");
  await page.keyboard.type("ada");
  await step(page, "Password");
  await page.keyboard.type(PASSWORDS.ada);
  await page.keyboard.press("Enter");
  await page.waitForURL("**/inbox");
  await press(page, "Skip to the content");
  await press(page, "Approve expense");
  await page.waitForURL("**/inbox/*");
  await page.getByRole("cell", { name: "a train to Turin" }).waitFor();
  await press(page, "Skip to the content");
  await step(page, "Account");
  await page.keyboard.type("training");
  await step(page, "Amount");
  await page.keyboard.type("12");
  await press(page, "Approve");
  await pages.told(page, "Approved: Approve expense");
}

const ACTIONS = ["resume", "retry", "cancel", "pause", "unpause", "set-variable", "migrate"];

/** The definition has names and values that are as long as they can be. */
async function pages_fit_into_360_pixels(first, another) {
  const page = await another({ viewport: { width: 360, height: 740 } });
  await page.goto("/login");
  await fits(page);
  await enter(page, "ada");
  await visit(page, "/inbox?whose=all&every=yes");
  const task = await page.getByRole("link", { name: "TaskTask" }).first().getAttribute("href");
  await visit(page, task);
  await visit(page, `${task}&as=json`);
  const instance = await pages.link(page, "instance").getAttribute("href");
  await visit(page, instance);
  await visit(page, `${instance}/timeline`);
  for (const action of ACTIONS) await visit(page, `${instance}/${action}?name=Variable`);
  for (const path of ["/overview", "/search", "/workers", "/schedules", "/dead-letters?all=yes", "/incidents/retry?definition=fault", "/audit", "/incidents"]) await visit(page, path);
  await page.getByText("messagemessage").first().waitFor();
  first.allowed.push(/\b404\b.*\/instances\/nothing$/);
  await visit(page, "/instances/nothing");
}

async function visit(page, path) {
  await page.goto(path);
  await fits(page);
  // All that can be opened is open: what it shows has to fit in as well.
  await page.evaluate(() => document.querySelectorAll("details").forEach((details) => (details.open = true)));
  await fits(page);
}

async function fits(page) {
  const [wide, most] = await page.evaluate(() => [
    document.documentElement.scrollWidth,
    [...document.querySelectorAll("body *")].filter((element) => element.getBoundingClientRect().right > 361).map((element) => element.outerHTML.slice(0, 120)),
  ]);
  assert.ok(wide <= 360, `${page.url()} is ${wide} pixels wide: ${most.slice(0, 5).join("\n")}`);
}

module.exports = { task_completed_by_keyboard_alone, pages_fit_into_360_pixels };
