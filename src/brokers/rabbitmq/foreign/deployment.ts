import { type Checked, accepted, diagnostic, formatPath } from "../../../diagnostics/diagnostic.ts";
import type { DeploymentPart } from "../../broker.ts";
import { type RabbitmqTarget, formatTarget, versions } from "../compile/capabilities.ts";
import type { Arguments, BrokerTopology } from "../prove/semantics.ts";
import { parseRabbitmqTarget } from "../compile/target.ts";
import type { Shovel } from "./shovels.ts";

/** The content of a broker by virtual host, regardless of its origin. */
export interface Deployment {
  /** As in the source: `3.13.7`, `4.1.0-rc.1`. Null if the source does not name it. */
  readonly brokerVersion: string | null;
  readonly virtualHosts: readonly VirtualHost[];
}

export interface VirtualHost {
  /** Unique in a deployment: before it stands the name of a provider, if there are several. */
  readonly name: string;
  /** Its name on the broker, if that is another one. */
  readonly ownName?: string;
  readonly topology: BrokerTopology;
  /** Left out if the broker does not show them to the user. */
  readonly shovels?: readonly Shovel[] | undefined;
  /** The broker's own report on each queue. Left out if the source has none. */
  readonly reports?: ReadonlyMap<string, QueueReport>;
}

/** A running broker's report on a queue, from its statistics. They lag behind a change by up to 10 s. */
export interface QueueReport {
  /** The values of the policies in force. Null until the statistics have them. */
  readonly policy: Arguments | null;
  /** The number of dead letters that no other queue has accepted yet: `messages_dlx`. */
  readonly keptLetters: number;
}

/**
 * The name of a virtual host that its export does not name. Up to 3.13 an export of a single virtual host has no name.
 */
export const namelessVirtualHost = "(not named)";

/** A place in a deployment, as diagnostics write it: `vhosts["/"].queues.orders`. */
export function placeOf(virtualHost: string, kind: "exchanges" | "queues" | "policies" | null, name = ""): string {
  return formatPath(["vhosts", virtualHost, ...(kind === null ? [] : [kind, name])]);
}

/**
 * The target with the rules for a deployment: its own version.
 *
 * If the broker is newer than all studied versions, the newest rules apply, with a warning.
 *
 * @returns null if the source does not name its version
 */
export function targetOf(deployment: Deployment): Checked<RabbitmqTarget | null> {
  const { brokerVersion } = deployment;
  if (brokerVersion === null) return accepted(null);
  const numbers = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})/.exec(brokerVersion);
  if (numbers === null) return inFile(parseRabbitmqTarget(brokerVersion));
  const parsed = parseRabbitmqTarget(numbers[0]);
  const newest = parseRabbitmqTarget(versions.at(-1) ?? "");
  if (parsed.ok || !newest.ok || !isNewer(numbers.slice(1).map(Number), newest.value)) {
    return inFile(parsed);
  }
  const warning = diagnostic("RD403", {
    path: "rabbitmq_version",
    value: brokerVersion,
    message: `RabbitMQ ${brokerVersion} is newer than every version that Redeliver knows; the audit uses the rules of ${newest.value.version}`,
    notes: ["Redeliver does not know the changes after that version: a finding may be out of date or missing"],
    help: `use a newer Redeliver, or confirm with --target ${formatTarget(newest.value)} that you want these rules`,
  });
  return { ...newest, warnings: [warning] };
}

/** The version comes from the source and not from a user, so the help names the option that overrides it. */
function inFile(parsed: Checked<RabbitmqTarget>): Checked<RabbitmqTarget> {
  if (parsed.ok) return parsed;
  const help = "name the version with --target, such as rabbitmq@4.3";
  return { ok: false, diagnostics: parsed.diagnostics.map((each) => ({ ...each, path: "rabbitmq_version", help })) };
}

function isNewer([major = 0, minor = 0]: readonly number[], target: RabbitmqTarget): boolean {
  const [knownMajor = 0, knownMinor = 0] = target.version.split(".").map(Number);
  return major > knownMajor || (major === knownMajor && minor > knownMinor);
}

/** Each virtual host by itself, because no message ever leaves its virtual host. */
export function partsOf({ brokerVersion, virtualHosts }: Deployment): readonly DeploymentPart<Deployment>[] {
  return virtualHosts.map((virtualHost) => ({
    name: virtualHost.name,
    queues: virtualHost.topology.queues.length,
    deployment: { brokerVersion, virtualHosts: [virtualHost] },
  }));
}
