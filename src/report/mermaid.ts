import type { Graph, GraphEdge, GraphNode } from "../brokers/graph.ts";
import type { NumberedGraph, NumberedNode } from "./graph-layout.ts";
import { colours, labelLines, nameLines, numberGraph, strokes } from "./graph-layout.ts";
import { visible } from "../diagnostics/visible.ts";

/**
 * Draws a graph as a Mermaid flowchart, which GitHub and most wikis show as a picture.
 *
 * @returns the text of the diagram, ending in a line feed. It is valid for every name
 */
export function renderMermaid(graph: Graph): string {
  const numbered = numberGraph(graph);
  const lines = [`%% ${visible(graph.title).replaceAll(/[{}]/g, " ")}`, "flowchart LR"];
  for (const node of numbered.sources) lines.push(`  ${renderNode(node)}`);
  numbered.consumers.forEach(({ consumer, nodes }, index) => {
    lines.push(
      `  subgraph c${index}[${quote(nameLines(consumer))}]`,
      ...nodes.map((node) => `    ${renderNode(node)}`),
      "  end",
    );
  });
  for (const node of numbered.shared) lines.push(`  ${renderNode(node)}`);
  for (const edge of numbered.edges) {
    lines.push(`  ${edge.fromNumber} ${arrows[edge.kind]}|${quote(labelLines(edge.label))}| ${edge.toNumber}`);
  }
  return `${[...lines, ...renderClasses(numbered), ...renderLinkStyles(numbered)].join("\n")}\n`;
}

const shapes: Readonly<Record<GraphNode["kind"], readonly [string, string]>> = {
  source: ["([", "])"],
  work: ["[", "]"],
  tier: ["{{", "}}"],
  dead: ["[(", ")]"],
  instance: ["[[", "]]"],
};

const arrows: Readonly<Record<GraphEdge["kind"], string>> = {
  publish: "-->",
  retry: "-.->",
  due: "-->",
  dead: "==>",
};

function renderNode(node: NumberedNode): string {
  const [open, close] = shapes[node.kind];
  const lines = [...nameLines(node.label), ...(node.detail === undefined ? [] : labelLines(node.detail))];
  return `${node.number}${open}${quote(lines)}${close}`;
}

function renderClasses(graph: NumberedGraph): string[] {
  const nodes = [...graph.sources, ...graph.consumers.flatMap((each) => each.nodes), ...graph.shared];
  return Object.entries(colours).flatMap(([kind, { fill, stroke, text }]) => {
    const members = nodes.filter((node) => node.kind === kind).map((node) => node.number);
    const style = `fill:${fill},stroke:${stroke},color:${text}`;
    return members.length === 0 ? [] : [`  classDef ${kind} ${style}`, `  class ${members.join(",")} ${kind}`];
  });
}

function renderLinkStyles(graph: NumberedGraph): string[] {
  return Object.entries(strokes).flatMap(([kind, stroke]) => {
    const members = graph.edges.flatMap((edge, index) => (edge.kind === kind ? [index] : []));
    return members.length === 0 ? [] : [`  linkStyle ${members.join(",")} stroke:${stroke}`];
  });
}

/**
 * Mermaid has no backslash escapes, but it knows entities written with `#` instead of `&`. So this writes everything as
 * an entity that Mermaid could take for an entity, a tag, Markdown or the end of the text.
 */
function quote(lines: readonly string[]): string {
  return `"${lines.map(escapeLine).join("<br/>")}"`;
}

function escapeLine(line: string): string {
  // Mermaid drops the last semicolon of a line that looks like a style, and takes fa:fa-car for an icon.
  const special = /style|classDef|fa/.test(line) ? /[#"&<>\\`*_~|$:;]/g : /[#"&<>\\`*_~|$;]/g;
  return (
    line
      .replaceAll(special, (character) => `#${character.codePointAt(0)};`)
      // Mermaid refuses a line that starts like a list as "unsupported markdown".
      .replace(
        /^(\s*)([-+]|\d+[.)])(?=\s)/,
        (_, space: string, marker: string) =>
          `${space}${marker.slice(0, -1)}#${marker.codePointAt(marker.length - 1)};`,
      )
  );
}
