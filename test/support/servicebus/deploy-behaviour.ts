import type { ServicebusTopology } from "../../../src/brokers/servicebus/compile/topology.ts";
import type { CompiledSystem, System } from "../../../src/index.ts";
import { checked } from "../examples.ts";
import { sharedBehaviours } from "./behaviours/all-behaviours.ts";
import type { Behaviour, RunningSystem } from "./behaviours/behaviour.ts";
import { deploy, type DeployedSystem, running, standard } from "./deployed-system.ts";
import { compileServicebus } from "./register.ts";

/**
 * Puts a behaviour's system onto an emulator of its own, as a Pulumi program does. It also creates relays, which no
 * program has.
 */
export async function deployBehaviour(
  finished: (end: () => Promise<void>) => void,
  behaviour: Behaviour,
): Promise<DeployedSystem> {
  const { consumers, target = {}, relays = [] } = behaviour;
  const system = await deploy(finished, consumers, target);
  const { administration } = system.lab;
  const { queues, subscriptions } = withRelays(system.compiled.topology, relays);
  for (const { name, forwardTo } of queues) {
    if (relays.includes(name) && forwardTo !== null) await administration.createQueue(name, { forwardTo });
  }
  for (const { topic, name, forwardTo } of relays.length === 0 ? [] : subscriptions) {
    const before = await administration.getSubscription(topic, name);
    if (forwardTo !== null) await administration.updateSubscription({ ...before, forwardTo });
  }
  return system;
}

/** A behaviour's system on Microsoft's emulator, started with `sharedTopology`. */
export function onMicrosofts(
  finished: (end: () => Promise<void>) => void,
  behaviour: Behaviour,
  connectionString: string,
): RunningSystem {
  return running(finished, compiledOf(behaviour), connectionString);
}

function compiledOf({ consumers, target = {} }: Behaviour): CompiledSystem<"servicebus"> {
  const system: System = checked({ name: "shop", sources: { orders: { kind: "topic" } }, consumers });
  return compileServicebus(system, { ...standard, ...target });
}

/** Everything that the behaviours for both emulators need, in one namespace. */
export function sharedTopology(): ServicebusTopology {
  const all = sharedBehaviours.map(([, behaviour]) =>
    withRelays(compiledOf(behaviour).topology, behaviour.relays ?? []),
  );
  const [first] = all;
  if (first === undefined) throw new Error("there are behaviours");
  return {
    ...first,
    queues: all.flatMap(({ queues }) => queues),
    subscriptions: all.flatMap(({ subscriptions }) => subscriptions),
  };
}

/**
 * Adds queues that forward one to the next, between the subscriptions and the one work queue. Each stands after the one
 * that it forwards to.
 */
export function withRelays(topology: ServicebusTopology, relays: readonly string[]): ServicebusTopology {
  const [work] = topology.queues;
  const [first] = relays;
  if (work === undefined || first === undefined) return topology;
  const chain = relays.map((name, index) => ({ ...work, name, forwardTo: relays[index + 1] ?? work.name }));
  return {
    ...topology,
    queues: [...topology.queues, ...chain.toReversed()],
    subscriptions: topology.subscriptions.map((each) => ({ ...each, forwardTo: first })),
  };
}
