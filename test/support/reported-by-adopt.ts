import type { AdoptExample } from "../../examples/diagnostics/example.ts";
import { type BrokerName, brokers, type Diagnostic, parseTarget } from "../../src/index.ts";
import { type Adopted, adoptDeployment } from "../../src/migrate/adopt.ts";

/** Adopts a file of a broker. @throws Error with the first diagnostic if it is refused */
export function adoptText(
  text: string,
  target = "rabbitmq@4.3",
  name = "shop",
  broker: BrokerName = "rabbitmq",
  url?: string,
): Adopted {
  const adopted = adopting({ kind: "adopt", text }, target, name, broker, url);
  if (!adopted.ok) throw new Error(adopted.diagnostics[0]?.message);
  return adopted.value;
}

export function reportedByAdopt(example: AdoptExample): readonly Diagnostic[] {
  const { target } = example;
  const adopted = adopting(example, target ?? "rabbitmq@4.3", "shop", target === undefined ? "rabbitmq" : "sqs");
  return adopted.ok ? adopted.warnings : adopted.diagnostics;
}

export function adopting(
  { text, queues = [] }: AdoptExample,
  on: string,
  name: string,
  broker: BrokerName = "rabbitmq",
  url?: string,
) {
  const read = brokers[broker].auditor.file.read(text);
  const target = parseTarget(on);
  if (!read.ok || !target.ok) throw new Error("the file and the target are sound");
  return adoptDeployment(read.value, target.value, { name, queues, url });
}

/** The facts that a declaration cannot say, each behind its place. */
export function factsOf({ unsaid }: Adopted): readonly string[] {
  return unsaid.map(({ place, fact }) => `${place}: ${fact}`);
}
