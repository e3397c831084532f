import type { Graph, GraphNode } from "../brokers/graph.ts";
import type { NumberedGraph, NumberedNode } from "./graph-layout.ts";
import { colours, labelLines, nameLines, numberGraph, strokes } from "./graph-layout.ts";
import { visible } from "../diagnostics/visible.ts";
import { escapeXml } from "./markup.ts";

export { graphOfConsumer } from "./graph-layout.ts";

/**
 * Draws a graph in DOT, the language of Graphviz.
 *
 * Every node and edge has its kind as its `class`, so that a page that holds the SVG can colour it by CSS.
 *
 * @returns the text of the drawing, ending in a line feed; valid for every name
 */
export function renderDot(graph: Graph): string {
  const numbered = numberGraph(graph);
  const lines = [
    `// ${visible(graph.title)}`,
    "digraph redeliver {",
    `  graph [rankdir=LR, bgcolor="#ffffff", pad="0.2", nodesep="0.22", ranksep="0.5", ${font(12)}]`,
    `  node [style=filled, height="0.4", penwidth="1.2", ${font(12)}]`,
    `  edge [arrowsize="0.7", penwidth="1.2", ${font(10)}]`,
  ];
  for (const node of numbered.sources) lines.push(`  ${renderNode(node, numbered)}`);
  numbered.consumers.forEach(({ consumer, nodes }, index) => {
    lines.push(
      `  subgraph cluster_${index} {`,
      `    graph [label=<<b>${nameLines(consumer).map(escapeLabel).join("<br/>")}</b>>, ${clusterLook}]`,
      ...nodes.map((node) => `    ${renderNode(node, numbered)}`),
      // Inside a cluster Graphviz 16 turns such a column upside down.
      ...renderColumn(nodes.toReversed(), "    "),
      "  }",
    );
  });
  for (const node of numbered.shared) lines.push(`  ${renderNode(node, numbered)}`);
  lines.push(...renderColumn(numbered.shared, "  "));
  return `${[...lines, ...renderEdges(numbered), "}"].join("\n")}\n`;
}

const clusterLook =
  'class=consumer, labeljust=l, style="rounded,filled", color="#d5dbe3", fillcolor="#f8fafc", fontcolor="#334155", margin=14';

/** `margin`: inches to the left and right of the label, and above and below it. */
const looks: Readonly<Record<GraphNode["kind"], Readonly<Record<"shape" | "style" | "margin", string>>>> = {
  source: { shape: "cds", style: "filled", margin: "0.16,0.12" },
  work: { shape: "box", style: "rounded,filled,bold", margin: "0.16,0.07" },
  tier: { shape: "box", style: "rounded,filled,dashed", margin: "0.16,0.07" },
  dead: { shape: "cylinder", style: "filled", margin: "0.16,0.07" },
  instance: { shape: "box3d", style: "filled", margin: "0.16,0.07" },
};

function renderNode(node: NumberedNode, graph: NumberedGraph): string {
  const { shape, style, margin } = looks[node.kind];
  const { fill, stroke, text } = colours[node.kind];
  const width = loopWidth(node, graph);
  const name = nameLines(node.label).map(escapeLabel).join("<br/>");
  const detail = node.detail === undefined ? [] : labelLines(node.detail).map(escapeLabel);
  const label = [`<b>${name}</b>`, ...detail.map((line) => `<font point-size="10">${line}</font>`)].join("<br/>");
  return `${node.number} [label=<${label}>, class=${node.kind}, shape=${shape}, margin="${margin}", style="${style}", fillcolor="${fill}", color="${stroke}", fontcolor="${text}"${width}]`;
}

/** The label of a loop stands above its node. The node must be wide enough to hold it inside the cluster. */
function loopWidth(node: NumberedNode, graph: NumberedGraph): string {
  const lines = graph.edges
    .filter((edge) => edge.fromNumber === node.number && edge.toNumber === node.number)
    .flatMap((edge) => labelLines(edge.label));
  return lines.length === 0 ? "" : `, width="${(Math.max(...lines.map((line) => line.length)) * 0.072).toFixed(2)}"`;
}

/** Invisible edges that keep the tiers in order, one below the other, with the dead queue last. */
function renderColumn(nodes: readonly NumberedNode[], indent: string): string[] {
  const column = nodes.filter(({ kind }) => kind === "tier" || kind === "dead").map(({ number }) => number);
  return column.length < 2 ? [] : [`${indent}{ rank=same; ${column.join(" -> ")} [style=invis] }`];
}

function renderEdges(graph: NumberedGraph): string[] {
  return graph.edges.map((edge) => {
    const stroke = strokes[edge.kind];
    const attributes = [
      `label=<${labelLines(edge.label)
        .map((line) => ` ${escapeLabel(line)} `)
        .join("<br/>")}<br/><font point-size="4"> </font>>`,
      `class=${edge.kind}`,
      `color="${stroke}"`,
      `fontcolor="${stroke}"`,
      ...(edge.kind === "retry" ? ["style=dashed"] : []),
    ];
    return `  ${edge.fromNumber} -> ${edge.toNumber} [${attributes.join(", ")}]`;
  });
}

/**
 * Text in an HTML-like label. Graphviz replaces \N, \G and similar sequences by names, and has no escape for them here.
 * A zero-width character between the two keeps them apart.
 */
function escapeLabel(line: string): string {
  return escapeXml(line).replaceAll(/\\(?=[EGHLNT])/g, "\\&#8288;");
}

function font(size: number): string {
  return `fontname="Arial", fontsize=${size}`;
}
