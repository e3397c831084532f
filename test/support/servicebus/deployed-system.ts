import type { ServiceBusMessage, ServiceBusReceivedMessage } from "@azure/service-bus";

import type { CompiledSystem } from "../../../src/index.ts";
import { checked } from "../examples.ts";
import { inTurn } from "../in-turn.ts";
import type { RegisteredResource } from "../pulumi.ts";
import { applyToEmulator } from "./apply.ts";
import { createClient } from "./clients.ts";
import { drive, type DrivenConsumer, type DriveOptions, type ServicebusContract } from "./drive.ts";
import { type Lab, startLab } from "./lab.ts";
import { compileServicebus, registerServicebus, type ServicebusTargetInput } from "./register.ts";

/** A system on an emulator of its own. */
export interface DeployedSystem {
  readonly lab: Lab;
  readonly compiled: CompiledSystem<"servicebus">;
  readonly resources: readonly RegisteredResource[];
  /** What was not created, and why. */
  readonly leftOut: readonly string[];
  readonly contract: (consumer: string) => ServicebusContract;
  /** Publishes to the topic `orders`. */
  readonly publish: (...messages: readonly ServiceBusMessage[]) => Promise<void>;
  readonly drive: (
    consumer: string,
    decide: DriveOptions["decide"],
    options?: Partial<Pick<DriveOptions, "draw" | "contract">>,
  ) => DrivenConsumer;
  /** Everything that is in the consumer's dead queue. */
  readonly letters: (consumer: string) => Promise<readonly ServiceBusReceivedMessage[]>;
}

const target = { broker: "servicebus", sku: "standard" } as const;

/**
 * Compiles a system, registers it as a Pulumi program does, and creates what was registered on an emulator.
 *
 * @param finished the `onTestFinished` of the test's own context
 * @param consumers what is declared; a message comes from the source `orders`
 */
export async function deploy(
  finished: (end: () => Promise<void>) => void,
  consumers: Readonly<Record<string, object>>,
  options: Partial<ServicebusTargetInput> = {},
): Promise<DeployedSystem> {
  const chosen = { ...target, ...options };
  const system = checked({ name: "shop", sources: { orders: { kind: "topic" } }, consumers });
  const compiled = compileServicebus(system, chosen);
  const { resources } = await inTurn(async () => registerServicebus(system, chosen));
  const lab = await startLab(finished);
  const leftOut = await applyToEmulator(lab.administration, resources);
  const contract = (consumer: string): ServicebusContract => {
    const found = compiled.contracts.find((each) => each.consumer === consumer);
    if (found === undefined) throw new Error(`no contract for ${consumer}`);
    return found;
  };
  const connect = (): ReturnType<typeof createClient> => {
    // Who asks for a session waits for one as long as an operation may take.
    const client = createClient(lab.emulator, { retryOptions: { maxRetries: 0, timeoutInMs: 10_000 } });
    finished(async () => client.close());
    return client;
  };
  return {
    lab,
    compiled,
    resources,
    leftOut,
    contract,
    publish: async (...messages) => {
      const sender = lab.client.createSender("shop.orders");
      await sender.sendMessages([...messages]);
      await sender.close();
    },
    drive: (consumer, decide, options = {}) => drive({ connect, contract: contract(consumer), decide, ...options }),
    letters: async (consumer) => lab.peek(contract(consumer).deadQueue),
  };
}
