import type { Connection } from "rhea";

import type { RabbitmqCompiled } from "../../compile/compile.ts";
import { different } from "../../compile/differences.ts";
import { RefusedError } from "../../../../diagnostics/diagnostic.ts";
import { refused } from "../../../../diagnostics/render.ts";
import { inTime } from "../../../../consume/port/long-timer.ts";
import type { Made, Presence } from "../deployed/compare.ts";
import { problemOf } from "../deployed/differences.ts";
import { askManagementNode } from "./management-node.ts";
import { takenAlone } from "../queue-refusals.ts";

type Queue = RabbitmqCompiled["topology"]["queues"][number];
type Arguments = Readonly<Record<string, unknown>>;

interface ShownQueue {
  /** True if the queue belongs to one other connection alone. */
  readonly exclusive: boolean;
  readonly arguments: Arguments;
}

/** The time limit for the broker to show a queue. */
const answersWithinMs = 5_000;

/**
 * Asks the management node for each queue. It shows no exchanges.
 *
 * @throws RefusedError for a queue that belongs to another connection alone
 */
export async function lookByAmqp10(
  connection: Connection,
  { queues }: { readonly queues: readonly Queue[] },
): Promise<{ readonly presences: ReadonlyMap<string, Presence>; readonly made: Made }> {
  const presences = new Map<string, Presence>();
  const differing: Made["differing"][number][] = [];
  for (const { name, arguments: wanted } of queues) {
    const shown = await show(connection, name);
    if (shown === "missing" || "notShown" in shown) presences.set(name, shown);
    else {
      presences.set(name, "there");
      differing.push(...different("queue", name, wanted, shown.arguments).map(problemOf));
    }
  }
  return { presences, made: { differing, uncompared: ["exchanges"] } };
}

type Shown = Exclude<Presence, "there"> | { readonly arguments: Arguments };

/**
 * Needs any one permission for the queue, like a passive declaration. Source: `rabbit_amqp_management:handle_http_req`.
 */
async function show(connection: Connection, name: string): Promise<Shown> {
  try {
    const asking = askManagementNode(connection, {
      method: "GET",
      path: `/queues/${encodeURIComponent(name)}`,
      body: null,
    });
    const late = (): Error => new Error("the broker does not show the queue");
    const { status, body } = await inTime(answersWithinMs, asking, late, null);
    if (status === "404") return "missing";
    if (status !== "200") return { notShown: `the broker does not show it (${status})` };
    const { exclusive, arguments: found } = body as ShownQueue;
    if (exclusive) throw refused([takenAlone(name)]);
    return { arguments: found };
  } catch (cause) {
    if (cause instanceof RefusedError) throw cause;
    const { condition } = (cause ?? {}) as { readonly condition?: unknown };
    const isRefused = condition === "amqp:unauthorized-access";
    return { notShown: isRefused ? "no permission for it" : "the broker does not show it" };
  }
}
