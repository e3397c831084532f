import { cpSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { defineConfig } from "vitepress";

import { addressOf, groupsOf, targetOf } from "../pages.ts";

const root = resolve(import.meta.dirname, "../..");
/** The files that pages link to and that are no pages, such as examples. */
const files = new Set<string>();

const groups = groupsOf(readFileSync(join(root, "docs/README.md"), "utf8"));

export default defineConfig({
  title: "Redeliver",
  description: "Declare how each message consumer retries, and prove that no message is lost",
  srcDir: root,
  srcExclude: ["!(docs|site|*.md)/**"],
  outDir: join(import.meta.dirname, "../dist"),
  cleanUrls: true,
  // These are no pages. VitePress does not know each ending, and takes the rest for pages.
  ignoreDeadLinks: [/^\/files\//],
  rewrites: (file) => `${addressOf(file)}.md`,
  vite: {
    plugins: [
      {
        // The pages lie outside of this folder, and their packages inside.
        name: "packages-of-pages",
        enforce: "pre",
        resolveId(id, _importer, options) {
          if (!/^vue($|\/)/.test(id)) return null;
          if (options.ssr === true) return { id, external: true };
          return this.resolve(id, import.meta.filename, { ...options, skipSelf: true });
        },
      },
    ],
  },
  themeConfig: {
    search: {
      provider: "local",
      // The visible text, which has the key too, is the label.
      options: { translations: { button: { buttonAriaLabel: "" } } },
    },
    outline: "deep",
    sidebar: groups.map((group) =>
      group.text === "Reference"
        ? { ...group, items: [...group.items, { text: "TypeScript API", link: "/api/" }] }
        : { ...group, items: [...group.items] },
    ),
  },
  // The default colours have too little contrast.
  head: [["style", {}, "html:root { --vp-code-lang-color: var(--vp-c-text-1); }"]],
  markdown: {
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    // The anchors that GitHub makes of headings: the links in the sources name these.
    anchor: {
      slugify: (heading) =>
        heading
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
          .replaceAll(" ", "-"),
    },
    config: (markdown) => {
      // Links in the sources are for readers of the repository: relative, and also to files that are no pages.
      markdown.core.ruler.push("targets", ({ tokens, env }) => {
        const page = relative(root, (env as { realPath?: string; path: string }).realPath ?? env.path);
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          const link = token.attrGet("href");
          if (token.type !== "link_open" || link === null) continue;
          const target = targetOf(link, page);
          if (target.startsWith("/files/")) files.add(target.slice("/files/".length));
          token.attrSet("href", target);
        }
      });
    },
  },
  buildEnd: ({ outDir }) => {
    for (const file of files) cpSync(join(root, file), join(outDir, "files", file));
  },
});
