import { expect, test } from "vitest";

import { brokers, compileAndProve } from "../../src/index.ts";
import { costChangeTable, costTable, costsByStrategy } from "../../src/report/costs.ts";
import { renderHtml } from "../../src/report/html.ts";
import { renderCompiledText, renderCostsText } from "../../src/report/text.ts";
import { accepted, checked, oneConsumer } from "../support/examples.ts";

// A constant delay, three attempts: work and dead queue, two tiers or one wait queue, a queue for undeliverable messages.
const system = checked(oneConsumer({ retry: { attempts: 3, backoff: { kind: "constant", delay: "10s" } } }));
const proved = accepted(compileAndProve<"rabbitmq">(system, { broker: "rabbitmq", version: "4.3" }));
const costs = costsByStrategy(proved.plan, proved.target);

const table = [
  ["strategy", "exchanges", "policies", "queues", "bindings", "together", "hops of a retry"],
  ["auto", "2", "2", "2", "2", "8", "0"],
  ["native", "2", "2", "2", "2", "8", "0"],
  ["deferred", "–", "–", "–", "–", "–", "cannot keep the promises"],
  ["staged", "10", "6", "5", "17", "38", "2"],
  ["waits", "5", "4", "4", "6", "19", "2"],
];

test("the text of a report has the counts of each strategy, and of its own", () => {
  const lines = renderCostsText("rabbitmq@4.3", costTable(costs)).split("\n");
  expect(lines[0]).toBe("costs on rabbitmq@4.3");
  const cells = lines
    .filter((line) => line.startsWith("│"))
    .map((line) =>
      line
        .split("│")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  expect(cells).toEqual(table);
  const text = renderCompiledText(proved.compiled, proved.plan, []);
  expect(text).toContain("\nresources: exchanges 2, policies 2, queues 2, bindings 2\n");
});

test("the page of a report has the same counts", async () => {
  const { plan, compiled, verdicts } = proved;
  const graph = brokers.rabbitmq.graphOf(compiled);
  const report = { target: compiled.target, plan, compiled, graph, warnings: [], verdicts, costs };
  const page = await renderHtml({ title: "shop", reports: [report] });
  const inside = (pattern: RegExp, text: string): readonly string[] =>
    [...text.matchAll(pattern)].map(([, each = ""]) => each);
  const [details = ""] = inside(/<details class="costs">(.*?)<\/details>/gs, page);
  const rows = inside(/<tr>(.*?)<\/tr>/gs, details);
  expect(rows.map((row) => inside(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs, row))).toEqual(table);
  const [facts = ""] = inside(/<dl class="facts">(.*?)<\/dl>/gs, page);
  expect(inside(/<dt>(.*?)<\/dd>/gs, facts).map((each) => each.replace("</dt><dd>", " "))).toEqual([
    "exchanges 2",
    "policies 2",
    "queues 2",
    "bindings 2",
    "warnings 0",
  ]);
});

test("a change of a declaration has both counts where they differ", () => {
  const jitter = { attempts: 4, backoff: { kind: "constant", delay: "10s", jitter: "20%" } };
  const { plan: next } = accepted(
    compileAndProve<"rabbitmq">(checked(oneConsumer({ retry: jitter })), { broker: "rabbitmq", version: "4.3" }),
  );
  const { rows } = costChangeTable(costs, costsByStrategy(next, proved.target));
  expect(rows.map(([strategy, , , queues, , , hops]) => [strategy, queues, hops])).toEqual([
    // Neither a native delay nor a tier has jitter.
    ["auto", expect.stringMatching(/^2 → \d+$/), "0 → 2"],
    ["native", "2 → –", "0 → cannot keep the promises"],
    ["deferred", "–", "cannot keep the promises"],
    ["staged", "5 → –", "2 → cannot keep the promises"],
    ["waits", expect.stringMatching(/^4 → \d+$/), "2"],
  ]);
});
