import { createClient, type Lab, peekAll, startLab } from "@redeliver/servicebus-emulator";

import type { CompiledSystem } from "../../../src/index.ts";
import type { Sku } from "../../../src/brokers/servicebus/compile/capabilities.ts";
import { checked } from "../examples.ts";
import { inTurn } from "../in-turn.ts";
import type { RegisteredResource } from "../pulumi.ts";
import { applyToEmulator } from "./apply.ts";
import type { RunningSystem } from "./behaviours/behaviour.ts";
import { drive, type ServicebusContract } from "./drive.ts";
import { compileServicebus, registerServicebus, type ServicebusTargetInput } from "./register.ts";

/** A system on an emulator of its own. */
export interface DeployedSystem extends RunningSystem {
  readonly lab: Lab;
  readonly compiled: CompiledSystem<"servicebus">;
  readonly resources: readonly RegisteredResource[];
  /** The resources that were not created, with the reason. */
  readonly leftOut: readonly string[];
}

export const standard = { broker: "servicebus", sku: "standard" } as const;

/**
 * Compiles a system, registers it as a Pulumi program does, and creates the registered resources on an emulator.
 *
 * @param finished the `onTestFinished` of the test's own context
 * @param consumers the declared consumers; a message comes from the source `orders`
 */
export async function deploy(
  finished: (end: () => Promise<void>) => void,
  consumers: Readonly<Record<string, object>>,
  options: Partial<ServicebusTargetInput> = {},
  names: object = {},
): Promise<DeployedSystem> {
  const chosen = { ...standard, ...options };
  const system = checked({ name: "shop", names, sources: { orders: { kind: "topic" } }, consumers });
  const compiled = compileServicebus(system, chosen);
  const { resources } = await inTurn(async () => registerServicebus(system, chosen));
  const lab = await startLab(finished, { sku: chosen.sku as Sku });
  const leftOut = await applyToEmulator(lab.administration, resources, chosen.sku as Sku);
  return { ...running(finished, compiled, lab.emulator.connectionString), lab, compiled, resources, leftOut };
}

/** A compiled system with existing entities, on any emulator. */
export function running(
  finished: (end: () => Promise<void>) => void,
  { contracts }: CompiledSystem<"servicebus">,
  connectionString: string,
): RunningSystem {
  const contract = (consumer: string): ServicebusContract => {
    const found = contracts.find((each) => each.consumer === consumer);
    if (found === undefined) throw new Error(`no contract for ${consumer}`);
    return found;
  };
  const connect = (): ReturnType<typeof createClient> => {
    // A client that asks for a session waits for one as long as an operation may take.
    const client = createClient({ connectionString }, { retryOptions: { maxRetries: 0, timeoutInMs: 10_000 } });
    finished(async () => client.close());
    return client;
  };
  const peek: RunningSystem["peek"] = async (path) => peekAll({ connectionString }, path);
  return {
    contract,
    publish: async (...messages) => {
      const client = createClient({ connectionString });
      await client.createSender("shop.orders").sendMessages([...messages]);
      await client.close();
    },
    drive: (consumer, decide, options = {}) => drive({ connect, contract: contract(consumer), decide, ...options }),
    peek,
    letters: async (consumer) => peek(contract(consumer).deadQueue),
  };
}
