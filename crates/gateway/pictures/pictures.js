// Makes the pictures of docs/studio.md: node pictures.js FOLDER, with URL and KEY in the environment.
"use strict";

const path = require("node:path");
const { chromium } = require("playwright-core");

const [folder] = process.argv.slice(2);
const { URL: url, KEY: key } = process.env;

/** The id of the only instance with a correlation id. */
async function instanceOf(page, correlation) {
  const answer = await page.request.post("/elsa/api/workflow-instances", {
    data: { searchTerm: correlation, page: 0, pageSize: 1 },
    headers: { Authorization: `ApiKey ${key}` },
  });
  return (await answer.json()).items[0].id;
}

// The button of Studio that fits the drawing into its place has a picture and no name.
const FIT = 'button:has(path[d^="M6,16h12V8H6V16z"])';

/** Studio draws after it has loaded. */
async function drawn(page) {
  await page.locator(".x6-node").first().waitFor();
  await page.waitForLoadState("networkidle");
  await page.locator(FIT).first().click();
}

/** What each picture shows: where it is, and what has to be there. */
const PICTURES = {
  designer: async (page) => {
    await page.goto("/workflows/definitions/purchase-approval/edit");
    await drawn(page);
  },
  watching: async (page) => {
    await page.goto(`/workflows/instances/${await instanceOf(page, "A desk for Ada")}/view`);
    await drawn(page);
  },
  inbox: async (page) => page.goto("/inbox"),
  task: async (page) => {
    await page.goto("/inbox");
    await page.getByRole("link", { name: "Answer complaint" }).first().click();
    await page.getByText("How much do we pay back?").waitFor();
  },
  instance: async (page) => page.goto(`/instances/${await instanceOf(page, "A desk for Ada")}`),
  incidents: async (page) => page.goto("/incidents"),
};

async function main() {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
  const context = await browser.newContext({ baseURL: url, viewport: { width: 1500, height: 800 } });
  const page = await context.newPage();
  await page.goto("/login");
  await page.fill("input[name=key]", key);
  await page.getByRole("button", { name: "Log in with the key" }).click();
  await page.waitForLoadState("networkidle");
  for (const [name, show] of Object.entries(PICTURES)) {
    await show(page);
    // Studio fills the window; a page of ours is as long as what it says.
    await page.screenshot({ path: path.join(folder, `${name}.png`), fullPage: true });
    console.log(`${folder}/${name}.png`);
  }
  await browser.close();
}

main();
