import type { Checked } from "../../diagnostics/diagnostic.ts";
import { diagnostic, formatPath } from "../../diagnostics/diagnostic.ts";
import type { DeploymentPart } from "../broker.ts";
import type { RabbitmqTarget } from "./capabilities.ts";
import { formatTarget, versions } from "./capabilities.ts";
import type { BrokerTopology } from "./semantics.ts";
import { parseRabbitmqTarget } from "./target.ts";

/** What a broker holds, whoever made it, by virtual host. */
export interface Deployment {
  /** As the source says: `3.13.7`, `4.1.0-rc.1`. Null where the source does not say it. */
  readonly brokerVersion: string | null;
  readonly virtualHosts: readonly VirtualHost[];
}

export interface VirtualHost {
  readonly name: string;
  readonly topology: BrokerTopology;
}

/** The name of a virtual host that its export does not name: up to 3.13 an export of a single one says nothing about it. */
export const namelessVirtualHost = "(not named)";

/** Where something is in a deployment, as diagnostics write it: `vhosts["/"].queues.orders`. */
export function placeOf(virtualHost: string, kind: "exchanges" | "queues" | "policies" | null, name = ""): string {
  return formatPath(["vhosts", virtualHost, ...(kind === null ? [] : [kind, name])]);
}

/**
 * The target whose rules a deployment is judged by: its own version.
 *
 * A broker that is newer than every version studied is judged by the newest rules, with a warning.
 *
 * @returns null where the source does not say which version it comes from
 */
export function targetOf(deployment: Deployment): Checked<RabbitmqTarget | null> {
  const { brokerVersion } = deployment;
  if (brokerVersion === null) return { ok: true, value: null, warnings: [] };
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
    message: `RabbitMQ ${brokerVersion} is newer than every version that has been studied; it is judged by the rules of ${newest.value.version}`,
    notes: ["what changed after that version is not known here: a finding may be out of date, and one may be missing"],
    help: `use a newer Redeliver, or say with --target ${formatTarget(newest.value)} that these rules are meant`,
  });
  return { ...newest, warnings: [warning] };
}

/** Nobody wrote a target: what is refused is what the source says, and a target can be said in its place. */
function inFile(parsed: Checked<RabbitmqTarget>): Checked<RabbitmqTarget> {
  if (parsed.ok) return parsed;
  const help = "say with --target, such as rabbitmq@4.3, by which version's rules to judge it";
  return { ok: false, diagnostics: parsed.diagnostics.map((each) => ({ ...each, path: "rabbitmq_version", help })) };
}

function isNewer([major = 0, minor = 0]: readonly number[], target: RabbitmqTarget): boolean {
  const [knownMajor = 0, knownMinor = 0] = target.version.split(".").map(Number);
  return major > knownMajor || (major === knownMajor && minor > knownMinor);
}

/** Each virtual host by itself: no message ever leaves its virtual host. */
export function partsOf({ brokerVersion, virtualHosts }: Deployment): readonly DeploymentPart<Deployment>[] {
  return virtualHosts.map((virtualHost) => ({
    name: virtualHost.name,
    queues: virtualHost.topology.queues.length,
    deployment: { brokerVersion, virtualHosts: [virtualHost] },
  }));
}
