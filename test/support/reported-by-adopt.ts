import type { AdoptExample } from "../../examples/diagnostics/example.ts";
import type { Diagnostic } from "../../src/diagnostics/diagnostic.ts";
import { brokers, parseTarget } from "../../src/index.ts";
import { type Adopted, adoptDeployment } from "../../src/migrate/adopt.ts";

/** Adopts a definitions file. @throws Error with the first diagnostic if it is refused */
export function adoptText(text: string, target = "rabbitmq@4.3", name = "shop"): Adopted {
  const adopted = adopting({ kind: "adopt", text }, target, name);
  if (!adopted.ok) throw new Error(adopted.diagnostics[0]?.message);
  return adopted.value;
}

export function reportedByAdopt(example: AdoptExample): readonly Diagnostic[] {
  const adopted = adopting(example, "rabbitmq@4.3", "shop");
  return adopted.ok ? adopted.warnings : adopted.diagnostics;
}

function adopting({ text, queues = [] }: AdoptExample, on: string, name: string) {
  const read = brokers.rabbitmq.auditor.file.read(text);
  const target = parseTarget(on);
  if (!read.ok || !target.ok) throw new Error("the file and the target are sound");
  return adoptDeployment(read.value, target.value, { name, queues });
}
