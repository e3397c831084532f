import { isDeepStrictEqual } from "node:util";

import type { BrokerTopology } from "../../../src/brokers/rabbitmq/prove/semantics.ts";
import type { RegisteredResource } from "../pulumi.ts";
import type { Backend } from "./engine-model.ts";

interface Place {
  readonly exchanges: Map<string, BrokerTopology["exchanges"][number]>;
  readonly queues: Map<string, BrokerTopology["queues"][number]>;
  readonly policies: Map<string, BrokerTopology["policies"][number]>;
  readonly bindings: Map<string, BrokerTopology["bindings"][number]>;
}

/**
 * RabbitMQ's management API in memory, as far as a deployment uses it. It refuses a declaration that differs from the
 * existing one.
 */
export interface MemoryBroker extends Backend {
  readonly topologyOf: (vhost: string) => BrokerTopology;
  readonly vhosts: () => readonly string[];
  readonly bind: (vhost: string, binding: BrokerTopology["bindings"][number]) => void;
}

type Inputs = Readonly<Record<string, unknown>>;

export function memoryBroker(): MemoryBroker {
  const places = new Map<string, Place>();
  const placeOf = (vhost: string): Place => {
    const place = places.get(vhost) ?? {
      exchanges: new Map(),
      queues: new Map(),
      policies: new Map(),
      bindings: new Map(),
    };
    places.set(vhost, place);
    return place;
  };
  const put = ({ type, inputs }: RegisteredResource): void => {
    const place = placeOf(String(inputs["vhost"]));
    const name = String(inputs["name"]);
    switch (type) {
      case "rabbitmq:index/exchange:Exchange": {
        const { type: kind, arguments: given = {} } = inputs["settings"] as Inputs;
        declare(place.exchanges, { name, kind, arguments: given } as BrokerTopology["exchanges"][number]);
        break;
      }
      case "rabbitmq:index/queue:Queue": {
        const given = JSON.parse(String((inputs["settings"] as Inputs)["argumentsJson"])) as Record<string, never>;
        declare(place.queues, { name, kind: "quorum", arguments: given });
        break;
      }
      case "rabbitmq:index/policy:Policy":
        place.policies.set(name, policyOf(name, inputs["policy"] as Inputs));
        break;
      case "rabbitmq:index/binding:Binding": {
        const binding = bindingOf(inputs);
        const ends = binding.destinationKind === "queue" ? place.queues : place.exchanges;
        if (!place.exchanges.has(binding.source) || !ends.has(binding.destination)) throw new Error("404 not found");
        place.bindings.set(keyOf(binding), binding);
        break;
      }
      default:
        throw new Error(`a ${type} is nothing of RabbitMQ's`);
    }
  };
  return {
    create: put,
    update: (_, now) => put(now),
    remove: ({ type, inputs }) => {
      const place = placeOf(String(inputs["vhost"]));
      const name = String(inputs["name"]);
      if (type.endsWith(":Binding")) place.bindings.delete(keyOf(bindingOf(inputs)));
      else if (type.endsWith(":Policy")) place.policies.delete(name);
      else {
        (type.endsWith(":Queue") ? place.queues : place.exchanges).delete(name);
        for (const [key, { source, destination }] of place.bindings)
          if (source === name || destination === name) place.bindings.delete(key);
      }
    },
    topologyOf: (vhost) => {
      const { exchanges, queues, policies, bindings } = placeOf(vhost);
      return {
        exchanges: [...exchanges.values()],
        queues: [...queues.values()],
        policies: [...policies.values()],
        bindings: [...bindings.values()],
      };
    },
    vhosts: () => [...places.keys()],
    bind: (vhost, binding) => void placeOf(vhost).bindings.set(keyOf(binding), binding),
  };
}

function declare<Thing extends { readonly name: string }>(things: Map<string, Thing>, thing: Thing): void {
  const old = things.get(thing.name);
  if (old !== undefined && !isDeepStrictEqual(old, thing)) throw new Error("400 inequivalent arg");
  things.set(thing.name, thing);
}

function policyOf(name: string, policy: Inputs): BrokerTopology["policies"][number] {
  const definition = Object.entries(policy["definition"] as Readonly<Record<string, string>>).map(
    ([key, value]) => [key, /^[+-]?\d+$/.test(value) ? Number(value) : value] as const,
  );
  return {
    name,
    kind: "user",
    pattern: String(policy["pattern"]),
    applyTo: policy["applyTo"] as "queues",
    priority: Number(policy["priority"]),
    definition: Object.fromEntries(definition),
  };
}

function bindingOf(inputs: Inputs): BrokerTopology["bindings"][number] {
  return {
    source: String(inputs["source"]),
    destination: String(inputs["destination"]),
    destinationKind: inputs["destinationType"] as "queue",
    routingKey: String(inputs["routingKey"]),
    arguments: JSON.parse(String(inputs["argumentsJson"] ?? "{}")) as Record<string, never>,
  };
}

function keyOf({
  source,
  destination,
  destinationKind,
  routingKey,
  arguments: given,
}: BrokerTopology["bindings"][number]): string {
  return JSON.stringify([source, destination, destinationKind, routingKey, given]);
}
