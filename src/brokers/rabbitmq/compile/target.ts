import { deepFreeze } from "../../../declare/freeze.ts";
import { type Checked, type Diagnostic, accepted } from "../../../diagnostics/diagnostic.ts";
import { unknownOptions, unknownStrategy, unknownTarget } from "../../../contract/shared-problems.ts";
import { type DeadQueueKind, diagnoseDeadQueue } from "../../../contract/shared-dead-queue.ts";
import { diagnoseStrategies } from "../../../contract/own-strategy.ts";
import type { RabbitmqTarget, RabbitmqVersion, StrategyName } from "./capabilities.ts";
import { isOlder, strategyNames, versions } from "./capabilities.ts";
import { type ForeignPolicyInput, diagnoseForeignPolicies, foreignPoliciesIn } from "./foreign-policies.ts";

/** A target as a person writes it, in code or in the configuration of a stack. */
export interface RabbitmqTargetInput {
  readonly broker: "rabbitmq";
  /** `"4.3"`, the newest patch release of the series, or `"4.3.1"`. */
  readonly version: string;
  readonly strategy?: "auto" | StrategyName | undefined;
  /** By consumer: a strategy of its own. All others have `strategy`. */
  readonly strategies?: Readonly<Record<string, "auto" | StrategyName>> | undefined;
  /**
   * The older version that the system was first deployed for, such as `"3.13"`. Its queues keep the arguments of that
   * version, because nobody can change them.
   */
  readonly since?: string | undefined;
  /** The policies on the broker that others own. Nothing creates, changes or deletes them, and the proof holds with them. */
  readonly policies?: readonly ForeignPolicyInput[] | undefined;
  /** `shared`: one queue of the system gets all dead letters. The default is `own`. */
  readonly deadQueue?: DeadQueueKind | undefined;
}

/** Reads a version such as `4.3` or `4.3.6`, and a strategy's name. */
export function parseRabbitmqTarget(version: string, strategy = "auto"): Checked<RabbitmqTarget> {
  const diagnostics = [];
  // A number from a file is ambiguous: it may mean 4.1 or 4.10.
  const match = typeof version === "string" ? /^(\d{1,3}\.\d{1,3})(?:\.(\d{1,3}))?$/.exec(version) : null;
  const series = versions.find((each) => each === match?.[1]);
  if (series === undefined) {
    const likely = likelyVersion(version);
    diagnostics.push(
      unknownTarget({
        field: "version",
        noun: "known version of RabbitMQ",
        given: version,
        notes: [
          `known versions are ${versions.join(", ")}, each also with its patch release, such as 4.3.6`,
          ...(likely === undefined ? [] : ["without quotes it is a number, and 3.10 is the same number as 3.1"]),
        ],
        help: likely === undefined ? "write for example rabbitmq@4.3" : `write it in quotes: version: "${likely}"`,
      }),
    );
  }
  diagnostics.push(...unknownStrategy("RabbitMQ", strategy, strategyNames));
  if (diagnostics.length > 0) return { ok: false, diagnostics };
  return accepted(
    Object.freeze({
      broker: "rabbitmq",
      version: series as RabbitmqVersion,
      patch: match?.[2] === undefined ? null : Number(match[2]),
      strategy: strategy as RabbitmqTarget["strategy"],
    }),
  );
}

/** The version that a number most likely means. Undefined if it is none. */
function likelyVersion(given: unknown): RabbitmqVersion | undefined {
  if (typeof given !== "number") return undefined;
  const newest = versions.findLast((each) => each.startsWith(`${given}.`)) ?? versions.at(-1);
  return versions.find((each) => Number(each) === given) ?? newest;
}

const optionNames = ["broker", "version", "strategy", "strategies", "since", "policies", "deadQueue"];

/** Checks a target that is data, or that was checked before. */
export function checkRabbitmqTarget(input: RabbitmqTargetInput | RabbitmqTarget): Checked<RabbitmqTarget> {
  const { patch, ...written } = { patch: null, ...input };
  const { strategies, since, policies, deadQueue } = written;
  const problems = [
    ...unknownOptions(["target"], "option of a target for RabbitMQ", written, optionNames),
    ...diagnoseStrategies("RabbitMQ", strategies, strategyNames),
    ...diagnoseForeignPolicies(policies),
    ...diagnoseDeadQueue("RabbitMQ", deadQueue),
  ];
  const target = parseRabbitmqTarget(patch === null ? input.version : `${input.version}.${patch}`, input.strategy);
  const older = since === undefined ? null : versions.find((each) => each === since);
  if (
    older === undefined ||
    (older !== null && target.ok && isOlder(target.value, { ...target.value, version: older }))
  )
    problems.push(unknownSince(since));
  if (problems.length > 0) return { ok: false, diagnostics: [...(target.ok ? [] : target.diagnostics), ...problems] };
  if (!target.ok) return target;
  const options = {
    ...(strategies === undefined ? {} : { strategies: { ...strategies } }),
    ...(older ? { since: older } : {}),
    ...(policies === undefined || policies.length === 0 ? {} : { policies: foreignPoliciesIn(policies) }),
    ...(deadQueue === "shared" ? { deadQueue } : {}),
  };
  return { ...target, value: deepFreeze({ ...target.value, ...options }) };
}

function unknownSince(given: unknown): Diagnostic {
  return unknownTarget({
    field: "since",
    noun: "known version of RabbitMQ that is no newer than the target",
    given: given as string,
    notes: [`known versions are ${versions.join(", ")}, without a patch release`],
    help: 'write the version that the system was first deployed for, such as since: "3.13", or leave it out',
  });
}
