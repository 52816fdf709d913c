// Two people edit one definition.
"use strict";

const assert = require("node:assert");
const { enter } = require("../people");
const studio = require("../studio");

async function describe(page, text) {
  const answer = studio.saved(page);
  const field = page.getByLabel("Description").first();
  await field.fill(text);
  await field.blur();
  return answer;
}

async function edit(page) {
  await enter(page, "ada");
  await studio.open(page, "shared");
  await studio.drawn(page, 1);
}

async function stale_editor_is_told_and_overwrites_nothing(page, another) {
  page.allowed.push(/\b400\b.*\/elsa\/api\/workflow-definitions$/);
  const other = await another();
  await Promise.all([edit(page), edit(other)]);
  assert.equal((await describe(page, "of the first")).status(), 200);
  const refused = await describe(other, "of the second");
  assert.equal(refused.status(), 400);
  assert.equal((await refused.json()).code, "40001");
  await studio.said(other, /changed by.*ada/i).waitFor();
  // The first one has been told nothing, and goes on.
  assert.equal((await describe(page, "of the first, again")).status(), 200);
  await other.reload();
  await studio.drawn(other, 1);
  assert.equal(await other.getByLabel("Description").first().inputValue(), "of the first, again");
  assert.equal((await describe(other, "of the second, who has read it")).status(), 200);
}

module.exports = { stale_editor_is_told_and_overwrites_nothing };
