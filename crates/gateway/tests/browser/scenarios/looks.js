// Every page for people at three widths, light and dark, in both languages: it fits, and axe finds nothing.
"use strict";

const assert = require("node:assert");
const fs = require("node:fs");
const { enter } = require("../people");
const pages = require("../pages");

const AXE = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const WIDTHS = [360, 768, 1400];

/** Looks at the page as it is, at all widths, light and dark. */
async function look(page, name) {
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      const at = `${name} (${page.url()}), ${width} pixels, ${colorScheme}`;
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= width, `${at} is ${wide} pixels wide`);
      await page.evaluate(AXE);
      const { violations } = await page.evaluate((values) => axe.run({ runOnly: { type: "tag", values } }), TAGS);
      const found = violations.map((one) => `${one.id}: ${one.nodes.map((node) => `${node.html} ${node.failureSummary}`).join("\n")}`);
      assert.deepEqual(found, [], `${at}: ${found.join("\n")}`);
      if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/${name}-${width}-${colorScheme}.png`, fullPage: true });
    }
  }
}

const visit = async (page, name, path) => {
  await page.goto(path);
  await look(page, name);
};

async function empty_pages_are_accessible(page) {
  page.allowed.push(/\b404\b/, /status of 404/, /\b401\b/, /status of 401/);
  await visit(page, "login", "/login?next=/inbox");
  await page.fill("input[name=role]", "dora");
  await page.fill("input[name=password]", "wrong");
  await pages.button(page, "Log in").click();
  await pages.warned(page, "password is wrong");
  await look(page, "login-refused");
  await enter(page, "dora");
  for (const [name, path] of [
    ["inbox-empty", "/inbox"],
    ["done-empty", "/inbox?whose=done"],
    ["start-empty", "/start"],
    ["requests-empty", "/requests"],
    ["overview-empty", "/overview"],
    ["search-empty", "/search"],
    ["incidents-empty", "/incidents"],
    ["retry-empty", "/incidents/retry?definition=export"],
    ["dead-letters-empty", "/dead-letters"],
    ["schedules-empty", "/schedules"],
    ["workers", "/workers"],
    ["audit-empty", "/audit"],
    ["preferences", "/preferences"],
    ["substitutes", "/substitutes"],
    ["unknown", "/nowhere"],
  ])
    await visit(page, name, path);
}

async function full_pages_are_accessible(page, another) {
  page.allowed.push(/\b400\b/, /status of 400/);
  await enter(page, "ada");
  for (const [name, path] of [
    ["inbox", "/inbox"],
    ["inbox-all", "/inbox?whose=all&every=yes"],
    ["inbox-nothing-found", "/inbox?q=nothing"],
    ["overview", "/overview"],
    ["search", "/search"],
    ["search-refused", "/search?attribute=nothing"],
    ["incidents", "/incidents"],
    ["incidents-cause", "/incidents?definition=export"],
    ["incidents-retry", "/incidents/retry?definition=export"],
    ["dead-letters", "/dead-letters?all=yes"],
    ["dead-letters-replay", "/dead-letters/replay?reason=Expired"],
    ["schedules", "/schedules"],
    ["limits", "/workers"],
    ["audit", "/audit"],
    ["audit-nothing-found", "/audit?who=nothing"],
  ])
    await visit(page, name, path);
  await page.goto("/schedules");
  await pages.link(page, "purge").click();
  await page.getByRole("heading", { name: "purge" }).waitFor();
  await look(page, "schedule");
  await page.locator("details.account summary").click();
  await look(page, "menu");
  await instance(page);
  await tasks(page);
  const ben = await another();
  await enter(ben, "ben");
  await pages.prefer(ben, "language", "de");
  await visit(ben, "start", "/start");
  await visit(ben, "start-form", "/start/leave");
  await ben.locator("form.panel").evaluate((form) => (form.noValidate = true));
  await pages.button(ben, "Absenden").click();
  await pages.warned(ben, "Einige Felder brauchen eine andere Antwort.");
  await look(ben, "start-refused");
  await visit(ben, "requests", "/requests");
}

/** A faulted instance: picture, timeline, story and values. */
async function instance(page) {
  await page.goto("/incidents?definition=export");
  const address = await page.locator(".cards h2 a").first().getAttribute("href");
  await visit(page, "instance", address);
  await page.getByText("What happened, line by line").click();
  await look(page, "instance-story");
  await visit(page, "timeline", `${address}/timeline`);
  await visit(page, "children-empty", `${address}/children`);
}

/** A vote, a form that refuses, and names and values that are as long as they can be. */
async function tasks(page) {
  await page.goto("/inbox?whose=roles&q=days+of+leave");
  await pages.row(page, "days of leave").first().getByRole("link").click();
  await look(page, "task-vote");
  await page.goto("/inbox?whose=roles&q=expense");
  await pages.row(page, "expense").first().getByRole("link").click();
  await page.locator("section form").evaluateAll((forms) => forms.forEach((form) => (form.noValidate = true)));
  await pages.button(page, "Approve").click();
  await pages.warned(page, "Some fields need another answer.");
  await look(page, "task-refused");
  await pages.develop(page);
  await page.goto("/inbox?whose=all&every=yes&q=tasktask");
  await pages.row(page, "TaskTask").getByRole("link").click();
  await look(page, "task-long");
}

module.exports = { empty_pages_are_accessible, full_pages_are_accessible };
