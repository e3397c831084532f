import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, test } from "vitest";

import { addressOf, groupsOf } from "../../site/pages.ts";

const root = resolve(import.meta.dirname, "../..");
const pages = globSync(["*.md", "docs/**/*.md"], { cwd: root }).toSorted();
const texts = new Map(pages.map((page) => [page, readFileSync(join(root, page), "utf8")]));

/** The links of a page to files and sections of this repository. Code has none. */
function linksOf(page: string) {
  const text = (texts.get(page) ?? "").replaceAll(/^```[\s\S]*?^```$/gm, "").replaceAll(/`[^`\n]*`/g, "`code`");
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = ""]) => {
    if (/^[a-z]+:/.test(link)) return [];
    const [path = "", anchor = null] = link.split("#");
    return [{ file: path === "" ? page : relative(root, resolve(root, dirname(page), path)), anchor }];
  });
}

/** The anchors that GitHub makes of headings, and the page's own. */
function anchorsOf(page: string): ReadonlySet<string> {
  const text = texts.get(page) ?? "";
  const headings = [...text.replaceAll(/^```[\s\S]*?^```$/gm, "").matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
  return new Set([...headings, ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = ""]) => id)]);
}

test.for(pages)("every link of %s leads to a file, and to a section that it has", (page) => {
  const dead = linksOf(page).filter(
    ({ file, anchor }) =>
      !existsSync(join(root, file)) || (anchor !== null && texts.has(file) && !anchorsOf(file).has(anchor)),
  );
  expect(dead).toEqual([]);
});

test("a reader reaches every page of docs/ from its index, and the index from the README", () => {
  const reached = new Set(["docs/README.md"]);
  // The set grows while the loop runs, and the loop visits the new pages as well.
  for (const page of reached) for (const { file } of linksOf(page)) if (texts.has(file)) reached.add(file);
  expect(pages.filter((page) => page.startsWith("docs/") && !reached.has(page))).toEqual([]);
  expect(linksOf("README.md").map(({ file }) => file)).toContain("docs/README.md");
});

test("the sidebar of the site names every page but those of rules and codes, which have an index of their own", () => {
  const named = new Set(
    groupsOf(texts.get("docs/README.md") ?? "").flatMap(({ items }) => items.map(({ link }) => link)),
  );
  const own = pages.filter((page) => dirname(page) === "docs" && page !== "docs/README.md");
  expect(own.length).toBeGreaterThan(30);
  expect(own.filter((page) => !named.has(`/${addressOf(page)}`))).toEqual([]);
});

test("no link on a page of the package leads out of the package", () => {
  const words = ["pack", "--dry-run", "--json", "--ignore-scripts"];
  const [{ files }] = JSON.parse(execFileSync("npm", words, { cwd: root, encoding: "utf8" })) as [
    { readonly files: readonly { readonly path: string }[] },
  ];
  const packed = new Set(files.map(({ path }) => path));
  const leaving = pages
    .filter((page) => packed.has(page))
    .flatMap((page) => linksOf(page).flatMap(({ file }) => (packed.has(file) ? [] : [`${page}: ${file}`])));
  expect(leaving).toEqual([]);
  expect([...packed]).toEqual(expect.arrayContaining(["README.md", "docs/diagnostics.md", "policies/strict.yaml"]));
});

test("texts of the source name pages of the site that exist, and no file that an installed package hides", () => {
  const sources = globSync("src/**/*.ts", { cwd: root }).map((file) => readFileSync(join(root, file), "utf8"));
  const named = sources.flatMap((text) =>
    [...text.matchAll(/docsPage\("([^"]+)"\)/g)].map(([, page]) => `docs/${page}.md`),
  );
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((page) => !texts.has(page))).toEqual([]);
  const code = sources.map((text) => text.replaceAll(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, ""));
  expect(code.flatMap((text) => text.match(/\bdocs\/[\w-]+\.md\b/g) ?? [])).toEqual([]);
});

test("each column of a table has a name, which a screen reader announces", () => {
  const nameless = [...texts].flatMap(([page, text]) =>
    [...text.matchAll(/^(\|.*\|)\n\|[-:| ]+\|$/gm)].flatMap(([, head = ""]) =>
      /\|\s*\|/.test(head) ? [`${page}: ${head}`] : [],
    ),
  );
  expect(nameless).toEqual([]);
});
