import { createServer } from "node:http";

import { expect, test } from "vitest";

import { targetOf } from "../../src/brokers/rabbitmq/foreign/deployment.ts";
import { routingIndex } from "../../src/brokers/rabbitmq/prove/routing.ts";
import { brokers } from "../../src/brokers/index.ts";
import { readLiveBroker } from "../../src/cli/read-live-broker.ts";
import { serveUntilEnd } from "../support/fake-broker.ts";

test.for(["3.8.5", "9"])("an unknown version in the file is refused at its place there: %s", (brokerVersion) => {
  const target = targetOf({ brokerVersion, virtualHosts: [] });
  if (target.ok) throw new Error("it is known");
  expect(target.diagnostics.map(({ code, path }) => [code, path])).toEqual([["RD201", "rabbitmq_version"]]);
  expect(target.diagnostics[0]?.help).toContain("--target");
});

test("queues are found by a pattern of their names, and wildcards inside names are ordinary characters", () => {
  const queues = ["order.placed", "order.*", "order.a.b", "bill.placed", "#"].map((name) => ({ name }));
  const { queuesLike } = routingIndex({ exchanges: [], bindings: [], queues });
  expect(queuesLike("order.*")).toEqual(["order.placed", "order.*"]);
  expect(queuesLike("bill.#")).toEqual(["bill.placed"]);
});

test("a server that sends single bytes is given up in time", async () => {
  const server = createServer((_request, response) => {
    const drip = setInterval(() => response.write(" "), 20);
    response.on("close", () => clearInterval(drip));
  });
  const port = await serveUntilEnd(server);
  const limits = { patienceMs: 1_000, greetingMs: 200 };
  const read = await readLiveBroker(`http://127.0.0.1:${port}`, brokers.rabbitmq.auditor.live, {}, limits);
  if (read.ok) throw new Error("it is no broker");
  expect(read.diagnostics[0]?.message).toContain("does not answer within 0.2 s");
});
