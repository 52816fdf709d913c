// Makes the pictures of docs/studio.md, docs/people.md and docs/approvals.md: node pictures.js FOLDER, with URL and KEY in the environment.
// approvals.sql has been loaded.
"use strict";

const path = require("node:path");
const { chromium } = require("playwright-core");

const [folder] = process.argv.slice(2);
const { URL: url, KEY: key } = process.env;

const STUDIO = { width: 1500, height: 800 };

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

/** Studio draws after it has loaded. It fits boxes without the names of their ports, so that two steps back are needed. */
async function drawn(page) {
  await page.locator(".x6-node").first().waitFor();
  await page.waitForLoadState("networkidle");
  await page.locator(FIT).first().click();
  // Not by hover(), which would scroll the buttons away.
  const box = await page.locator(".x6-node").first().boundingBox();
  await page.mouse.move(box.x, box.y);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, 100);
  await page.mouse.wheel(0, 100);
  await page.keyboard.up("Control");
}

/** The page of each picture, its width, and its height if that is not the page's. Ours are narrow: README.md shows them at half the size. */
const PICTURES = {
  designer: {
    width: 1500,
    show: async (page) => {
      await page.goto("/workflows/definitions/purchase-approval/edit");
      await drawn(page);
    },
  },
  watching: {
    width: 1500,
    show: async (page) => {
      await page.goto(`/workflows/instances/${await instanceOf(page, "A desk for Ada")}/view`);
      await drawn(page);
    },
  },
  inbox: {
    width: 880,
    show: async (page) => page.goto("/inbox"),
  },
  task: {
    width: 880,
    height: 1150,
    show: async (page) => {
      await page.goto("/inbox");
      await page.getByRole("link", { name: "Answer complaint" }).first().click();
      await page.getByText("How much do we pay back?").waitFor();
    },
  },
  approval: {
    width: 880,
    height: 1150,
    show: async (page) => {
      await page.goto("/inbox");
      await page.getByRole("row", { name: "5 days of leave" }).getByRole("link").click();
      await page.getByText("Who is there for the end of the year?").waitFor();
    },
  },
  done: {
    width: 880,
    height: 820,
    show: async (page) => page.goto("/inbox?whose=done"),
  },
  start: {
    width: 880,
    show: async (page) => page.goto("/start/absence"),
  },
  requests: {
    width: 880,
    height: 820,
    show: async (page) => page.goto("/requests"),
  },
  login: {
    width: 880,
    show: async (page) => page.goto("/login"),
  },
  instance: {
    width: 880,
    show: async (page) => page.goto(`/instances/${await instanceOf(page, "A desk for Ada")}`),
  },
  incidents: {
    width: 880,
    show: async (page) => page.goto("/incidents"),
  },
};

async function main() {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
  const context = await browser.newContext({ baseURL: url, viewport: STUDIO });
  const page = await context.newPage();
  await page.goto("/login");
  await page.getByText("Log in with an API key").click();
  await page.fill("input[name=key]", key);
  await page.getByRole("button", { name: "Log in with the key" }).click();
  await page.waitForLoadState("networkidle");
  for (const [name, { width, height, show }] of Object.entries(PICTURES)) {
    // Studio fills the window; a page of ours is as long as its contents.
    await page.setViewportSize(width === STUDIO.width ? STUDIO : { width, height: height ?? 300 });
    await show(page);
    await page.screenshot({ path: path.join(folder, `${name}.png`), fullPage: !height });
    console.log(`${folder}/${name}.png`);
  }
  await browser.close();
}

main();
