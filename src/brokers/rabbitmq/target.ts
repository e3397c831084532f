import type { Checked } from "../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../diagnostics/diagnostic.ts";
import type { RabbitmqTarget, RabbitmqVersion, StrategyName } from "./capabilities.ts";
import { strategyNames, versions } from "./capabilities.ts";

/** A target as a person writes it: in code, or in the configuration of a stack. */
export interface RabbitmqTargetInput {
  readonly broker: "rabbitmq";
  /** `"4.3"`, which means the newest patch release of the series, or `"4.3.1"`. */
  readonly version: string;
  readonly strategy?: "auto" | StrategyName | undefined;
}

/** Reads a version such as `4.3` or `4.3.6`, and a strategy's name. */
export function parseRabbitmqTarget(version: string, strategy = "auto"): Checked<RabbitmqTarget> {
  const diagnostics = [];
  // Of a number from a file nobody knows whether it was 4.1 or 4.10.
  const match = typeof version === "string" ? /^(\d{1,3}\.\d{1,3})(?:\.(\d{1,3}))?$/.exec(version) : null;
  const series = versions.find((each) => each === match?.[1]);
  if (series === undefined) {
    diagnostics.push(
      diagnostic("RD201", {
        path: "target.version",
        message:
          match === null
            ? `${JSON.stringify(version)} is no version of RabbitMQ`
            : `RabbitMQ ${version} has not been studied`,
        value: version,
        notes: [`known are ${versions.join(", ")}, each also with its patch release, such as 4.3.6`],
        help: "write for example rabbitmq@4.3",
      }),
    );
  }
  const names: readonly string[] = ["auto", ...strategyNames];
  if (!names.includes(strategy)) {
    diagnostics.push(
      diagnostic("RD201", {
        path: "target.strategy",
        message: `RabbitMQ has no strategy named ${JSON.stringify(strategy)}`,
        value: strategy,
        help: `write one of ${names.join(", ")}`,
      }),
    );
  }
  if (diagnostics.length > 0) return { ok: false, diagnostics };
  return {
    ok: true,
    warnings: [],
    value: Object.freeze({
      broker: "rabbitmq",
      version: series as RabbitmqVersion,
      patch: match?.[2] === undefined ? null : Number(match[2]),
      strategy: strategy as RabbitmqTarget["strategy"],
    }),
  };
}

/** Checks a target that was written as data, or was checked before. */
export function checkRabbitmqTarget(input: RabbitmqTargetInput | RabbitmqTarget): Checked<RabbitmqTarget> {
  const known = new Set(["broker", "version", "strategy", "patch"]);
  const unknown = Object.keys(input).filter((key) => !known.has(key));
  const patch = "patch" in input ? input.patch : null;
  const target = parseRabbitmqTarget(patch === null ? input.version : `${input.version}.${patch}`, input.strategy);
  if (unknown.length === 0) return target;
  const strange = unknown.map((key) =>
    diagnostic("RD201", {
      path: ["target", key],
      message: `${JSON.stringify(key)} is no option of a target for RabbitMQ`,
      notes: ["there are broker, version, strategy"],
      help: "remove it",
    }),
  );
  return { ok: false, diagnostics: [...(target.ok ? [] : target.diagnostics), ...strange] };
}
