import { toConsume } from "../compile/permissions.ts";
import { type Diagnostic, diagnostic, RefusedError } from "../../../diagnostics/diagnostic.ts";
import { refused } from "../../../diagnostics/render.ts";
import type { Contract } from "../compile/contract.ts";
import { difference, differing } from "./deployed/differences.ts";

/** Explains in our words why a queue refuses a consumer. Any other error comes back as it is. */
export function queueRefused(contract: Contract, queue: string, virtualHost: string, cause: unknown): unknown {
  if (cause instanceof RefusedError) return cause;
  const { code, message, condition, description } = (cause ?? {}) as Readonly<Record<string, unknown>>;
  // If another consumer asked for exclusive use, only the broker's text says so: the code is that of a missing
  // permission.
  if (isLocked(cause) || /in exclusive use/.test(`${String(message)} ${String(description)}`))
    return refused([takenAlone(queue)]);
  if (code === 403 || condition === "amqp:unauthorized-access")
    return refused([notPermitted("read", { contract, name: queue, virtualHost, cause })]);
  if (code === 406 && /'x-priority'.*rabbit_stream_queue/s.test(String(message)))
    return refused([differing(queue, "queue", [difference("x-queue-type", "'quorum'", "'stream'")])]);
  if (code === 404 || condition === "amqp:not-found") return refused([missing("queue", queue)]);
  return cause;
}

/**
 * True if the queue was declared for one connection alone. AMQP 0-9-1 reports it with a code, and 1.0 with a condition.
 */
export function isLocked(cause: unknown): boolean {
  const { code, condition } = (cause ?? {}) as Readonly<Record<string, unknown>>;
  return code === 405 || condition === "amqp:resource-locked";
}

export function takenAlone(queue: string): Diagnostic {
  return diagnostic("RD821", {
    path: queue,
    message: `another connection has the queue ${queue} for itself alone`,
    notes: [
      "the queue is exclusive, or a consumer of a classic queue asked to be the only one; the compiled quorum queues have neither",
    ],
    help: "end the program that uses it, and deploy again if the queue is no quorum queue; rabbitmqctl list_queues name type exclusive, and list_consumers, show the program",
  });
}

export function noAnswer(queue: string, withinMs: number): Diagnostic {
  return diagnostic("RD823", {
    path: queue,
    message: `the queue ${queue} has not answered within ${withinMs / 1_000} s`,
    notes: [
      "a quorum queue has a leader only while more than half of its members run, and does not answer without one",
    ],
    help: "start the nodes that are away; rabbitmq-queues quorum_status shows the members of the queue",
  });
}

/** A broker's refusal to a user that it has let in. */
interface Denial {
  readonly contract: Contract;
  readonly virtualHost: string;
  readonly cause: unknown;
}

/** The patterns of the three permissions, as the last words of a shell command. */
function patternsFor(contract: Contract): string {
  const { configure, write, read } = toConsume(contract);
  return [configure, write, read].map((pattern) => `'${pattern}'`).join(" ");
}

/** The broker lets the user in, but refuses an operation of the contract. */
export function notPermitted(
  access: "read" | "write",
  { contract, name, virtualHost, cause }: Denial & { readonly name: string },
): Diagnostic {
  const [doing, what, why] =
    access === "read"
      ? ["read from", "queue", "its messages are there"]
      : ["write to", "exchange", "the contract publishes copies there; a message whose copy is refused is never done"];
  return diagnostic("RD807", {
    path: name,
    message: `${userIn(cause)} may not ${doing} the ${what} ${name} in the virtual host ${virtualHost}`,
    notes: [why],
    help: `rabbitmqctl set_permissions -p VHOST USER CONFIGURE WRITE READ, with a ${access.toUpperCase()} that matches ${name}; all that this consumer takes is ${patternsFor(contract)}`,
  });
}

/** Null for any other error. */
export function tooManyQueues(virtualHost: string, cause: unknown): Diagnostic | null {
  const limit = /queue limit in vhost .*\((\d+)\) is reached/.exec(
    String((cause as { message?: unknown }).message),
  )?.[1];
  if (limit === undefined) return null;
  return diagnostic("RD822", {
    path: "options.connection.url",
    message: `the virtual host ${virtualHost} may have ${limit} queues, and has no room for the one of this instance`,
    notes: ["where every instance has a queue of its own, each takes one more for as long as it runs"],
    help: "rabbitmqctl set_vhost_limits -p VHOST '{\"max-queues\": N}'",
  });
}

/** Reads the broker's own words, because a token may name another user than the URL. */
function userIn(cause: unknown): string {
  const { message, description } = (cause ?? {}) as { readonly message?: unknown; readonly description?: unknown };
  const name = /refused for user '([^']*)'/.exec(`${String(message)} ${String(description)}`)?.[1];
  return name === undefined ? "this user" : `the user ${name}`;
}

export function missing(what: "queue" | "exchange", name: string): Diagnostic {
  return diagnostic("RD805", {
    path: name,
    message: `there is no ${what} ${name} in this virtual host`,
    notes: ["the declaration was not deployed here, or was deployed under another name"],
    help: "deploy the system before its consumers start: pulumi up, or redeliver compile --format definitions and rabbitmqctl import_definitions; or correct the virtual host in the URL",
  });
}
/** If every instance has its own queue, the broker names it. */
export function noQueueOfItsOwn({ contract, virtualHost, cause }: Denial): Diagnostic {
  const sources = [...new Set(contract.sources.map(({ exchange }) => exchange))].join(", ");
  return diagnostic("RD807", {
    path: "options.connection.url",
    message: `${userIn(cause)} may not make a queue of its own and bind it to ${sources} in the virtual host ${virtualHost}`,
    notes: [
      `each instance takes the permission to configure, write to and read from its own queue, whose name begins with amq.gen-, and to read from ${sources}`,
    ],
    help: `rabbitmqctl set_permissions -p VHOST USER ${patternsFor(contract)}`,
  });
}
