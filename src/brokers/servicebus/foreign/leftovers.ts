import type { Leftover } from "../../deployed-part.ts";
import type { ServicebusCompiled } from "../compile/compile.ts";
import type { AuditedEntity, Deployment } from "./deployment.ts";
import { sharedDeadQueueName } from "../compile/names.ts";
import { subscriptionPath } from "../compile/topology.ts";

/**
 * The queues and subscriptions that have the system's prefix, or a name of an earlier declaration, and are not declared
 * any more. Each has the call that removes it. Subscriptions come first, because they forward to queues. Dead letters
 * are in a queue's own dead-letter queue, and go with it.
 */
export function leftoversIn(
  { namespaces }: Deployment,
  compiled: ServicebusCompiled,
  earlier: readonly ServicebusCompiled[] = [],
  others: readonly ServicebusCompiled[] = [],
): readonly Leftover[] {
  const { system } = compiled.topology;
  const declared = new Set([compiled, ...others].flatMap(namesIn));
  const before = new Set(earlier.flatMap(namesIn));
  return namespaces.flatMap(({ name: namespace, entities }) =>
    entities
      .filter(({ name }) => (name.startsWith(`${system}.`) || before.has(name)) && !declared.has(name))
      .map((entity): Leftover => ({
        place: namespace,
        kind: entity.kind,
        name: entity.name,
        holds: holdsOf(entity, sharedDeadQueueName(system)),
        longestWaitMs: null,
        removal: [removalOf(namespace, entity)],
      }))
      .toSorted((a, b) => Number(a.kind === "queue") - Number(b.kind === "queue")),
  );
}

function namesIn({ topology }: ServicebusCompiled): readonly string[] {
  return [...topology.queues.map(({ name }) => name), ...topology.subscriptions.map(subscriptionPath)];
}

/** A tier forwards its expired messages to a work queue. A work queue forwards dead letters to the shared queue only. */
function holdsOf({ kind, name, forwardDeadLetteredTo }: AuditedEntity, sharedDead: string): Leftover["holds"] {
  if (name === sharedDead || name.endsWith(".parked")) return "dead";
  const next = forwardDeadLetteredTo ?? "";
  return kind === "queue" && next !== "" && next !== sharedDead ? "waiting" : "work";
}

function removalOf(namespace: string, { kind, name, topic }: AuditedEntity): string {
  const place = `--namespace-name ${namespace} --resource-group GROUP`;
  return kind === "queue"
    ? `az servicebus queue delete --name ${name} ${place}`
    : `az servicebus topic subscription delete --name ${name.split("/").at(-1)} --topic-name ${topic} ${place}`;
}
