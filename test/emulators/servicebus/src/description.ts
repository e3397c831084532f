import { durationMs } from "./duration.ts";

/** The settings of an entity as the management API takes and gives them, under its own names: texts. */
export type Description = Readonly<Record<string, string>>;

/** The management API's answer to a request that it refuses. */
export class ManagementError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const forever = "P10675199DT2H48M5.4775807S";
const shared = {
  LockDuration: "PT1M",
  RequiresSession: "false",
  DefaultMessageTimeToLive: forever,
  DeadLetteringOnMessageExpiration: "false",
  MaxDeliveryCount: "10",
  EnableBatchedOperations: "true",
  Status: "Active",
  AutoDeleteOnIdle: forever,
  EntityAvailabilityStatus: "Available",
};

/** The defaults of an entity, and all its possible settings. Source: the descriptions in the management API. */
const kinds = {
  queue: {
    defaults: {
      ...shared,
      MaxSizeInMegabytes: "1024",
      RequiresDuplicateDetection: "false",
      DuplicateDetectionHistoryTimeWindow: "PT10M",
      EnablePartitioning: "false",
      EnableExpress: "false",
    },
    optional: ["ForwardTo", "ForwardDeadLetteredMessagesTo", "UserMetadata", "MaxMessageSizeInKilobytes"],
    fixed: ["RequiresSession", "RequiresDuplicateDetection", "EnablePartitioning"],
  },
  topic: {
    defaults: {
      DefaultMessageTimeToLive: forever,
      MaxSizeInMegabytes: "1024",
      RequiresDuplicateDetection: "false",
      DuplicateDetectionHistoryTimeWindow: "PT10M",
      EnableBatchedOperations: "true",
      Status: "Active",
      SupportOrdering: "true",
      AutoDeleteOnIdle: forever,
      EnablePartitioning: "false",
      EntityAvailabilityStatus: "Available",
      EnableExpress: "false",
    },
    optional: ["UserMetadata", "MaxMessageSizeInKilobytes"],
    fixed: ["RequiresDuplicateDetection", "EnablePartitioning"],
  },
  subscription: {
    defaults: { ...shared, DeadLetteringOnFilterEvaluationExceptions: "true" },
    optional: ["ForwardTo", "ForwardDeadLetteredMessagesTo", "UserMetadata"],
    fixed: ["RequiresSession"],
  },
} as const;

export type EntityKind = keyof typeof kinds;

const longestLockMs = 300_000;

/**
 * The whole description of a created or changed entity.
 *
 * @param before null for an entity that is created
 * @throws ManagementError if the service would refuse it
 */
export function describeEntity(kind: EntityKind, given: Description, before: Description | null): Description {
  const { defaults, optional, fixed } = kinds[kind];
  const known = new Set<string>([...Object.keys(defaults), ...optional]);
  const unknown = Object.keys(given).find((name) => !known.has(name));
  if (unknown !== undefined) throw new ManagementError(400, `${unknown} is no property of a ${kind}, or not emulated.`);
  const description: Description = { ...defaults, ...given };
  const changed = fixed.find((name) => before !== null && before[name] !== description[name]);
  if (changed !== undefined)
    throw new ManagementError(400, `The value of ${changed} cannot be changed. SubCode=40000.`);
  for (const name of ["LockDuration", "DefaultMessageTimeToLive", "DuplicateDetectionHistoryTimeWindow"])
    if (name in description) durationOf(description, name);
  if ("LockDuration" in description && durationOf(description, "LockDuration") > longestLockMs)
    throw new ManagementError(400, "The LockDuration cannot be longer than PT5M. SubCode=40000.");
  if ("MaxDeliveryCount" in description && !/^[1-9]\d*$/.test(description["MaxDeliveryCount"] ?? ""))
    throw new ManagementError(400, "The MaxDeliveryCount must be 1 or more. SubCode=40000.");
  if (description["ForwardTo"] !== undefined && isTrue(description, "RequiresSession"))
    throw new ManagementError(400, "A session-enabled entity cannot forward. SubCode=40000.");
  return description;
}

/** Infinity for a duration without a limit. */
export function durationOf(description: Description, name: string): number {
  const text = description[name] ?? "";
  if (text === forever) return Number.POSITIVE_INFINITY;
  const ms = durationMs(text);
  if (ms === null || ms <= 0) throw new ManagementError(400, `${name}: ${JSON.stringify(text)} is no duration.`);
  return ms;
}

export function isTrue(description: Description, name: string): boolean {
  return description[name]?.toLowerCase() === "true";
}

/** The name of the entity that messages are forwarded to. The SDK sends `sb://<host>/<name>`. */
export function forwardTarget(description: Description, name: "ForwardTo" | "ForwardDeadLetteredMessagesTo") {
  const value = description[name] ?? "";
  return value === "" ? null : value.replace(/^sb:\/\/[^/]+\//, "");
}
