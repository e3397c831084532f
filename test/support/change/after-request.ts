import { expect } from "vitest";

import type { Deployment as Found } from "../../../src/brokers/rabbitmq/foreign/deployment.ts";
import type { BrokerTopology } from "../../../src/brokers/rabbitmq/prove/semantics.ts";
import type { ChangeRequest } from "../../../src/brokers/migrating.ts";

/** The broker after a request. */
export function afterRequest({ virtualHosts: [host], ...rest }: Found, { method, path, body }: ChangeRequest): Found {
  if (host === undefined) throw new Error("there is no virtual host");
  const [, kind = "", , ...names] = path.split("/").map(decodeURIComponent);
  const given = (body ?? {}) as Readonly<Record<string, never>>;
  const [name = ""] = names;
  const own = host.topology;
  const having = (topology: Partial<BrokerTopology>): Found => ({
    ...rest,
    virtualHosts: [{ ...host, topology: { ...own, ...topology } }],
  });
  switch (kind) {
    case "queues":
      if (method === "DELETE")
        return having({
          queues: own.queues.filter((each) => each.name !== name),
          bindings: own.bindings.filter(
            ({ destination, destinationKind }) => destinationKind !== "queue" || destination !== name,
          ),
        });
      return having({ queues: [...own.queues, { name, kind: "quorum", arguments: given["arguments"] as never }] });
    case "exchanges": {
      const exchange = { name, kind: given["type"] as never, arguments: given["arguments"] as never };
      return having({ exchanges: [...own.exchanges, exchange] });
    }
    case "policies": {
      const { pattern, priority, definition, "apply-to": applyTo } = given as never as Record<string, never>;
      const policy = { name, kind: "user" as const, pattern, priority, definition, applyTo } as never;
      return having({ policies: [...own.policies.filter((each) => each.name !== name), policy] });
    }
    case "bindings": {
      const [, source = "", to, destination = "", key = ""] = names;
      const destinationKind = to === "q" ? ("queue" as const) : ("exchange" as const);
      const ends = { source, destination, destinationKind };
      if (method === "POST") {
        const binding = { ...ends, routingKey: given["routing_key"] as never, arguments: given["arguments"] as never };
        return having({ bindings: [...own.bindings, binding] });
      }
      const routingKey = key === "~" ? "" : key;
      const kept = own.bindings.filter(
        (each) => each.source !== source || each.destination !== destination || each.routingKey !== routingKey,
      );
      // A plan with a mistake may have deleted the queue.
      const isThere = own.queues.some((each) => each.name === destination);
      if (isThere) expect(kept).toHaveLength(own.bindings.length - 1);
      return having({ bindings: kept });
    }
    default:
      throw new Error(`${path} is no resource`);
  }
}
