import { expect, test } from "vitest";

import { adopting } from "../support/reported-by-adopt.ts";
import { queue } from "../support/sqs-listing.ts";

const delays = queue("sales-delay.fifo", { DelaySeconds: 900 });
const adopt = (listing: readonly object[], queues: readonly string[] = []) =>
  adopting({ kind: "adopt", text: JSON.stringify(listing), queues }, "sqs@eu-west-1", "shop", "sqs");

test("the delay queue of an endpoint of NServiceBus is no consumer, and shows who has the schedule", () => {
  const adopted = adopt([queue("sales"), delays]);
  if (!adopted.ok) throw new Error("it is adopted");
  expect(Object.keys(adopted.value.draft.system.consumers)).toEqual(["sales"]);
  expect(adopted.value.refused).toEqual([]);
  const said = adopted.value.unsaid.filter(({ fact }) => fact.includes("NServiceBus")).map(({ place }) => place);
  expect(said).toEqual(["sales", "sales-delay.fifo"]);
});

test("a person who names the delay queue gets the reason", () => {
  const adopted = adopt([queue("sales"), delays], ["sales-delay.fifo"]);
  expect(adopted.ok ? [] : adopted.diagnostics.flatMap(({ notes }) => notes)).toEqual([
    expect.stringContaining("NServiceBus"),
  ]);
});

test.for([
  ["without its queue", [delays]],
  ["without a delay", [queue("sales"), queue("sales-delay.fifo", { DelaySeconds: 0 })]],
])("a queue with such a name %s has a consumer", ([, listing]) => {
  const adopted = adopt(listing as readonly object[]);
  expect(adopted.ok ? Object.keys(adopted.value.draft.system.consumers) : []).toContain("sales-delay");
});
