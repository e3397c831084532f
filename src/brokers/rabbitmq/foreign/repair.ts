import { type Difference, type FoundBinding, foreignWords } from "../compile/differences.ts";
import type { Topology } from "../compile/topology.ts";

const again = "deploy with `pulumi up --refresh`";

/** A queue is deleted only when it is empty, and when nothing can come into it. */
const ofQueues = {
  work: `stop the publishers, and let the consumers empty this queue and the queues where its messages wait. Then delete it, ${again}, and start the publishers`,
  dead: `stop the consumers, and handle the dead letters with \`redeliver dead\`. Then delete this queue, ${again}, and start the consumers`,
  waiting: `stop the consumers, and wait until this queue is empty. Then delete it, ${again}, and start the consumers`,
} as const;

/**
 * The way to repair a difference that no deployment can repair. The provider updates no arguments of a queue, and nothing
 * of an exchange. It would have to delete messages, or the way that they take. A failed message waits in its queue while
 * its dead-letter exchange is gone, because the broker dead-letters at least once.
 *
 * Source: provider 3.3.8, `doesn't support update`; `test/integration/drift-repair.test.ts`.
 */
export function repairOf(difference: Difference, topology: Topology): { readonly repair?: string } {
  const { change, kind, name } = difference;
  const { queues, exchanges } = topology;
  if (change === "extra") return waysIn(difference.binding, topology);
  if (change !== "different") return {};
  if (kind === "queue") {
    const role = queues.find((queue) => queue.name === name)?.role;
    return { repair: ofQueues[role === "work" || role === "dead" ? role : "waiting"] };
  }
  if (kind === "foreign" || kind === "foreign-arguments") return { repair: foreignWords[kind].help };
  if (kind !== "exchange") return {};
  const isSource = exchanges.some((each) => each.name === name && each.role === "source");
  const users = isSource ? "publishers" : "consumers";
  return { repair: `stop the ${users}, delete the exchange, ${again}, and start the ${users}` };
}

/** A binding of others into a work queue or a source. It may be the only way of wanted messages. */
function waysIn(
  { source, destination, destinationKind }: FoundBinding,
  { queues, exchanges }: Topology,
): { readonly repair?: string } {
  const [resources, entry] = destinationKind === "exchange" ? [exchanges, "source"] : [queues, "work"];
  const isEntry = resources.some(({ name, role }) => name === destination && role === entry);
  if (!isEntry || exchanges.some(({ name }) => name === source)) return {};
  // A declaration has no bindings between exchanges.
  const wanted =
    entry === "source"
      ? `declare the source ${destination} with owner: "other", and deploy`
      : "declare them in from of the consumer";
  return {
    repair: `find out who publishes to ${source}. If ${destination} is to get these messages, ${wanted}. If not, delete the binding by hand`,
  };
}
