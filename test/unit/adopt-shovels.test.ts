import { expect, test } from "vitest";

import { brokers } from "../../src/index.ts";
import { renderAdoption } from "../../src/report/adoption.ts";
import { accepted } from "../support/examples.ts";
import { binding, exchange, exported, queue } from "../support/known-topologies.ts";
import { adoptText } from "../support/reported-by-adopt.ts";

const shovel = (value: object): object => ({ vhost: "/", component: "shovel", name: "moving", value });
const between = (from: string | undefined, into: string | undefined, source = "a", destination = "b"): object => ({
  ...(from === undefined ? {} : { "src-uri": from }),
  ...(into === undefined ? {} : { "dest-uri": into }),
  "src-queue": source,
  "dest-queue": destination,
});

test.each([
  ["both are here", between("amqp://", "amqp://me:secret@localhost:5672"), ["a", "b"]],
  [
    "the first of several URIs counts",
    { ...between("amqp://", undefined), "src-uri": ["amqp://", "amqp://x"] },
    ["a", "b"],
  ],
  ["messages come from another broker", between("amqps://me:p%40ss@old.example.com", "amqp:///%2F"), [null, "b"]],
  ["messages come from a queue of the same name there", between("amqps://old", "amqp:///", "a", "a"), [null, "a"]],
  ["messages go to another broker", between("amqp://", "amqp://new.example.com:5671/%2F"), ["a", null]],
  ["messages come from another virtual host", between("amqp:///team", "amqp://"), [null, "b"]],
  ["nothing shows which broker is this one", between("amqp://one", "amqp://two"), ["a", "b"]],
  ["nothing shows it, and the names are alike", between("amqp://one", "amqp://two", "a", "a"), [null, "a"]],
  ["it is local", between(undefined, undefined), ["a", "b"]],
  ["a URI is none", between("nonsense", "amqp://[::1]"), ["a", "b"]],
])("a shovel between queues: %s", (_, value, [fromQueue, intoQueue]) => {
  const read = accepted(brokers.rabbitmq.auditor.file.read(exported({ queues: [], parameters: [shovel(value)] })));
  expect(read).toMatchObject({ virtualHosts: [{ shovels: [{ name: "moving", fromQueue, intoQueue }] }] });
  expect(JSON.stringify(read)).not.toMatch(/secret|p%40ss/);
});

test("an old queue goes only when no shovel publishes to it any more", () => {
  const adopted = adoptText(
    exported({
      exchanges: [exchange("events", "topic")],
      queues: [queue("orders", { "x-max-priority": 5 })],
      bindings: [binding("events", "orders", "o.*")],
      parameters: [shovel(between("amqps://old", "amqp://", "orders", "orders"))],
    }),
  );
  expect(renderAdoption(adopted, false, null)).toContain(
    "when orders is empty, and no program publishes to orders by the shovel moving any more, stop the old code",
  );
});
