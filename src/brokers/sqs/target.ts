import { distance } from "fastest-levenshtein";

import { deepFreeze } from "../../declare/freeze.ts";
import type { Checked, Diagnostic } from "../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../diagnostics/diagnostic.ts";
import type { Region, SqsTarget, StrategyName } from "./capabilities.ts";
import { regions, strategyNames } from "./capabilities.ts";
import { diagnoseOptions, optionNames } from "./diagnose-options.ts";
import type { SqsOptions } from "./options.ts";

/** A target as a person writes it: in code, or in the configuration of a stack. */
export interface SqsTargetInput extends SqsOptions {
  readonly broker: "sqs";
  /** `"eu-west-1"`: everything that is made is made there, since a queue and its dead queue have to be in one region. */
  readonly region: string;
  readonly strategy?: "auto" | StrategyName | undefined;
}

/** Reads a region such as `eu-west-1`, and a strategy's name. */
export function parseSqsTarget(region: string, strategy = "auto"): Checked<SqsTarget> {
  return checkSqsTarget({ broker: "sqs", region, strategy: strategy as SqsTarget["strategy"] });
}

/** Checks a target that was written as data, or was checked before. */
export function checkSqsTarget(input: SqsTargetInput | SqsTarget): Checked<SqsTarget> {
  // Types say that there is a region; what was read from a file may have none.
  const { region = "", strategy = "auto" } = input;
  const diagnostics = [...diagnosePlace(String(region), String(strategy)), ...diagnoseOptions(input)];
  if (diagnostics.length > 0) return { ok: false, diagnostics };
  const options = optionNames.flatMap((name) => (input[name] === undefined ? [] : [[name, input[name]] as const]));
  const target = { broker: "sqs", region: region as Region, strategy, ...(Object.fromEntries(options) as SqsOptions) };
  return { ok: true, warnings: [], value: deepFreeze(structuredClone(target)) as SqsTarget };
}

function diagnosePlace(region: string, strategy: string): Diagnostic[] {
  const diagnostics = [];
  const known: readonly string[] = regions;
  if (!known.includes(region)) {
    const nearest = regions.toSorted((a, b) => distance(a, region) - distance(b, region)).slice(0, 3);
    diagnostics.push(
      diagnostic("RD601", {
        path: "target.region",
        message: region === "" ? "the target names no region" : `${JSON.stringify(region)} is no known region of AWS`,
        value: region,
        notes: region === "" ? [] : [`the nearest are ${nearest.join(", ")}`],
        help: "write for example sqs@eu-west-1",
      }),
    );
  }
  const names: readonly string[] = ["auto", ...strategyNames];
  if (!names.includes(strategy)) {
    diagnostics.push(
      diagnostic("RD601", {
        path: "target.strategy",
        message: `Amazon SQS has no strategy named ${JSON.stringify(strategy)}`,
        value: strategy,
        help: `write one of ${names.join(", ")}`,
      }),
    );
  }
  return diagnostics;
}

/** The target without what it says of other consumers. */
export function targetForConsumer(target: SqsTarget, consumer: string): SqsTarget {
  const { lambda, emptiedDeadQueues, ...rest } = target;
  const own = lambda !== undefined && Object.hasOwn(lambda, consumer) ? lambda[consumer] : undefined;
  return deepFreeze({
    ...rest,
    ...(own === undefined ? {} : { lambda: { [consumer]: own } }),
    ...(emptiedDeadQueues?.includes(consumer) === true ? { emptiedDeadQueues: [consumer] } : {}),
  });
}
