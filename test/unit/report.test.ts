import { expect, test, vi } from "vitest";

import type { Graph, GraphEdge, GraphNode } from "../../src/brokers/graph.ts";
import { brokerOf, compile, parseTarget, plan } from "../../src/index.ts";
import type { CompiledSystem, Plan, RetryInput, System } from "../../src/index.ts";
import { defineSystem, constant, exponential, immediate, steps } from "../../src/index.ts";
import { graphOfConsumer, renderDot } from "../../src/report/dot.ts";
import { costsByStrategy } from "../../src/report/costs.ts";
import { renderHtml, type TargetReport } from "../../src/report/html.ts";
import { renderMermaid } from "../../src/report/mermaid.ts";
import { renderSvg } from "../../src/report/svg.ts";
import { renderCompiledText, renderContractText, renderPlanText } from "../../src/report/text.ts";
import { renderTimeline } from "../../src/report/timeline.ts";
import { prove } from "../../src/compile/compile.ts";
import shop from "../../stacks/shop.ts";

function reportOf(system: System, text: string): TargetReport {
  const target = parseTarget(text);
  const checked = target.ok ? compile(system, target.value) : target;
  if (!target.ok || !checked.ok) throw new Error(JSON.stringify(checked));
  const proved = prove(checked.value, target.value);
  if (!proved.ok) throw new Error(JSON.stringify(proved));
  return {
    target: checked.value.target,
    plan: plan(system),
    compiled: checked.value,
    graph: brokerOf(target.value).graphOf(checked.value),
    warnings: checked.warnings,
    verdicts: proved.value,
    costs: costsByStrategy(plan(system), target.value),
  };
}

/** A system with one consumer of one key. */
const retrying = (retry: RetryInput): System =>
  defineSystem({
    name: "s",
    sources: { events: { kind: "topic" } },
    consumers: { c: { from: { events: ["a"] }, retry } },
  });
const shopOn43 = reportOf(shop, "rabbitmq@4.3");
const golden = (name: string): string => `../golden/report/${name}`;

test("the pictures and texts of the shop on 4.3 are those of the golden files", async () => {
  const { graph, compiled, warnings } = shopOn43;
  await expect(renderMermaid(graph)).toMatchFileSnapshot(golden("shop.mmd"));
  await expect(renderDot(graph)).toMatchFileSnapshot(golden("shop.dot"));
  await expect(renderPlanText(shopOn43.plan)).toMatchFileSnapshot(golden("shop-plan.txt"));
  await expect(renderCompiledText(compiled, shopOn43.plan, warnings)).toMatchFileSnapshot(golden("shop-compiled.txt"));
  const contracts = compiled.contracts.map((contract) => renderContractText(contract)).join("\n");
  await expect(contracts).toMatchFileSnapshot(golden("shop-contracts.txt"));
});

const hostileNames = [
  'a"<b>&\\',
  "<script>alert(1)</script>",
  "]--></title>{{|x|}}",
  "#quot;&lt;&amp;",
  "\\N \\G \\l",
  "end",
  "$& $1 $$",
  "nul\u0000 escape\u001b[31m feed\n half\ud800 \u202emarks",
  "x".repeat(255),
  "1. list",
];

/** Every name as node, group, detail and edge label, in a ring. */
const hostileGraph: Graph = {
  title: hostileNames.join(" "),
  nodes: hostileNames.map((name, index): GraphNode => ({
    id: name,
    kind: (["source", "work", "tier", "dead", "instance"] as const)[index % 5] ?? "work",
    label: name,
    detail: name,
    consumer: index % 2 === 0 ? null : name,
  })),
  edges: hostileNames.map((name, index): GraphEdge => ({
    from: name,
    to: hostileNames[(index + 1) % hostileNames.length] ?? name,
    label: name,
    kind: (["publish", "retry", "due", "dead"] as const)[index % 4] ?? "due",
    consumer: null,
  })),
};

test("in Mermaid no name can end its quotes, open a tag or become an entity", () => {
  const quoted = renderMermaid(hostileGraph)
    .split("\n")
    .slice(1)
    .flatMap((line) => line.match(/"[^"]*"/g) ?? []);
  // A node, an edge and a subgraph have one text each.
  expect(quoted).toHaveLength(hostileNames.length * 2 + hostileNames.length / 2);
  for (const text of quoted) {
    expect(text.slice(1, -1).replaceAll("<br/>", "").replaceAll(/#\d+;/g, "")).not.toMatch(/[<>&"#\\`|;\p{Cc}]/u);
  }
  expect(quoted).toContain('"a#34;#60;b#62;#38;#92;<br/>a#34;#60;b#62;#38;#92;"');
});

test("Graphviz reads every name as it is", async () => {
  const svg = await renderSvg(hostileGraph);
  expect(svg).toContain(">a&quot;&lt;b&gt;&amp;\\<");
  expect(svg).toContain(">&lt;script&gt;alert(1)&lt;/script&gt;<");
  expect(svg).toContain(">#quot;&amp;lt;&amp;amp;<");
  expect(svg).toContain("nul\u2400 escape\u241b[31m feed\u240a");
  expect(svg).toContain("$&amp; $1 $$");
  expect(svg).not.toContain("cluster_");
  expect(svg).not.toMatch(/<script|[\p{Cc}--\n]/v);
});

test("every move has its arrow, also where Graphviz first finds no way for it, and Graphviz keeps quiet", async () => {
  const said = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const backoffs = (["1s", "2s", "3s", "4s", "5s"] as const).map((first) =>
    exponential({ first, factor: 2, max: "10s" }),
  );
  // Each of these keys leads to another layout.
  for (const key of ["order.placed", "order.k"]) {
    const consumers = backoffs.map((backoff, index) => {
      const from = { orders: [key === "order.k" ? `${key}${index}` : key] };
      return [`consumer-${index}`, { from, retry: { attempts: 5, backoff } }] as const;
    });
    const sources = { orders: { kind: "topic" } } as const;
    const many = defineSystem({ name: "shop", sources, consumers: Object.fromEntries(consumers) });
    const { graph } = reportOf(many, "rabbitmq@4.3");
    const svg = await renderSvg(graph);
    expect(svg.match(/<g class="edge \w+">\n<path/g)).toHaveLength(graph.edges.length);
  }
  expect(said.mock.calls).toEqual([]);
  said.mockRestore();
});

test("an SVG is one element, without ids, with a title, and the same bytes each time", async () => {
  const first = await renderSvg(shopOn43.graph);
  expect(first).toBe(await renderSvg(structuredClone(shopOn43.graph)));
  expect(first).toMatch(
    /^<svg role="img" aria-label="shop on rabbitmq@4\.3\. Messages go from shop\.orders to shop\.billing: /,
  );
  expect(first).toMatch(/<\/svg>$/);
  expect(first).toContain("<title>shop on rabbitmq@4.3</title>");
  expect(first).not.toMatch(/ id="|<\?xml|<!DOCTYPE|<!--/);
  expect(first.match(/class="node /g)).toHaveLength(shopOn43.graph.nodes.length);
  expect(first.match(/class="edge /g)).toHaveLength(shopOn43.graph.edges.length);
});

test("an edge to a missing place is an internal error", () => {
  const [edge] = shopOn43.graph.edges;
  if (edge === undefined) throw new Error("the shop has edges");
  const broken = { ...shopOn43.graph, edges: [{ ...edge, to: "elsewhere" }] };
  expect(() => renderDot(broken)).toThrow(/leads to no node: elsewhere/);
});

test("the graph of one consumer has its own and the shared places, and none of another consumer", () => {
  const mail = graphOfConsumer(shopOn43.graph, "mail");
  expect(mail.nodes.map(({ consumer }) => consumer)).not.toContain("billing");
  expect(mail.nodes.filter(({ kind }) => kind === "tier")).toHaveLength(5);
  expect(mail.nodes.filter(({ kind }) => kind === "source").map(({ label }) => label)).toEqual(["shop.orders"]);
  expect(mail.edges.every(({ consumer }) => consumer === "mail")).toBe(true);
  expect(mail.edges.length).toBeGreaterThan(0);
});

test("text has no colour unless requested, and no name reaches the terminal as a control sequence", () => {
  const system = retrying({ attempts: 2, backoff: constant("1s") });
  expect(renderPlanText(plan(system))).not.toContain("\u001b");
  expect(renderPlanText(plan(system), { colour: true })).toContain("\u001b[1m");
  const renamed: Plan = { ...plan(system), system: "\u001b[2J" };
  expect(renderPlanText(renamed)).not.toContain("\u001b");
});

test("no line of the text is wider than requested, except for a single long name or operation", () => {
  const text = renderCompiledText(shopOn43.compiled, shopOn43.plan, [], { columns: 80 });
  expect(text.split("\n").filter((line) => line.length > 80)).toEqual([]);
});

test("with giveUpAfter the report names the attempts that are left out", () => {
  const system = retrying({ attempts: 6, backoff: exponential({ first: "10m", factor: 2 }), giveUpAfter: "90m" });
  expect(renderPlanText(plan(system))).toContain("4 of 6 attempts: the rest would be due after 1h 30m");
});

test("the page has every consumer on every target, each section has a unique id, and every link works", async () => {
  const reports = [shopOn43, reportOf(shop, "rabbitmq@3.10")];
  const html = await renderHtml({ title: "shop", reports });
  expect(html).toBe(await renderHtml({ title: "shop", reports }));
  for (const consumer of Object.keys(shop.consumers)) {
    expect(html.split(`<h3 data-consumer="${consumer}">`)).toHaveLength(3);
  }
  expect(html).not.toMatch(/<section(?![^>]* id=)/);
  const ids = [...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const links = [...html.matchAll(/ href="#([^"]*)"/g)].map(([, id]) => id);
  expect(links.filter((id) => !ids.includes(id))).toEqual([]);
});

/** A hundred consumers, each with keys of its own. */
function hundred(retryOf: (index: number) => RetryInput): System {
  const entries = Array.from({ length: 100 }, (_, index) => {
    const from = { orders: [`order.kind-${index}`, `order.${index}.#`] };
    return [`consumer-${index}`, { from, retry: retryOf(index), deadLetter: { retain: "7d" } }] as const;
  });
  return defineSystem({ name: "shop", sources: { orders: { kind: "topic" } }, consumers: Object.fromEntries(entries) });
}
const jittered = (first: number, attempts: number): RetryInput => {
  return { attempts, backoff: exponential({ first: `${BigInt(first)}s`, factor: 2, max: "1h", jitter: "20%" }) };
};
// Each consumer has queues of its own to wait in, so no picture is small.
const different = hundred((index) => {
  const backoff = exponential({ first: `${BigInt(index + 1)}s`, factor: 2, max: "10m" });
  return { attempts: 3 + (index % 6), backoff };
});
const three = ["rabbitmq@4.3", "sqs@eu-west-1", "servicebus@standard"];
test.for<readonly [name: string, system: System, targets: readonly string[], alike: number, pictures: number]>([
  ["all different", different, ["rabbitmq@4.0"], 8, 0],
  ["alike, six attempts with jitter", hundred(() => jittered(1, 6)), ["rabbitmq@4.3"], 5, 1],
  ["different, six attempts with jitter", hundred((index) => jittered(index + 1, 6)), ["rabbitmq@4.3"], 1, 0],
  ["in pairs, ten attempts with jitter", hundred((index) => jittered(1 + (index >> 1), 10)), ["rabbitmq@4.3"], 201, 0],
  ["alike, three brokers", hundred(() => ({ attempts: 6, backoff: constant("30s") })), three, 15, 3],
  ["different, three brokers", different, three, 15, 0],
])(
  "a page of 100 consumers has less than 2 MB, and every link leads somewhere: %s",
  async ([, system, targets, alike, pictures]) => {
    const html = await renderHtml({ title: "shop", reports: targets.map((target) => reportOf(system, target)) });
    expect(Buffer.byteLength(html)).toBeLessThan(2_000_000);
    expect(html.match(/<h3 data-consumer=/g)).toHaveLength(100 * targets.length);
    expect(html).toContain(`<a href="${targets[0]?.replace("@", "-")}/graph.svg">`);
    const ids = new Set(Array.from(html.matchAll(/ id="([^"]*)"/g), ([, id]) => id));
    expect(Array.from(html.matchAll(/ href="#([^"]*)"/g), ([, id]) => id).filter((id) => !ids.has(id))).toEqual([]);
    expect(html.match(/<section id="[^"]*--alike-/g) ?? []).toHaveLength(alike);
    expect(html.match(/<figure class="graph/g) ?? []).toHaveLength(pictures);
  },
);

test("consumers whose names are numbers or durations are not alike because of them", async () => {
  const delays = Array.from({ length: 70 }, (_, index) => `${BigInt(index + 1)}s` as const);
  const entries = delays.map((delay) => [delay, { retry: { attempts: 2, backoff: constant(delay) } }] as const);
  const system = defineSystem({ name: "shop", sources: {}, consumers: Object.fromEntries(entries) });
  const html = await renderHtml({ title: "shop", reports: [reportOf(system, "rabbitmq@4.3")] });
  expect(html).not.toContain("Schedule of ");
});

test("a picture of many consumers has one for each, with all of its arrows", async () => {
  const { graph } = reportOf(different, "rabbitmq@4.0");
  const own = graph.edges.filter(({ consumer }) => consumer !== null);
  const svg = await renderSvg(graph);
  expect(svg.match(/<svg /g)).toHaveLength(1 + 100);
  expect(svg.match(/<g class="edge \w+">\n<path/g)).toHaveLength(own.length);
});

test("the page loads nothing and runs no script", async () => {
  const html = await renderHtml({ title: "shop", reports: [shopOn43] });
  expect(html).not.toMatch(/<script|<link|<img|<iframe|@import|url\(| src=| on[a-z]+=/);
  // Namespaces are names that a browser does not load. The page has no other address.
  expect(html.replaceAll(/ xmlns(:xlink)?="[^"]*"/g, "")).not.toMatch(/https?:\/\//);
  expect(html).toContain("default-src 'none'");
});

test("the page shows the keeper of each promise, the reasons against a strategy, and each warning with its fix", async () => {
  const { compiled, warnings } = shopOn43;
  const html = await renderHtml({ title: "shop", reports: [shopOn43] });
  const text = (markup: string): string =>
    markup.replaceAll("&#39;", "'").replaceAll("&quot;", '"').replaceAll("&amp;", "&");
  for (const { statement } of compiled.promises) expect(text(html)).toContain(statement);
  for (const { passedOver } of compiled.choices)
    for (const { reason } of passedOver) expect(text(html)).toContain(reason);
  expect(warnings.length).toBeGreaterThan(0);
  for (const { help } of warnings) expect(text(html)).toContain(help);
  for (const keeper of ["broker", "consumer", "nobody"])
    expect(html).toContain(`<span class="keeper ${keeper}">${keeper}</span>`);
});

test("the overview says in words how many promises each keeper keeps", async () => {
  const html = await renderHtml({ title: "shop", reports: [shopOn43] });
  const [, overview = ""] = /<table class="overview">(.*?)<\/table>/s.exec(html) ?? [];
  const pills = Array.from(overview.matchAll(/<span class="keeper \w+">([^<]*)</g), ([, pill]) => pill);
  const counts = Map.groupBy(shopOn43.compiled.promises, ({ consumer, keeper }) => `${consumer} ${keeper}`);
  const wanted = Array.from(counts, ([, [{ keeper } = {}, ...others]]) => `${keeper} keeps ${1 + others.length}`);
  expect(pills.toSorted()).toEqual(wanted.toSorted());
});

test("names cannot break the page", async () => {
  const name = '"><script>alert(1)</script>&\\';
  const consumer = { from: { events: ["a"] }, retry: { attempts: 3, backoff: constant("1s") } };
  const system = defineSystem({
    name: "s",
    sources: { events: { kind: "topic" } },
    consumers: { "a.b": consumer, "a-b": consumer, "a-b-contract": consumer, contract: consumer },
  });
  const report = reportOf(system, "rabbitmq@4.3");
  const renamed = JSON.parse(JSON.stringify(report).replaceAll('"a.b"', JSON.stringify(name))) as TargetReport;
  const html = await renderHtml({ title: name, reports: [renamed] });
  expect(html).not.toContain("<script");
  expect(html).toContain('<h3 data-consumer="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;\\">');
  const ids = [...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

test.each([
  ["one attempt", { attempts: 1, backoff: constant("1s") }],
  ["no delay", { attempts: 4, backoff: immediate() }],
  ["from milliseconds to hours", { attempts: 5, backoff: steps(["50ms", "1s", "10m", "6h"]) }],
  ["many attempts", { attempts: 50, backoff: constant("20s", { jitter: "100%" }) }],
] as const)("a timeline of %s keeps its marks in order and within the strip", (_, retry) => {
  const system = retrying(retry);
  const [consumer] = plan(system).consumers;
  if (consumer === undefined || consumer.retry === null) throw new Error("the consumer retries");
  const svg = renderTimeline(consumer, consumer.retry).markup;
  const positions = [...svg.matchAll(/<circle [^>]*cx="([0-9.]+)%"/g)].map(([, x]) => Number(x));
  expect(positions).toHaveLength(retry.attempts);
  expect(positions).toEqual(positions.toSorted((a, b) => a - b));
  expect(new Set(positions).size).toBe(retry.attempts);
  expect(svg).not.toMatch(/NaN|Infinity|undefined/);
  for (const [, x, width] of svg.matchAll(/<rect class="jitter" x="([0-9.]+)%" width="([0-9.]+)%"/g)) {
    expect(Number(x) + Number(width)).toBeLessThan(100);
  }
});

test("an operation of an unknown broker is shown with all its fields", () => {
  const [contract] = shopOn43.compiled.contracts;
  if (contract === undefined) throw new Error("the shop has contracts");
  const outcomes = {
    ...contract.outcomes,
    success: [{ operation: "ChangeVisibility", timeoutMs: 90_000, batch: false }],
  };
  const foreign = { ...contract, outcomes } as unknown as CompiledSystem["contracts"][number];
  expect(renderContractText(foreign)).toContain("ChangeVisibility  timeout: 1m 30s; batch: false");
});

test("the page shows the time on the target, if a broker bounds it", async () => {
  const system = defineSystem({
    name: "shop",
    sources: { orders: { kind: "topic" } },
    consumers: {
      // Three receives. Each hides the message for the default 30 s.
      quick: { from: { orders: "all" }, retry: { attempts: 3, backoff: immediate() } },
    },
  });
  const reports = ["sqs@eu-west-1", "rabbitmq@4.3"].map((target) => reportOf(system, target));
  const html = await renderHtml({ title: "shop", reports });
  expect(html.match(/data-label="to the dead queue">([^<]*)</)?.[1]).toBe(
    "≤ 1m\u00a030s on sqs@eu-west-1, 0s + handlers on rabbitmq@4.3",
  );
  const [onSqs = "", onRabbitmq = ""] = html.split('<h2 class="target">').slice(1);
  expect(onSqs).toContain("<dt>to the dead queue</dt><dd>≤ 1m\u00a030s</dd>");
  expect(onSqs).not.toContain("add the time of the handlers");
  expect(onRabbitmq).toContain("<dt>to the dead queue</dt><dd>0s + handlers</dd>");
});
