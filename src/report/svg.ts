import type { Graphviz } from "@hpcc-js/wasm-graphviz";

import type { Graph } from "../brokers/graph.ts";
import { visible } from "../diagnostics/visible.ts";
import { renderDot } from "./dot.ts";
import { graphOfConsumer, shapeOf } from "./graph-layout.ts";
import { escapeXml } from "./markup.ts";
import { wayOf } from "./way.ts";

/** Nobody can read a larger picture, and its layout takes up to a minute. */
export function isReadable({ edges }: Graph): boolean {
  const { size } = new Set(edges.map(({ consumer }) => consumer));
  return size < 2 || (size <= 50 && edges.length <= 1_000);
}

/**
 * Draws a graph as SVG, laid out by Graphviz. The same graph gives the same bytes. Each text takes the width that
 * Graphviz planned for it, so it stays in its box in any font. If it were not readable, each consumer has a picture of
 * its own, below the other.
 *
 * @returns one `<svg>` element without prolog, for a page or for a file of its own. It has no ids, so several can be on
 *   one page, and a screen reader reads its title and the way of a message
 */
export async function renderSvg(graph: Graph): Promise<string> {
  const graphviz = await loadGraphviz();
  if (!isReadable(graph)) return renderEach(graph, graphviz);
  const ordered = renderDot(graph);
  const free = ordered.replaceAll(/^ *\{ rank=same;.*\n/gm, "");
  const all = graph.edges.length;
  let svg = graphviz.dot(ordered, "svg");
  // Graphviz leaves out an arrow if the order of a column leaves it no way.
  if (arrowsIn(svg) < all) svg = graphviz.dot(free, "svg");
  const drawn = arrowsIn(svg);
  if (drawn < all) console.error(`redeliver: the picture of ${visible(graph.title)} has ${drawn} of ${all} arrows`);
  if (textsIn(svg).some((key) => !widths.has(key))) readWidths(graphviz.osage(unconnected(free), "json"));
  return embeddable(fitted(svg), graph.title, wayOf(graph));
}

/** Draws the consumers one below the other, and once those that differ in names only. */
async function renderEach(graph: Graph, graphviz: Graphviz): Promise<string> {
  readWidths(graphviz.osage(unconnected(renderDot(graph)), "json"));
  const consumers = new Set(graph.edges.flatMap(({ consumer }) => consumer ?? []));
  const shapes = Map.groupBy(consumers, (each) => shapeOf(graphOfConsumer(graph, each), each));
  let [all, width, height] = ["", 0, 0];
  for (const [first = "", ...others] of shapes.values()) {
    const svg = await renderSvg(graphOfConsumer(graph, first));
    const [size = "", wide = "", high = ""] = /width="(\d+)pt" height="(\d+)pt"/.exec(svg) ?? [];
    const alike = others.length === 0 ? "" : `and ${others.length} alike, such as ${others[0]}`;
    all += `${svg.replace(size, `y="${height}" width="${wide}" height="${high}"`)}\n<text x="14" y="${height + Number(high) + 6}" font-family="Arial" font-size="12">${escapeXml(alike)}</text>\n`;
    [width, height] = [Math.max(width, Number(wide)), height + Number(high) + 12];
  }
  const title = escapeXml(graph.title);
  return `<svg role="group" aria-label="${title}" width="${width}pt" height="${height}pt" viewBox="0 0 ${width} ${height}" xmlns="http://www.w3.org/2000/svg">\n<title>${title}</title>\n${all}</svg>`;
}

function arrowsIn(svg: string): number {
  return [...svg.matchAll(/<g id="[^"]*" class="edge [^"]*">\n<title>[^\n]*\n<path/g)].length;
}

/**
 * Loads Graphviz without a voice. It takes the console at once, and would print about each line that it finds no way
 * for, the invisible ones of the columns as well. A layout that fails throws.
 */
async function loadGraphviz(): Promise<Graphviz> {
  // Graphviz is a megabyte of WebAssembly, and most commands draw nothing.
  const { Graphviz } = await import("@hpcc-js/wasm-graphviz");
  const { error } = console;
  console.error = () => undefined;
  const loading = Graphviz.load();
  console.error = error;
  return loading;
}

/**
 * The width of each text that Graphviz has planned, in points, by the text, its size and its weight. Nothing else
 * decides a width, so the pictures of consumers need no second layout for the texts of the whole picture.
 */
const widths = new Map<string, number>();

/** The drawing with a node in place of all arrows with one label. Nothing is left to lay out but its texts. */
function unconnected(dot: string): string {
  const arrow = /^ *\w+ -> \w+ \[(label=.*)$/gm;
  const looks = new Set([...dot.matchAll(arrow)].map(([, look]) => look));
  const texts = [...looks].map((look, index) => `  e${index} [fontsize=10, ${look}`).join("\n");
  return dot.replaceAll(arrow, "").replace(/\}\s*$/, () => `${texts}\n}\n`);
}

/** One step of Graphviz's drawing: a font size, the style of a font, or a text and its width in points. */
interface Step {
  readonly op: string;
  readonly size?: number;
  readonly fontchar?: number;
  readonly width?: number;
  readonly text?: string;
}

function readWidths(json: string): void {
  const { objects = [], edges = [] } = JSON.parse(json) as Readonly<
    Record<"objects" | "edges", readonly { readonly _ldraw_?: readonly Step[] }[] | undefined>
  >;
  for (const { _ldraw_: steps = [] } of [...objects, ...edges]) {
    let [size, isBold] = [0, false];
    for (const step of steps) {
      if (step.op === "F") size = step.size ?? 0;
      else if (step.op === "t") isBold = step.fontchar === 1;
      else if (step.op === "T") widths.set(keyOf(step.text ?? "", size, isBold), step.width ?? 0);
    }
  }
}

function keyOf(text: string, size: number, isBold: boolean): string {
  return `${size} ${isBold} ${text}`;
}

const textElement = /<text ([^>]*)>([^<]*)<\/text>\n?/g;

function textsIn(svg: string): readonly string[] {
  return [...svg.matchAll(textElement)].map(([, attributes = "", text = ""]) => keyOfElement(attributes, text));
}

function keyOfElement(attributes: string, text: string): string {
  const size = Number(/font-size="([\d.]+)"/.exec(attributes)?.[1]);
  return keyOf(unescaped(text), size, attributes.includes('font-weight="bold"'));
}

function fitted(svg: string): string {
  return svg.replaceAll(textElement, (whole, attributes: string, text: string) => {
    const width = widths.get(keyOfElement(attributes, text));
    if (width === undefined) return whole;
    // The small blanks below the labels of edges keep a distance. They show nothing.
    if (unescaped(text).trim() === "") return "";
    return `<text ${attributes} textLength="${width}" lengthAdjust="spacingAndGlyphs">${text}</text>\n`;
  });
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function unescaped(text: string): string {
  return text.replaceAll(/&(?:#(\d+)|(\w+));/g, (_, code: string | undefined, name: string) =>
    code === undefined ? (entities[name] ?? "") : String.fromCodePoint(Number(code)),
  );
}

/** Graphviz escapes names in its output, so every tag found here is Graphviz's own. */
function embeddable(svg: string, title: string, way: string): string {
  const name = escapeXml(title);
  const element = svg
    .slice(svg.indexOf("<svg"))
    .replaceAll(/<!--.*?-->\n?/gs, "")
    .replaceAll(/<title>.*?<\/title>\n?/gs, "")
    .replaceAll(/(<g) id="[^"]*"/g, "$1")
    .replaceAll("&#45;", "-")
    // A tenth of a point is finer than a screen, and a page has a picture of each consumer.
    .replaceAll(/<[^>]*>/g, (tag) => tag.replaceAll(/\d+\.\d+/g, (number) => String(Number(Number(number).toFixed(1)))))
    .trimEnd();
  return element.replace(
    /^<svg ([^>]*)>/,
    (_, attributes: string) =>
      `<svg role="img" aria-label="${name}. ${escapeXml(way)}" ${attributes}>\n<title>${name}</title>`,
  );
}
