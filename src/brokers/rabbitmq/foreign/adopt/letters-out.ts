import type { LettersOut } from "../../../../adopt/found.ts";
import { inShell } from "../../../../adopt/in-shell.ts";
import { exactPattern } from "../../compile/names.ts";
import {
  type BrokerPolicy,
  type BrokerTopology,
  type SemanticsVersion,
  highest,
  indexPolicies,
  policiesFor,
  semanticsOf,
  versionRules,
} from "../../prove/semantics.ts";
import { path } from "../leftovers.ts";
import { type Looking, pausesBefore } from "./looking.ts";
import { removeOf, stillUsedAmong } from "./still-used.ts";

/** The ports of the management API that go with the usual ports for AMQP. The empty one is that of the scheme. */
const usualPorts: ReadonlySet<string> = new Set(["", "15671", "15672"]);

/**
 * The way of the letters of an old dead queue back into its work queue.
 *
 * A look counts towards the delivery limit, so `redeliver dead` refuses a queue with a limit. A temporary policy
 * removes the limit. It repeats the values of the policy that it overrides, because only one policy is in force.
 *
 * @param isShared true if the dead queue also has letters of others
 * @param url of the management API; null if the input is a file
 */
function lettersOut(
  topology: BrokerTopology,
  version: SemanticsVersion,
  dead: string,
  {
    isShared,
    virtualHost,
    url,
  }: { readonly isShared: boolean; readonly virtualHost: string; readonly url: string | null },
): Omit<LettersOut, "before" | "remove"> {
  const queues = topology.queues.filter(({ name }) => name === dead);
  const limitWith = (policies: readonly BrokerPolicy[]): number | null =>
    semanticsOf({ queues, exchanges: [], bindings: [], policies }, version).settings(dead)?.deliveryLimit ?? null;
  const lifting = liftingPolicy(topology, version, dead);
  const limit = limitWith(topology.policies);
  const left = limit === null ? null : limitWith([...topology.policies, lifting]);
  const { name, pattern, applyTo, priority, definition } = lifting;
  const request = path("policies", virtualHost, name);
  const body = JSON.stringify({ pattern, "apply-to": applyTo, priority, definition });
  return {
    dead,
    isShared,
    limit: left,
    policy:
      limit === null || left !== null ? null : { set: `PUT ${request} ${inShell(body)}`, end: `DELETE ${request}` },
    at: placeIn(url, virtualHost),
  };
}

/** The same with the queues where letters wait before, unless a stream keeps them. */
export function lettersOf(
  looking: Looking,
  dead: string,
  own: readonly string[],
  { isKept, ...place }: Parameters<typeof lettersOut>[3] & { readonly isKept: boolean },
): LettersOut | null {
  const { topology, version } = looking;
  // A stream keeps its letters as long as its own settings say.
  if (looking.surroundings.shapeOf(dead) === "stream") return null;
  const before = pausesBefore(looking, dead, own);
  const used = stillUsedAmong(looking, before, own, before);
  const remove = removeOf(topology, [{ queue: dead, feeders: [] }, ...used], place.virtualHost);
  const letters = { ...lettersOut(topology, version, dead, place), before: used, remove };
  // A kept dead queue has no limit: the policy of the deployment takes it away.
  return isKept ? { ...letters, policy: null, limit: null } : letters;
}

/** Up to 3.13 a queue has a limit as soon as any value is there. From 4.0 on there is one unless it is negative. */
function liftingPolicy({ queues, policies }: BrokerTopology, version: SemanticsVersion, dead: string): BrokerPolicy {
  const rules = versionRules[version];
  const kind = queues.find(({ name }) => name === dead)?.kind ?? "quorum";
  const inForce = highest(policiesFor({ name: dead, kind }, indexPolicies(policies), rules).applicable, "user");
  const { "delivery-limit": _, ...others } = inForce?.definition ?? {};
  return {
    name: `redeliver.adopt.${dead}`,
    kind: "user",
    pattern: exactPattern(dead),
    applyTo: "queues",
    priority: (inForce?.priority ?? 0) + 1,
    definition: rules.negativeDeliveryLimit === "unlimited" ? { ...others, "delivery-limit": -1 } : others,
  };
}

/** The options that name the broker. The user and its password in the one URL count for the other, too. */
function placeIn(url: string | null, virtualHost: string): string {
  const unknown = { protocol: "http:", username: "USER", hostname: "HOST", host: "HOST:15672", port: "" };
  const { protocol, username, hostname, host, port } = url === null ? unknown : new URL(url);
  const [scheme, user] = [protocol === "https:" ? "amqps" : "amqp", username === "" ? "" : `${username}@`];
  const place = `${hostname}${usualPorts.has(port) ? "" : ":AMQP_PORT"}/${encodeURIComponent(virtualHost)}`;
  return `--url ${inShell(`${scheme}://${user}${place}`)} --management-url ${inShell(`${protocol}//${host}`)}`;
}
