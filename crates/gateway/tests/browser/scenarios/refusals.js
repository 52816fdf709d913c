// What the server refuses is shown in its words, and Studio goes on.
"use strict";

const { enter } = require("../people");
const studio = require("../studio");

/** A call as Studio makes it, from its page. */
const call = (page, method, path, body) =>
  page.evaluate(
    async ([method, path, body]) => {
      const headers = { "Content-Type": "application/json" };
      const answer = await fetch(`/elsa/api${path}`, { method, headers, body: body && JSON.stringify(body) });
      return [answer.status, await answer.text()];
    },
    [method, path, body],
  );

async function studio_says_what_is_refused(page) {
  await enter(page, "ada");
  await page.goto("/definitions");
  await studio.rows(page, "").first().waitFor();
  page.allowed.push(/answer: 4\d\d/, /status of 4\d\d/);
  const messages = page.locator("#messages");
  const [status] = await call(page, "DELETE", "/workflow-definitions/waiting");
  if (status !== 204) throw new Error(`Studio gets ${status}`);
  await messages.getByText("waiting").first().waitFor();
  await call(page, "POST", "/bulk-actions/import/workflow-instances", {});
  await messages.getByText("importing instances is not supported").waitFor();
  await messages.getByRole("button").click();
  await messages.waitFor({ state: "hidden" });
  // What Studio shows itself is left to it, in the form that it reads.
  const [shown] = await call(page, "POST", "/workflow-definitions/nowhere/publish", {});
  if (shown !== 400) throw new Error(`Studio gets ${shown}`);
  if (await page.locator("#blazor-error-ui").isVisible()) throw new Error("Studio has met an error");
}

/** Who has started a workflow of another role sees the instance in the list, and what he may not do with it. */
async function requester_sees_and_cancels_his_instances(page) {
  await enter(page, "ben");
  await page.goto("/definitions");
  await studio.rows(page, "Greeting").getByText("Of ada.").waitFor();
  await studio.open(page, "greeting");
  await page.getByText("A workflow of ada").waitFor();
  await page.goto("/instances");
  const row = studio.rows(page, "petition-1");
  await row.getByText("petition", { exact: true }).waitFor();
  page.allowed.push(/answer: 403/, /status of 403/);
  await studio.pick(page, row.locator("button").last(), "Delete");
  await studio.confirm(page);
  await page.locator("#messages").getByText("must be owner of the definition").waitFor();
  await page.locator("#messages").getByRole("button").click();
  await studio.pick(page, row.locator("button").last(), "Cancel");
  await studio.confirm(page);
  await row.getByText("Cancelled").waitFor();
}

module.exports = { studio_says_what_is_refused, requester_sees_and_cancels_his_instances };
