import { type Diagnostic, diagnosed } from "../../../diagnostics/diagnostic.ts";
import { type SqsTarget, sqsLimits } from "./capabilities.ts";
import { diagnosePolicies } from "./quotas.ts";
import type { SqsTopology } from "./topology.ts";

/** The origin of the names at AWS: the topology, or Pulumi. Pulumi adds a random end, so that two names never meet. */
export type Naming = "explicit" | "automatic";

/** A hyphen and seven random characters. Source: `aws_sqs_queue` in `provider/resources.go` of pulumi-aws. */
const randomLength = 8;

/**
 * The name of a resource in the program and in the state. Pulumi derives an automatic name from it: it adds the random
 * end and, on FIFO, `.fifo` after that. So this name must not end in `.fifo`.
 */
export function logicalName(component: string, naming: Naming, name: string): string {
  const own = naming === "automatic" && name.endsWith(sqsLimits.fifoSuffix);
  return `${component}-${own ? name.slice(0, -sqsLimits.fifoSuffix.length) : name}`;
}

/**
 * Finds automatic names that are too long or have characters that SQS refuses. It also checks the policies that contain
 * them.
 */
export function diagnoseAutomaticNames(topology: SqsTopology, target: SqsTarget, component: string): Diagnostic[] {
  const long = diagnosePolicies(
    topology,
    target,
    (name) => `${logicalName(component, "automatic", name)}${"x".repeat(randomLength)}`,
  );
  return [...diagnoseNames(topology, component), ...long];
}

function diagnoseNames({ queues }: SqsTopology, component: string): Diagnostic[] {
  return queues.flatMap(({ name, consumer, fifo }) => {
    const own = logicalName(component, "automatic", name);
    const length = own.length + randomLength + (fifo ? sqsLimits.fifoSuffix.length : 0);
    const isOdd = !/^[A-Za-z0-9_-]+$/.test(own);
    if (length <= sqsLimits.nameLength && !isOdd) return [];
    return diagnosed("RD204", {
      path: ["consumers", consumer ?? ""],
      message: isOdd
        ? `the component is named ${JSON.stringify(component)}; SQS takes letters, digits, hyphens and underscores`
        : `an automatic name of ${JSON.stringify(name)} would have ${length} characters; ${sqsLimits.nameLength} are allowed`,
      notes: [`it begins with the name of the component, as in ${own}-1a2b3c4${fifo ? sqsLimits.fifoSuffix : ""}`],
      help: "shorten the component's name, or take naming: explicit",
    });
  });
}
