// Pages of the gateway's own, as the scenarios use them.
"use strict";

const assert = require("node:assert");

const button = (page, name) => page.getByRole("button", { name, exact: true });
const link = (page, name) => page.getByRole("link", { name, exact: true });

/** Waits for what the page says after something was done. */
const told = (page, text) => page.getByRole("status").filter({ hasText: text }).waitFor();
/** The same for what went wrong. */
const warned = (page, text) => page.getByRole("alert").filter({ hasText: text }).waitFor();

/** The value that a page lists beside a name. */
const fact = (page, name) => page.locator(`dt:text-is("${name}") + dd`).innerText();

/** A card of a list. */
const card = (page, text) => page.locator(".cards li").filter({ hasText: text });

/** A row of a list of tasks or answers. */
const row = (page, text) => page.locator(".list tbody tr").filter({ hasText: text });

/** The section of a page below a heading. */
const section = (page, name) => page.getByRole("region", { name, exact: true });

/** What the page says that it would run. */
async function shows_sql(page, text) {
  const sql = (await page.locator("details[open] pre").allInnerTexts()).join("\n");
  assert.ok(sql.includes(text), `${text} in ${sql}`);
}

/** Shows on the following pages what is for developers. */
const develop = (page) => prefer(page, "developer", "on");

/** Sets a preference, as its page does. */
const prefer = (page, name, value) =>
  page.context().addCookies([{ name: `wf-${name}`, value, url: process.env.URL, sameSite: "Lax" }]);

module.exports = { button, card, develop, fact, link, prefer, row, section, shows_sql, told, warned };
