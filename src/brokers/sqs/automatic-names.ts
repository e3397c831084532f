import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../diagnostics/diagnostic.ts";
import { sqsLimits } from "./capabilities.ts";
import type { SqsTopology } from "./topology.ts";

/** Who names the resources at AWS: the topology, or Pulumi, which adds a random end so that two of them never meet. */
export type Naming = "explicit" | "automatic";

/** A hyphen and seven random characters. Source: `aws_sqs_queue` in `provider/resources.go` of pulumi-aws. */
const randomLength = 8;

/**
 * The name of a resource in the program and in the state. Pulumi makes an automatic name of it, adding the random end and, on FIFO, `.fifo`
 * after that; so it must not have one before.
 */
export function logicalName(component: string, naming: Naming, name: string): string {
  const own = naming === "automatic" && name.endsWith(sqsLimits.fifoSuffix);
  return `${component}-${own ? name.slice(0, -sqsLimits.fifoSuffix.length) : name}`;
}

/** The queues whose automatic names would be too long, or have characters that SQS does not take. */
export function diagnoseAutomaticNames({ queues }: SqsTopology, component: string): Diagnostic[] {
  return queues.flatMap(({ name, consumer, fifo }) => {
    const own = logicalName(component, "automatic", name);
    const length = own.length + randomLength + (fifo ? sqsLimits.fifoSuffix.length : 0);
    const isOdd = !/^[A-Za-z0-9_-]+$/.test(own);
    if (length <= sqsLimits.nameLength && !isOdd) return [];
    return [
      diagnostic("RD604", {
        path: ["consumers", consumer ?? ""],
        message: isOdd
          ? `the component is named ${JSON.stringify(component)}; SQS takes letters, digits, hyphens and underscores`
          : `an automatic name of ${JSON.stringify(name)} would have ${length} characters; ${sqsLimits.nameLength} are allowed`,
        notes: [`it begins with the name of the component, as in ${own}-1a2b3c4${fifo ? sqsLimits.fifoSuffix : ""}`],
        help: "shorten the component's name, or take naming: explicit",
      }),
    ];
  });
}
