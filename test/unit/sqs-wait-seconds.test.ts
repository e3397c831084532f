import { expect, test } from "vitest";

import { queuesOf } from "../../src/brokers/sqs/run/queue-urls.ts";
import { waitSecondsFor } from "../../src/brokers/sqs/run/receiving.ts";
import { compile } from "../../src/index.ts";
import { accepted, checked } from "../support/examples.ts";

/** The wait of the consumer's receive, and the time for which it hides a message. */
function timesOf(consumer: object): { readonly waitSeconds: number; readonly visibilitySeconds: number } {
  const declared = { from: { orders: "all" }, ...consumer };
  const system = checked({ name: "shop", sources: { orders: { kind: "topic" } }, consumers: { billing: declared } });
  const compiled = accepted(compile(system, { broker: "sqs", region: "eu-west-1" }));
  const [contract] = compiled.contracts;
  if (contract === undefined) throw new Error("no contract");
  const { work } = queuesOf(compiled, contract);
  return { waitSeconds: waitSecondsFor(work, contract), visibilitySeconds: work.visibilityTimeoutSeconds };
}

const constant = (delay: string): object => ({ retry: { attempts: 3, backoff: { kind: "constant", delay } } });

test.each([
  ["a short delay of the queue's own", { ...constant("2s"), handlerTimeout: "2s" }, 1, 4],
  ["the shortest", { ...constant("1s"), handlerTimeout: "30s" }, 1, 31],
  ["one that is no whole second more than the handler", { ...constant("4s"), handlerTimeout: "1500ms" }, 3, 6],
  ["a long one", { ...constant("1m"), handlerTimeout: "30s" }, 5, 90],
  ["no delay: the time for settling has room", { ...immediate(), handlerTimeout: "2s" }, 5, 12],
  ["no timeout that could be missed", { ...immediate() }, 5, 30],
])(
  "%s: a message that comes at the end of a wait stays hidden for as long as its handler may take",
  (_, declared, ...wanted) => {
    const { waitSeconds, visibilitySeconds } = timesOf(declared);
    expect([waitSeconds, visibilitySeconds]).toEqual(wanted);
  },
);

function immediate(): object {
  return { retry: { attempts: 3, backoff: { kind: "immediate" } } };
}
