import { cpSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { defineConfig } from "vitepress";

import { addressOf, groupsOf, targetOf } from "../pages.ts";

const root = resolve(import.meta.dirname, "../..");
/** The files that pages link to and that are no pages, such as examples. */
const files = new Set<string>();

const groups = groupsOf(readFileSync(join(root, "docs/README.md"), "utf8"));

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M13 8a5 5 0 1 1-2-4M11 1v3H8" fill="none" stroke="#2f6fb3" stroke-width="2"/></svg>';

const { repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly repository: { readonly url: string };
};
const sources = repository.url.replace(/^git\+|\.git$/g, "");

const searchText = "html .DocSearch-Button .DocSearch-Button-Placeholder";

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
  transformPageData: ({ relativePath, frontmatter }) => {
    // These pages are generated from the source.
    if (/^(api|diagnostics|policies)\//.test(relativePath)) frontmatter["editLink"] = false;
  },
  themeConfig: {
    search: {
      provider: "local",
      // The visible text, which has the key too, is the label.
      options: { translations: { button: { buttonAriaLabel: "" } } },
    },
    outline: "deep",
    nav: [
      { text: "Tutorial", link: "/tutorial" },
      { text: "Declaration", link: "/declaration" },
      { text: "Commands", link: "/commands" },
      { text: "API", link: "/api/" },
      { text: "Changes", link: "/changelog" },
    ],
    editLink: { pattern: `${sources}/edit/main/:path`, text: "Edit this page" },
    sidebar: groups.map((group) =>
      group.text === "Reference"
        ? { ...group, items: [...group.items, { text: "TypeScript API", link: "/api/" }] }
        : { ...group, items: [...group.items] },
    ),
  },
  head: [
    // The default colours have too little contrast.
    ["style", {}, "html:root { --vp-code-lang-color: var(--vp-c-text-1); }"],
    // On a phone the button shows no text, and its name would be empty.
    ["style", {}, `@media (max-width: 767px) { ${searchText} { display: block; position: absolute; opacity: 0; } }`],
    ["link", { rel: "icon", href: `data:image/svg+xml,${encodeURIComponent(icon)}` }],
  ],
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
