import { distance } from "../../../diagnostics/distance.ts";

import { deepFreeze } from "../../../declare/freeze.ts";
import { type Checked, type Diagnostic, accepted } from "../../../diagnostics/diagnostic.ts";
import { type DeadQueueKind, diagnoseDeadQueue } from "../../../contract/shared-dead-queue.ts";
import { unknownStrategy, unknownTarget } from "../../../contract/shared-problems.ts";
import { type SqsTarget, type StrategyName, strategyNames } from "./capabilities.ts";
import { diagnoseOptions, optionNames } from "./diagnose-options.ts";
import type { SqsOptions } from "./options.ts";
import { partitionOf, regions } from "./regions.ts";
import { diagnoseStrategies, strategiesUnder, withOwnStrategy } from "../../../contract/own-strategy.ts";
import { wordOf } from "../../../diagnostics/word-of.ts";

/** A target as a person writes it, in code or in the configuration of a stack. */
export interface SqsTargetInput extends SqsOptions {
  readonly broker: "sqs";
  /** `"eu-west-1"`. All resources are in this region, since a queue and its dead queue have to share one. */
  readonly region: string;
  readonly strategy?: "auto" | StrategyName | undefined;
  /** By consumer: a strategy of its own. All others have `strategy`. */
  readonly strategies?: Readonly<Record<string, "auto" | StrategyName>> | undefined;
  /** `shared`: one queue of the system gets all dead letters. The default is `own`. */
  readonly deadQueue?: DeadQueueKind | undefined;
}

/** Reads a region such as `eu-west-1`, and a strategy's name. */
export function parseSqsTarget(region: string, strategy = "auto"): Checked<SqsTarget> {
  return checkSqsTarget({ broker: "sqs", region, strategy: strategy as SqsTarget["strategy"] });
}

/** Checks a target that is data, or that was checked before. */
export function checkSqsTarget(input: SqsTargetInput | SqsTarget): Checked<SqsTarget> {
  // The type requires a region, but a target from a file may have none.
  const { region = "", strategy = "auto", strategies, partition, deadQueue } = input;
  const diagnostics = [
    ...diagnoseRegion(wordOf(region), partition),
    ...unknownStrategy("Amazon SQS", wordOf(strategy), strategyNames),
    ...diagnoseStrategies("Amazon SQS", strategies, strategyNames),
    ...diagnoseOptions(input),
    ...diagnoseDeadQueue("Amazon SQS", deadQueue),
  ];
  if (diagnostics.length > 0) return { ok: false, diagnostics };
  const options = optionNames.flatMap((name) => (input[name] === undefined ? [] : [[name, input[name]] as const]));
  const named = {
    strategy,
    ...(strategies === undefined ? {} : { strategies }),
    ...(deadQueue === "shared" ? { deadQueue } : {}),
  };
  const target = { broker: "sqs", region, ...named, ...(Object.fromEntries(options) as SqsOptions) };
  return accepted(deepFreeze(structuredClone(target)) as SqsTarget);
}

/**
 * Accepts a known region, or any region if the target also names its partition. A typo in both that still fits is
 * unlikely.
 */
function diagnoseRegion(region: string, partition: unknown): Diagnostic[] {
  const own = partitionOf(region);
  if (partition === undefined) return regions.includes(region) ? [] : [unknownRegion(region)];
  const named = wordOf(partition);
  if (!/^aws(-[a-z]+)*$/.test(named) || (own !== null && own !== named))
    return [
      unknownTarget({
        field: "partition",
        noun: own === null ? "partition of AWS" : `partition with the region ${region}`,
        given: partition,
        help: own === null ? "write for example partition: aws" : `write partition: ${own}, or remove it`,
      }),
    ];
  return /^[a-z]+(-[a-z]+)+-\d+$/.test(region) ? [] : [unknownRegion(region)];
}

function unknownRegion(region: string): Diagnostic {
  const nearest = regions.toSorted((a, b) => distance(a, region) - distance(b, region)).slice(0, 3);
  return unknownTarget({
    field: "region",
    noun: "known region of AWS",
    given: region,
    notes: region === "" ? [] : [`the nearest are ${nearest.join(", ")}`],
    help: "write for example sqs@eu-west-1; for a region that is newer than Redeliver, a target file that names its partition too, as in partition: aws",
  });
}

/** The target without its settings for other consumers. */
export function targetForConsumer(target: SqsTarget, consumer: string): SqsTarget {
  const { lambda, emptiedDeadQueues, ...rest } = withOwnStrategy(target, consumer);
  const own = lambda !== undefined && Object.hasOwn(lambda, consumer) ? lambda[consumer] : undefined;
  return deepFreeze({
    ...rest,
    ...(own === undefined ? {} : { lambda: { [consumer]: own } }),
    ...(emptiedDeadQueues?.includes(consumer) === true ? { emptiedDeadQueues: [consumer] } : {}),
  });
}

/** The target with the settings of single consumers under other names. */
export function targetUnderNames(target: SqsTarget, nameOf: (consumer: string) => string): SqsTarget {
  const { lambda, emptiedDeadQueues } = target;
  return {
    ...strategiesUnder(target, nameOf),
    ...(lambda && { lambda: Object.fromEntries(Object.entries(lambda).map(([key, each]) => [nameOf(key), each])) }),
    ...(emptiedDeadQueues && { emptiedDeadQueues: emptiedDeadQueues.map(nameOf) }),
  };
}
