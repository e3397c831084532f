import { describe, expect, test } from "vitest";

import type { DiagnosticCode } from "../../src/index.ts";
import { findingsIn } from "../support/audit.ts";
import { delayInfrastructure, singleWaitQueue, springDeadLetterQueue } from "../support/known-topologies.ts";

/** The findings of an audit on each version, as `code queue`. */
function audit(definitions: object, version: string, upgradeTo?: string): string[] {
  return findingsIn(definitions, version, upgradeTo).map(({ code, path }) => {
    const names = /queues(?:\.([^.[]+)|\["([^"]+)"\])$/.exec(path);
    return `${code} ${names?.[1] ?? names?.[2] ?? path}`;
  });
}

const versions = ["3.10.8", "3.12.14", "3.13.2", "3.13.7", "4.0.5", "4.1.0", "4.2.0", "4.3.0", "4.3.6"];

describe("the three traps", () => {
  const wait = singleWaitQueue({ deliveryLimit: 2 });

  test.for(versions)("a delivery limit in front of a wait queue loses the message silently on %s (M1)", (version) => {
    expect(audit(wait, version)).toContain("RD413 billing.wait");
    const finding = findingsIn(wait, version).find(({ path }) => path.includes("billing.wait"));
    expect(finding?.notes.join("\n")).toMatch(
      /1\. published: ready in billing.*\n2\. delivered to a consumer of billing\n3\. its consumer is lost, more often than the delivery limit allows: ready in billing\.wait.*\n4\. its time to live passes: lost after billing\.wait: it comes back to a queue that it has died in/,
    );
  });

  test.for(versions)("a requeue without a counting limit is a hot loop only from 4.3 on: %s (M2)", (version) => {
    const isFound = audit(wait, version).includes("RD417 billing");
    expect(isFound).toBe(version.startsWith("4.3"));
  });

  // 3.13.0 to 3.13.2 read the deaths in the order of the queues' names. There the wait queue loses the message.
  test.for([
    ["3.10.8", ["RD414 billing"]],
    ["3.12.14", ["RD414 billing"]],
    ["3.13.2", []],
    ["3.13.7", ["RD413 billing"]],
    ["4.0.5", ["RD413 billing"]],
    ["4.1.0", ["RD413 billing"]],
    ["4.2.0", ["RD413 billing"]],
    ["4.3.0", ["RD413 billing"]],
    ["4.3.6", ["RD413 billing"]],
  ] as const)(
    "after a rejection the same cycle is endless up to 3.12, and later a loss: %s (M3)",
    ([version, wanted]) => {
      const found = audit(wait, version).filter((each) => each === "RD413 billing" || each === "RD414 billing");
      expect(found).toEqual(wanted);
    },
  );

  test("with at-least-once the message is kept for ever, and not deleted", () => {
    const safe = singleWaitQueue({ deliveryLimit: 2, atLeastOnce: true });
    const finding = findingsIn(safe, "4.3.6").find(({ path }) => path.includes("billing.wait"));
    expect(finding?.notes[0]).toContain("kept inside the queue for ever");
  });
});

describe("well-known systems", () => {
  test.for(versions)("with a classic wait queue only the consumer ends the retries, on %s", (version) => {
    expect(audit(singleWaitQueue({ type: "classic" }), version)).toEqual(["RD416 billing"]);
  });

  test.for(versions)("28 levels of delay have no fault on %s", (version) => {
    // Endpoints of that system handle their errors themselves, so their queues have no dead-letter exchange.
    expect(audit(delayInfrastructure(), version)).toEqual(['RD420 vhosts["/"]']);
  });

  test("without any endpoint a message has no route after its wait", () => {
    const lonely = delayInfrastructure({ endpoints: [] });
    expect(audit(lonely, "4.3.6")).toEqual(["RD412 nsb.v2.delay-level-00"]);
  });

  test.for(versions)("a queue with its dead-letter queue, as Spring's binder makes them, on %s", (version) => {
    expect(audit(springDeadLetterQueue({ type: "classic" }), version)).toEqual([]);
    const quorum = audit(springDeadLetterQueue({ type: "quorum" }), version);
    const wanted: DiagnosticCode[] = version.startsWith("3.") ? ["RD415"] : ["RD421"];
    expect(quorum.map((each) => each.slice(0, 5))).toEqual(wanted);
  });

  test("the binder's own retry loop loses a message that crashes its consumer", () => {
    expect(audit(springDeadLetterQueue({ type: "quorum", dlqTtlMs: 5_000 }), "4.0.5")).toEqual([
      "RD413 orders.billing.dlq",
      "RD413 orders.billing",
      "RD416 orders.billing",
    ]);
  });
});

describe("an upgrade", () => {
  test("from 3.13 to 4.0 adds a limit where there was none", () => {
    const finding = findingsIn(springDeadLetterQueue({ type: "quorum" }), "3.13.7", "4.0").find(
      ({ code }) => code === "RD425",
    );
    expect(finding?.notes).toEqual([
      "a message always returned with basic.nack and requeue: rabbitmq@3.13.7: it comes back at once, for ever; rabbitmq@4.0: after 21 deliveries it is dead-lettered to orders.billing.dlq",
      "a message whose consumer always crashes with it: rabbitmq@3.13.7: it comes back at once, for ever; rabbitmq@4.0: after 21 deliveries it is dead-lettered to orders.billing.dlq",
    ]);
  });

  test("from 4.2 to 4.3 stops counting basic.nack with requeue", () => {
    const found = audit(springDeadLetterQueue({ type: "quorum" }), "4.2.0", "4.3");
    expect(found).toEqual(["RD425 orders.billing"]);
  });

  test("to the same version changes nothing", () => {
    expect(audit(singleWaitQueue({ deliveryLimit: 2 }), "4.0.5", "4.0.5")).toEqual([]);
  });
});
