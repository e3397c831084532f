import type { ExamplePair, FileExample, StackExample, TargetFileExample } from "../example.ts";
import { generatedExample, retryText, systemText } from "../example-text.ts";

interface OptionsExample {
  readonly attempts?: number;
  readonly more?: readonly string[];
  readonly also?: TargetFileExample["also"];
}

/**
 * A target in Ireland with these lines, and a consumer billing. A returned message costs an attempt on every queue of
 * SQS.
 */
function target(lines: readonly string[], { attempts = 5, more = [], also }: OptionsExample = {}): TargetFileExample {
  return {
    kind: "target-file",
    text: ["broker: sqs", "region: eu-west-1", ...lines, ""].join("\n"),
    declaration: systemText({
      retry: retryText("kind: exponential, first: 1s, factor: 2", attempts),
      more: ["handlerTimeout: 30s", ...more],
    }),
    ...(also === undefined ? {} : { also }),
  };
}

/** The file of a stack that deploys `examples/portable.yaml`, with its provider's region. */
function stack(region: string): StackExample {
  const text = [
    "config:",
    `  aws:region: ${region}`,
    "  redeliver:target: { broker: sqs, region: eu-west-1 }",
    "",
  ].join("\n");
  return { kind: "stack", text, also: ["RD207"] };
}

/** A number of consumers like billing. Each takes a routing key of the one source. */
function consumers(count: number, ...more: readonly string[]): FileExample {
  return { ...generatedExample(count, '["order.placed"]', more), target: "sqs@eu-west-1", ...returned };
}

const returned = { also: ["RD207"] } as const;
const lambda = (options: string): readonly string[] => [`lambda: { billing: { function: billing, ${options} } }`];
const key = "arn:aws:kms:eu-west-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab";

/** RD2xx and RD6xx: the settings of a target for Amazon SQS beside its region, and quotas. */
export const targetExamples = {
  RD221: {
    fires: target(lambda("timeout: 30s, maximumConcurrency: 1")),
    quiet: target(lambda("timeout: 30s, maximumConcurrency: 2"), returned),
  },
  RD617: {
    fires: target(["kmsKey: alias/aws/sqs"]),
    quiet: target(["kmsKey: alias/shop"], { also: ["RD207", "RD623"] }),
  },
  RD618: {
    fires: target([`kmsKey: ${key.replace("eu-west-1", "us-east-1")}`]),
    quiet: target([`kmsKey: ${key}`], { also: ["RD207", "RD623"] }),
  },
  RD619: { fires: target(lambda("timeout: 10s")), quiet: target(lambda("timeout: 30s"), returned) },
  RD620: {
    fires: target(lambda("timeout: 30s, batchSize: 100")),
    quiet: target(lambda("timeout: 30s, batchSize: 100, batchWindow: 5s"), returned),
  },
  RD621: {
    fires: target(lambda("timeout: 30s"), { attempts: 1 }),
    quiet: target(lambda("timeout: 30s"), { attempts: 5, ...returned }),
  },
  RD622: {
    fires: target(lambda("timeout: 30s"), { attempts: 3, ...returned }),
    quiet: target(lambda("timeout: 30s"), { attempts: 5, ...returned }),
  },
  RD623: {
    fires: target(["kmsKey: alias/shop"], returned),
    quiet: target([], returned),
  },
  RD624: {
    fires: stack("us-east-1"),
    quiet: stack("eu-west-1"),
  },
  RD219: { fires: consumers(101, 'order: "per-key",'), quiet: consumers(100, 'order: "per-key",') },
  RD220: { fires: consumers(201), quiet: consumers(200) },
} as const satisfies Readonly<Record<string, ExamplePair>>;
