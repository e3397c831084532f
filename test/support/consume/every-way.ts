import { waysOf } from "../../../src/contract/interpret.ts";
import type { Contract, PublishOperation } from "../../../src/index.ts";
import { operationsFor } from "../drive.ts";
import type { WireFrame } from "./amqp-proxy.ts";
import { type Handled, runsInOrder } from "./handled.ts";
import { longestFor, nameOf } from "./judge-wire-0-9-1.ts";
import { readWire091 } from "./read-wire-0-9-1.ts";

/**
 * Changes recorded frames so that every copy takes the first way of its jitter, then the second, and so on. A consumer
 * chooses a way by chance; together these cover all.
 */
export function everyWay(
  contract: Contract,
  frames: readonly WireFrame[],
  handled: readonly Handled[],
): readonly (readonly WireFrame[])[] {
  const runOf = runsInOrder(handled);
  const copies = readWire091(frames).deliveries.flatMap((delivery) => {
    const { decision, attempt } = runOf(nameOf(delivery));
    const operations = operationsFor(contract, longestFor(contract, decision), attempt);
    return delivery.made.flatMap(({ kind, index }, position) =>
      kind === "copy" ? [{ index, ways: waysOf(operations[position] as PublishOperation) }] : [],
    );
  });
  const most = Math.max(1, ...copies.map(({ ways }) => ways.length));
  return Array.from({ length: most }, (_, number) => {
    const changed = [...frames];
    for (const { index, ways } of copies) if (ways.length > 1) take(changed, index, ways[number % ways.length] as Way);
    return changed;
  });
}

type Way = Pick<PublishOperation, "exchange" | "expirationMs">;

function take(frames: WireFrame[], index: number, { exchange, expirationMs }: Way): void {
  const method = frames[index] as Extract<WireFrame, { readonly kind: "publish" }>;
  frames[index] = { ...method, exchange };
  const next = frames.findIndex(
    (frame, at) =>
      at > index &&
      frame.kind === "properties" &&
      frame.connection === method.connection &&
      frame.channel === method.channel,
  );
  const header = frames[next] as Extract<WireFrame, { readonly kind: "properties" }>;
  if (expirationMs === null || expirationMs === "asked") throw new Error("jitter is a range");
  frames[next] = { ...header, properties: { ...header.properties, expiration: String(expirationMs.to) } };
}
