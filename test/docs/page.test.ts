import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

import shop from "../../stacks/shop.ts";
import { faultsOf, hasBrowser, openBrowser } from "../support/browser.ts";

const root = resolve(import.meta.dirname, "../..");
describe("a report", () => {
  const folder = mkdtempSync(join(tmpdir(), "redeliver-report-"));
  beforeAll(() => {
    const targets = ["--target", "rabbitmq@4.3", "--target", "rabbitmq@3.10"];
    const words = ["report", "stacks/shop.ts", ...targets, "--output", folder, "--json"];
    const child = spawnSync(process.execPath, ["src/cli/main.ts", ...words], { cwd: root, encoding: "utf8" });
    expect(child.status, child.stderr).toBe(0);
    const { written } = JSON.parse(child.stdout) as { written: readonly string[] };
    expect(written).toHaveLength(13);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test("has the files of each target, and the page", () => {
    expect(readdirSync(folder).toSorted()).toEqual(["index.html", "rabbitmq-3.10", "rabbitmq-4.3"]);
    for (const target of ["rabbitmq-3.10", "rabbitmq-4.3"]) {
      expect(readdirSync(join(folder, target)).toSorted()).toEqual([
        "compiled.json",
        "definitions.json",
        "graph.dot",
        "graph.mmd",
        "graph.svg",
        "terraform.json",
      ]);
    }
  });

  test("has the same in the demo of all brokers", () => {
    const words = ["src/cli/main.ts", "demo", "--output", join(folder, "portable")];
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

  describe.runIf(hasBrowser)("in a browser", () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await openBrowser();
    });
    afterAll(async () => browser.close());
    const open = async (width: number): Promise<Page> => {
      const page = await browser.newPage({ viewport: { width, height: 900 } });
      onTestFinished(async () => page.close());
      return page;
    };
    const address = `file://${join(folder, "index.html")}`;

    test("shows every consumer, loads nothing, and fits a narrow screen", async () => {
      const page = await open(1280);
      const problems: string[] = [];
      const requests: string[] = [];
      page.on("console", (message) => problems.push(message.text()));
      page.on("pageerror", (error) => problems.push(error.message));
      page.on("request", (request) => requests.push(request.url()));
      await page.goto(address);
      for (const consumer of Object.keys(shop.consumers)) {
        const headings = page.locator(`h3[data-consumer="${consumer}"]`);
        expect(await headings.count(), consumer).toBe(2);
        expect(await headings.first().isVisible(), consumer).toBe(true);
      }
      expect(await page.locator("svg").count()).toBeGreaterThan(10);
      for (const width of [400, 390, 320]) {
        await page.setViewportSize({ width, height: 800 });
        const overflow = await page.evaluate(
          "document.documentElement.scrollWidth - document.documentElement.clientWidth",
        );
        expect(overflow, `at ${width} px`).toBe(0);
      }
      expect([problems, requests.filter((url) => !url.startsWith("file:"))]).toEqual([[], []]);
    });

    test.for([1280, 390])("has no fault that axe finds, at %i px", async (width) => {
      const page = await open(width);
      await page.goto(address);
      expect(await faultsOf(page)).toEqual([]);
    });

    test("says that a picture scrolls where it does, and nowhere else", async () => {
      const page = await open(390);
      await page.goto(address);
      for (const width of [390, 640, 1280]) {
        await page.setViewportSize({ width, height: 900 });
        const pictures = (await page.evaluate(`[...document.querySelectorAll(".hint")]
          .filter((hint) => hint.checkVisibility() || hint.parentElement.checkVisibility())
          .map((hint) => [hint.closest(".graph, .strip").querySelector(".scroll"), hint])
          .map(([{ scrollWidth, clientWidth }, hint]) => [scrollWidth > clientWidth, hint.checkVisibility()])`)) as [
          scrolls: boolean,
          says: boolean,
        ][];
        expect(pictures.filter(([scrolls, says]) => scrolls !== says)).toEqual([]);
        expect(pictures.some(([scrolls]) => scrolls)).toBe(width === 390 || width === 640);
      }
    });

    test.for(["DejaVu Sans", "DejaVu Sans Mono", "serif"])("keeps each text in its box in %s", async (font) => {
      const page = await open(1280);
      await page.goto(address);
      await page.addStyleTag({ content: `.graph text { font-family: "${font}" !important; }` });
      const [texts, outside] = (await page.evaluate(`(() => {
        for (const each of document.querySelectorAll("details")) each.open = true;
        const texts = [...document.querySelectorAll(".graph .node text")];
        const outside = texts.filter((text) => {
          const box = text.closest(".node").querySelector("path, polygon").getBoundingClientRect();
          const { left, right } = text.getBoundingClientRect();
          return left < box.left || right > box.right;
        });
        return [texts.length, outside.map((text) => text.textContent)];
      })()`)) as [number, string[]];
      expect(texts).toBeGreaterThan(20);
      expect(outside).toEqual([]);
    });

    test("shows only the chosen consumer and target, and folds", async () => {
      const page = await open(1280);
      await page.goto(address);
      const shown = async (): Promise<number> => page.locator("h3[data-consumer]:visible").count();
      const consumers = Object.keys(shop.consumers);
      expect(await shown()).toBe(2 * consumers.length);
      await page.locator(".filter select").nth(1).selectOption("rabbitmq@3.10");
      expect(await shown()).toBe(consumers.length);
      await page.locator(".filter select").nth(0).selectOption("mail");
      expect(await page.locator("h3[data-consumer]:visible").allTextContents()).toEqual(["mail"]);
      await page.locator("h3[data-consumer]:visible").click();
      expect(await page.locator("h4:visible").count()).toBe(0);
      await page.locator('nav a[href="#rabbitmq-3-10-mail"]').click();
      expect(await page.locator("h4:visible").count()).toBeGreaterThan(3);
    });

    test("of many consumers shows once what they have alike, and to whoever chooses one of them", async () => {
      const backoff = { kind: "exponential", first: "1s", factor: 2, jitter: "20%" };
      const consumer = { from: { orders: "all" }, retry: { attempts: 4, backoff } };
      const consumers = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`consumer-${index}`, consumer]));
      const file = join(folder, "many.json");
      writeFileSync(file, JSON.stringify({ name: "many", sources: { orders: { kind: "topic" } }, consumers }));
      const words = ["src/cli/main.ts", "report", file, "-t", "rabbitmq@4.3", "--output", join(folder, "many")];
      const child = spawnSync(process.execPath, words, { cwd: root, encoding: "utf8" });
      expect(child.status, child.stderr).toBe(0);
      const page = await open(1280);
      await page.goto(`file://${join(folder, "many/index.html")}`);
      expect(await faultsOf(page)).toEqual([]);
      await page.locator(".filter select").selectOption("consumer-7");
      expect(await page.locator("h3[data-consumer]:visible").allTextContents()).toEqual(["consumer-7"]);
      await page.locator("h3[data-consumer]:visible").click();
      const links = page.locator("#rabbitmq-4-3-consumer-7 section a");
      expect(await links.count()).toBe(5);
      for (const link of await links.all()) {
        const part = page.locator(String(await link.getAttribute("href")));
        expect(await part.locator("h4").textContent()).toBe(await link.textContent());
        expect(await part.locator("dl, table, svg").first().isVisible()).toBe(true);
      }
      await page.goto(`file://${join(folder, "many/rabbitmq-4.3/graph.svg")}`);
      expect(await page.locator("svg svg").count()).toBe(1);
    });

    test("has one order of headings, headed tables, regions of their own names, and codes that lead to their meaning", async () => {
      const page = await open(1280);
      await page.goto(address);
      const levels = (await page.evaluate(
        `[...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].map(({ tagName }) => Number(tagName[1]))`,
      )) as number[];
      expect(levels.filter((level, index) => level > (levels[index - 1] ?? 0) + 1)).toEqual([]);
      expect(levels.filter((level) => level === 1)).toHaveLength(1);
      expect(await page.locator("table:not(:has(> caption)), th:not([scope])").count()).toBe(0);
      const names = (await page.evaluate(
        `[...document.querySelectorAll("[role=region]")].map((each) => each.getAttribute("aria-label"))`,
      )) as string[];
      expect(new Set(names).size).toBe(names.length);
      const codes = page.locator(".warnings a");
      expect(await codes.count()).toBeGreaterThan(1);
      for (const code of await codes.all()) {
        const meaning = page.locator(String(await code.getAttribute("href")));
        expect(await meaning.locator("h3").textContent()).toContain(`${await code.textContent()}: `);
      }
    });
  });
});
