import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join, resolve } from "node:path/posix";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { diagnosticCodes } from "../../src/diagnostics/catalogue.ts";
import { faultsOf, hasBrowser, openBrowser } from "../support/browser.ts";

const root = resolve(import.meta.dirname, "../..");
const site = join(root, "site/dist");

beforeAll(() => {
  execFileSync("npm", ["run", "site"], { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
}, 600_000);

/** The file that a static host sends for an address. */
const fileOf = (address: string): string => {
  const path = join(site, decodeURIComponent(address));
  return [`${path}.html`, join(path, "index.html")].find((file) => existsSync(file)) ?? path;
};

/** The addresses and anchors that a page links to within the site. */
function linksOf(address: string, html: string): { readonly to: string; readonly anchor: string }[] {
  return [...html.matchAll(/<a [^>]*?href="([^"]+)"/g)]
    .map(([, link = ""]) => link.replaceAll("&amp;", "&"))
    .filter((link) => !/^[a-z]+:/.test(link))
    .map((link) => {
      const [path = "", anchor = ""] = link.split("#");
      return { to: path === "" ? address : resolve(dirname(address), path), anchor: decodeURIComponent(anchor) };
    });
}

test("a reader reaches every page of the site from its index, and every link leads to a place that is there", () => {
  const reached = new Map<string, string>();
  const dead: string[] = [];
  const visit = (address: string): string => {
    const file = fileOf(address);
    const known = reached.get(file);
    if (known !== undefined) return known;
    const text = existsSync(file) ? readFileSync(file, "utf8") : "";
    reached.set(file, text);
    if (!file.endsWith(".html")) return text;
    for (const { to, anchor } of linksOf(address, text)) {
      const target = visit(to);
      if (target === "" || (anchor !== "" && !target.includes(`id="${anchor}"`)))
        dead.push(`${address}: ${to}#${anchor}`);
    }
    return text;
  };
  visit("/");
  expect(dead).toEqual([]);
  const pages = globSync("**/*.html", { cwd: site }).filter((page) => page !== "404.html");
  expect(pages.length).toBeGreaterThan(280);
  expect(pages.filter((page) => !reached.has(join(site, page)))).toEqual([]);
});

test("every code has the address that its diagnostics name", () => {
  expect(diagnosticCodes.filter((code) => !existsSync(join(site, `diagnostics/${code.toLowerCase()}.html`)))).toEqual(
    [],
  );
});

describe.runIf(hasBrowser)("in a browser", () => {
  const types: Readonly<Record<string, string>> = { html: "text/html", js: "text/javascript", css: "text/css" };
  const server = createServer(({ url = "/" }, response) => {
    const found = fileOf(new URL(url, "http://localhost").pathname);
    const file = existsSync(found) ? found : join(site, "404.html");
    response.statusCode = file === found ? 200 : 404;
    response.setHeader("content-type", types[file.split(".").at(-1) ?? ""] ?? "application/octet-stream");
    response.end(readFileSync(file));
  });
  let browser: Browser;
  let base: string;
  beforeAll(async () => {
    browser = await openBrowser();
    await new Promise<void>((done) => void server.listen(0, "localhost", done));
    base = `http://localhost:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await browser.close();
    server.close();
  });

  const main = [
    "",
    "pages",
    "tutorial",
    "declaration",
    "coming-from",
    "diagnostics",
    "diagnostics/rd302",
    "strategies",
  ];
  // The last one does not exist.
  const looked = [...main, "api/", "api/redeliver/consume", "no-such-page"].flatMap((path) =>
    (["light", "dark"] as const).map((theme) => [path, theme] as const),
  );
  test.for(looked)(
    "axe finds no fault in /%s, which asks no other host, in the %s theme",
    async ([path, colorScheme]) => {
      const page = await browser.newPage({ colorScheme });
      const foreign: string[] = [];
      page.on("request", (request) => request.url().startsWith(base) || foreign.push(request.url()));
      await page.goto(`${base}/${path}`, { waitUntil: "networkidle" });
      expect([await faultsOf(page), foreign]).toEqual([[], []]);
      await page.close();
    },
  );

  test("axe finds no fault on a phone", async () => {
    const page = await browser.newPage({ viewport: { width: 390, height: 800 } });
    await page.goto(base, { waitUntil: "networkidle" });
    expect(await faultsOf(page)).toEqual([]);
    await page.close();
  });

  test("the search finds a code's page", async () => {
    const page = await browser.newPage();
    await page.goto(base, { waitUntil: "networkidle" });
    await page.keyboard.press("/");
    await page.locator("#localsearch-input").fill("RD302");
    await page.locator('.result[href^="/diagnostics/rd302"]').first().click();
    await page.waitForURL(`${base}/diagnostics/rd302*`);
    await page.close();
  });
});
