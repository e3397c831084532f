import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { diagnostic, RefusedError } from "../../diagnostics/diagnostic.ts";
import { refused } from "../../diagnostics/render.ts";
import { difference, differing } from "./differences.ts";

/** How long a queue may take to let a consumer take from it. */
export const queueAnswersWithinMs = 30_000;

/** Why a queue cannot be taken from: the broker's refusal in our words, or what was thrown where it is something else. */
export function queueRefused(queue: string, virtualHost: string, cause: unknown): unknown {
  if (cause instanceof RefusedError) return cause;
  const { code, message, condition, description } = (cause ?? {}) as Readonly<Record<string, unknown>>;
  // A consumer that is alone by its own wish is told in the words, and has the code of a permission that is missing.
  if (isLocked(cause) || /in exclusive use/.test(`${String(message)} ${String(description)}`)) {
    return refused([takenAlone(queue)]);
  }
  if (code === 403 || condition === "amqp:unauthorized-access") {
    return refused([notPermitted("read", queue, virtualHost, cause)]);
  }
  if (code === 406 && /'x-priority'.*rabbit_stream_queue/s.test(String(message))) {
    return refused([differing(queue, "queue", [difference("x-queue-type", "'quorum'", "'stream'")])]);
  }
  if (code === 404 || condition === "amqp:not-found") return refused([missing("queue", queue)]);
  return cause;
}

/** The queue was declared to be of one connection alone. By AMQP 0-9-1 a code, by 1.0 a condition. */
export function isLocked(cause: unknown): boolean {
  const { code, condition } = (cause ?? {}) as Readonly<Record<string, unknown>>;
  return code === 405 || condition === "amqp:resource-locked";
}

export function takenAlone(queue: string): Diagnostic {
  return diagnostic("RD821", {
    path: queue,
    message: `another connection has the queue ${queue} for itself alone`,
    notes: [
      "a queue that was declared exclusive, or a consumer of a classic queue that asked to be the only one; the quorum queues that are compiled know neither",
    ],
    help: "end the program that has it, and deploy again if the queue is no quorum queue; rabbitmqctl list_queues name type exclusive, and list_consumers, show who it is",
  });
}

export function noAnswer(queue: string): Diagnostic {
  return diagnostic("RD823", {
    path: queue,
    message: `the queue ${queue} has not answered within ${queueAnswersWithinMs / 1_000} s`,
    notes: [
      "a quorum queue has a leader only while more than half of its members run, and without one it answers nobody",
    ],
    help: "start the nodes that are away; rabbitmq-queues quorum_status shows the members of the queue",
  });
}

/** The broker lets the user in, and does not let it do what the contract takes. */
export function notPermitted(access: "read" | "write", name: string, virtualHost: string, cause: unknown): Diagnostic {
  const [doing, what, why] =
    access === "read"
      ? ["read from", "queue", "its messages are there"]
      : ["write to", "exchange", "the contract publishes copies there; a message whose copy is refused is never done"];
  return diagnostic("RD807", {
    path: name,
    message: `${userIn(cause)} may not ${doing} the ${what} ${name} in the virtual host ${virtualHost}`,
    notes: [why],
    help: `rabbitmqctl set_permissions -p VHOST USER CONFIGURE WRITE READ, with a ${access.toUpperCase()} that matches ${name}`,
  });
}

/** Null where it is something else. */
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

/** By the broker's own words, since a token may have another name for the user than the URL. */
function userIn(cause: unknown): string {
  const { message, description } = (cause ?? {}) as { readonly message?: unknown; readonly description?: unknown };
  const name = /refused for user '([^']*)'/.exec(`${String(message)} ${String(description)}`)?.[1];
  return name === undefined ? "this user" : `the user ${name}`;
}

export function missing(what: "queue" | "exchange", name: string): Diagnostic {
  return diagnostic("RD805", {
    path: name,
    message: `there is no ${what} ${name} in this virtual host`,
    notes: ["what is declared was not deployed here, or was deployed under another name"],
    help: "deploy the system before its consumers start: pulumi up, or redeliver compile --format definitions and rabbitmqctl import_definitions; or correct the virtual host in the URL",
  });
}
/** Where every instance has a queue of its own, the broker names it. */
export function noQueueOfItsOwn(exchanges: readonly string[], virtualHost: string, cause: unknown): Diagnostic {
  const sources = exchanges.join(", ");
  return diagnostic("RD807", {
    path: "options.connection.url",
    message: `${userIn(cause)} may not make a queue of its own and bind it to ${sources} in the virtual host ${virtualHost}`,
    notes: [
      `each instance takes the permission to configure, write to and read from its own queue, whose name begins with amq.gen-, and to read from ${sources}`,
    ],
    help: "rabbitmqctl set_permissions -p VHOST USER CONFIGURE WRITE READ, with three that match",
  });
}
