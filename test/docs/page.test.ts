import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { chromium } from "playwright-core";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import shop from "../../stacks/shop.ts";

const root = resolve(import.meta.dirname, "../..");
const executablePath = [
  process.env["CHROMIUM_PATH"],
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
].find((path) => path !== undefined && existsSync(path));
if (executablePath === undefined)
  console.warn("The page was NOT opened in a browser: there is no Chromium here (set CHROMIUM_PATH, or install it).");

describe("what npm start writes", () => {
  const folder = mkdtempSync(join(tmpdir(), "redeliver-report-"));
  beforeAll(() => {
    const targets = ["--target", "rabbitmq@4.3", "--target", "rabbitmq@3.10"];
    const child = spawnSync(
      process.execPath,
      ["src/cli/main.ts", "report", "stacks/shop.ts", ...targets, "--output", folder, "--json"],
      { cwd: root, encoding: "utf8" },
    );
    expect(child.status, child.stderr).toBe(0);
    const { written } = JSON.parse(child.stdout) as { written: readonly string[] };
    expect(written).toHaveLength(11);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test("the files of each target, and the page", () => {
    expect(readdirSync(folder).toSorted()).toEqual(["index.html", "rabbitmq-3.10", "rabbitmq-4.3"]);
    for (const target of ["rabbitmq-3.10", "rabbitmq-4.3"]) {
      expect(readdirSync(join(folder, target)).toSorted()).toEqual([
        "compiled.json",
        "definitions.json",
        "graph.dot",
        "graph.mmd",
        "graph.svg",
      ]);
    }
  });

  test("and the same of a system that compiles for both brokers, as the script says it", () => {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: { start: string } };
    const [, second = ""] = scripts.start.split(" && ");
    const words = second.replace("out/portable", join(folder, "portable")).split(" ").slice(1);
    const child = spawnSync(process.execPath, words, { cwd: root, encoding: "utf8" });
    expect(child.status, child.stderr).toBe(0);
    expect(readdirSync(join(folder, "portable")).toSorted()).toEqual([
      "index.html",
      "rabbitmq-4.3",
      "servicebus-standard",
      "sqs-eu-west-1",
    ]);
    expect(readdirSync(join(folder, "portable/sqs-eu-west-1"))).toContain("aws-json.json");
    rmSync(join(folder, "portable"), { recursive: true });
  });

  test.runIf(executablePath !== undefined)(
    "the page shows every consumer, asks the network for nothing, and fits a narrow screen",
    { timeout: 60_000 },
    async () => {
      const browser: Browser = await chromium.launch({
        ...(executablePath === undefined ? {} : { executablePath }),
        args: [
          "--no-sandbox",
          "--disable-gpu",
          "--no-first-run",
          "--disable-background-networking",
          "--disable-component-update",
          "--disable-sync",
        ],
      });
      try {
        const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
        const problems: string[] = [];
        const requests: string[] = [];
        page.on("console", (message) => problems.push(message.text()));
        page.on("pageerror", (error) => problems.push(error.message));
        page.on("request", (request) => requests.push(request.url()));
        await page.goto(`file://${join(folder, "index.html")}`);
        for (const consumer of Object.keys(shop.consumers)) {
          const headings = page.locator(`h2[data-consumer="${consumer}"]`);
          expect(await headings.count(), consumer).toBe(2);
          expect(await headings.first().isVisible(), consumer).toBe(true);
        }
        expect(await page.locator("svg").count()).toBeGreaterThan(10);
        await page.setViewportSize({ width: 400, height: 800 });
        const overflow = await page.evaluate(
          "document.documentElement.scrollWidth - document.documentElement.clientWidth",
        );
        expect(overflow).toBe(0);
        expect([problems, requests.filter((url) => !url.startsWith("file:"))]).toEqual([[], []]);
      } finally {
        await browser.close();
      }
    },
  );
});
