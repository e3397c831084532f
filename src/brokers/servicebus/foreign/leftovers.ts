import type { Leftover } from "../../broker.ts";
import type { ServicebusCompiled } from "../compile/compile.ts";
import type { AuditedEntity, Deployment } from "./deployment.ts";
import { subscriptionPath } from "../compile/topology.ts";

/**
 * The queues and subscriptions that have the system's name and are not declared any more, with the calls that remove
 * them. Subscriptions come first, because they forward to queues. Dead letters are in a queue's own dead-letter queue,
 * and go with it.
 */
export function leftoversIn({ namespaces }: Deployment, { topology }: ServicebusCompiled): readonly Leftover[] {
  const { system } = topology;
  const declared = new Set([
    ...topology.queues.map(({ name }) => name),
    ...topology.subscriptions.map(subscriptionPath),
  ]);
  return namespaces.flatMap(({ name: namespace, entities }) =>
    entities
      .filter(({ name }) => name.startsWith(`${system}.`) && !declared.has(name))
      .map((entity): Leftover => ({
        place: namespace,
        kind: entity.kind,
        name: entity.name,
        holds: /\.wait\.[^.]+$/.test(entity.name) ? "waiting" : entity.name === `${system}.dead` ? "dead" : "work",
        longestWaitMs: null,
        removal: [removalOf(namespace, entity)],
      }))
      .toSorted((a, b) => Number(a.kind === "queue") - Number(b.kind === "queue")),
  );
}

function removalOf(namespace: string, { kind, name, topic }: AuditedEntity): string {
  const place = `--namespace-name ${namespace} --resource-group GROUP`;
  return kind === "queue"
    ? `az servicebus queue delete --name ${name} ${place}`
    : `az servicebus topic subscription delete --name ${name.split("/").at(-1)} --topic-name ${topic} ${place}`;
}
