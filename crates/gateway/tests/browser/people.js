// Who sits in front of the browser. setup.sql and crates/wf/tests/wf/support.rs make these roles.
"use strict";

const assert = require("node:assert");

const PASSWORDS = { ada: "lovelace", ben: "franklin", dora: "nothing" };

/** Logs in with what a person types. */
async function logIn(page, role, password) {
  await page.fill("input[name=role]", role);
  await page.fill("input[name=password]", password);
  await page.getByRole("button", { name: "Log in", exact: true }).click();
}

/** Gives the browser of the page a session, without the page of the log-in, which has scenarios of its own. */
async function enter(page, role) {
  const answer = await page.request.post("/login", {
    form: { role, password: PASSWORDS[role] },
    headers: { Origin: new URL(process.env.URL).origin },
    maxRedirects: 0,
  });
  assert.equal(answer.status(), 303, "the log-in");
}

module.exports = { enter, logIn, PASSWORDS };
