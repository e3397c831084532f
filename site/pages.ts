// Where the site has the pages of the repository. Paths are from the repository's root.
import { dirname, join } from "node:path/posix";

export interface Group {
  readonly text: string;
  readonly items: readonly { readonly text: string; readonly link: string }[];
}

/** The address of a page, without its ending: `docs/consuming.md` is at `consuming`. */
export function addressOf(file: string): string {
  if (file === "README.md") return "index";
  if (file === "docs/README.md") return "pages";
  const page = file.replace(/\.md$/, "").replace(/^(docs|site)\//, "");
  // ARCHITECTURE.md and its like.
  return page.includes("/") ? page.replace(/README$/, "index") : page.toLowerCase();
}

/** The target of a link of a page: an address of the site for a page, and a copy for another file. */
export function targetOf(link: string, page: string): string {
  if (/^([a-z]+:|#|\/)/.test(link)) return link;
  const [path = "", anchor] = link.split("#");
  const file = join(dirname(page), path);
  const target = file.endsWith(".md") ? addressOf(file).replace(/(^|\/)index$/, "$1") : `files/${file}`;
  return `/${target}${anchor === undefined ? "" : `#${anchor}`}`;
}

/** The sidebar: the tables of the index of the docs, by its headings. Only the first column has pages. */
export function groupsOf(index: string): Group[] {
  return index
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      text: section.slice(0, section.indexOf("\n")),
      items: [...section.matchAll(/^\| \[([^\]]+)\]\(([^)]+)\)/gm)].map(([, text = "", link = ""]) => ({
        text,
        link: targetOf(link, "docs/README.md"),
      })),
    }))
    .filter(({ items }) => items.length > 0);
}
