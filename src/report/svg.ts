import type { Graph } from "../brokers/broker.ts";
import { renderDot } from "./dot.ts";
import { escapeXml } from "./visible.ts";

/**
 * Draws a graph as SVG, laid out by Graphviz. The same graph gives the same bytes.
 *
 * @returns one `<svg>` element without prolog, that can stand in a page or in a file of its own. It has no ids, so that
 *   several of them can be on one page, and its title is what a screen reader says.
 */
export async function renderSvg(graph: Graph): Promise<string> {
  // Graphviz is a megabyte of WebAssembly, and most commands draw nothing.
  const { Graphviz } = await import("@hpcc-js/wasm-graphviz");
  const graphviz = await Graphviz.load();
  return embeddable(graphviz.dot(renderDot(graph), "svg"), graph.title);
}

/** Names are escaped in what Graphviz writes, so a tag that is found here is one of Graphviz's own. */
function embeddable(svg: string, title: string): string {
  const name = escapeXml(title);
  const element = svg
    .slice(svg.indexOf("<svg"))
    .replaceAll(/<!--.*?-->\n?/gs, "")
    .replaceAll(/<title>.*?<\/title>\n?/gs, "")
    .replaceAll(/(<g) id="[^"]*"/g, "$1")
    .trimEnd();
  return element.replace(
    /^<svg ([^>]*)>/,
    (_, attributes: string) => `<svg role="img" aria-label="${name}" ${attributes}>\n<title>${name}</title>`,
  );
}
