import { randomUUID } from "node:crypto";

import type { MessageAttributeValue } from "@aws-sdk/client-sqs";

import type { CompiledSystem, SourceInput, System, TargetInput } from "../../../src/index.ts";
import { checked } from "../examples.ts";
import { inTurn } from "../in-turn.ts";
import { type AppliedSystem, applyToEmulator } from "./apply.ts";
import { region } from "./clients.ts";
import type { Decision } from "../decide.ts";
import { drive, type DrivenConsumer, type SqsContract } from "./drive.ts";
import type { SqsEmulator } from "./emulators.ts";
import { createLab, type Lab, type Queue } from "./lab.ts";
import { compileSqs, registerSqs } from "./register.ts";

/** A system on an emulator, under a name of its own. */
export interface DeployedSystem extends AsyncDisposable {
  readonly lab: Lab;
  readonly declared: System;
  readonly target: TargetInput<"sqs">;
  readonly compiled: CompiledSystem<"sqs">;
  readonly applied: AppliedSystem;
  readonly contract: (consumer: string) => SqsContract;
  readonly work: (consumer: string) => Queue;
  readonly dead: (consumer: string) => Queue;
  readonly drive: (
    consumer: string,
    decide: (delivery: { readonly body: string; readonly attempt: number }) => Decision,
  ) => DrivenConsumer;
  readonly dispose: () => Promise<void>;
}

/**
 * Compiles a system, registers it as a Pulumi program does, and creates the registered resources on an emulator.
 *
 * @param consumers the declared consumers; a message comes from the source `orders`
 * @param names the templates of names. Each needs the system's name in it, because an emulator has all systems
 */
export async function deploy(
  emulator: SqsEmulator,
  consumers: Readonly<Record<string, object>>,
  strategy: TargetInput<"sqs">["strategy"] = "auto",
  orders: SourceInput = { kind: "topic" },
  names: object = {},
  more: Pick<TargetInput<"sqs">, "deadQueue"> = {},
): Promise<DeployedSystem> {
  const target = { broker: "sqs", region, strategy, ...more } as const;
  const name = `t${randomUUID().slice(0, 8)}`;
  const system = checked({ name, names, sources: { orders }, consumers });
  const compiled = compileSqs(system, target);
  const { resources } = await inTurn(async () => registerSqs(system, target));
  const lab = createLab(emulator);
  const applied = await applyToEmulator(emulator, resources);
  const contract = (consumer: string): SqsContract => {
    const found = compiled.contracts.find((each) => each.consumer === consumer);
    if (found === undefined) throw new Error(`no contract for ${consumer}`);
    return found;
  };
  const queue = (wanted: string): Queue => {
    const found = applied.queues.get(wanted);
    if (found === undefined) throw new Error(`no queue ${wanted}`);
    return found;
  };
  const dispose = async (): Promise<void> => {
    await applied.dispose();
    await lab.dispose();
  };
  return {
    lab,
    declared: system,
    target,
    compiled,
    applied,
    contract,
    work: (consumer) => queue(contract(consumer).workQueue),
    dead: (consumer) => queue(contract(consumer).deadQueue),
    drive: (consumer, decide) => drive({ sqs: lab.sqs, queues: applied.queues, contract: contract(consumer), decide }),
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
}

/** Message attributes of the type String, as a publisher sets them. */
export function attributes(values: Readonly<Record<string, string>>): Record<string, MessageAttributeValue> {
  return Object.fromEntries(
    Object.entries(values).map(([name, StringValue]) => [name, { DataType: "String", StringValue }]),
  );
}

/** The texts of a message's attributes. */
export function textsOf(values: Readonly<Record<string, MessageAttributeValue>> | undefined): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values ?? {}).map(([name, { StringValue }]) => [name, StringValue ?? "no text"]),
  );
}
