import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type { Finding } from "../finding.ts";
import { diagnosticsOf, findingKey } from "../finding.ts";
import { calledBadly } from "./audit/called-by-lambda.ts";
import { configuredBadly } from "./audit/configured.ts";
import { endlessCircles, fatesOf } from "./audit/fates.ts";
import { subscribedBadly, subscriptionsOfNobody } from "./audit/subscribed.ts";
import { surroundingsOf } from "./audit/surroundings.ts";
import type { SqsTarget } from "./capabilities.ts";
import type { AuditedRegion, Deployment } from "./deployment.ts";
import { placeOf } from "./deployment.ts";

/**
 * Judges topologies that Redeliver did not make, by the same semantics that proves those that it makes.
 *
 * Of the consumers nothing is known but what Lambda tells, so a message may be deleted, or run out of its visibility timeout; of the
 * publishers nothing but the subscriptions. What is found can happen with some of them.
 *
 * @param upgradeTo what is asked is then only what would be different there; SQS has no versions, so nothing is
 */
export function auditDeployment(
  deployment: Deployment,
  _target: SqsTarget,
  upgradeTo: SqsTarget | null,
): readonly Diagnostic[] {
  if (upgradeTo !== null) return [];
  return deployment.regions.flatMap((region) =>
    diagnosticsOf(findingsIn(deployment, region), (queue) => placeOf(region.name, queue)),
  );
}

function findingsIn(deployment: Deployment, region: AuditedRegion): readonly Finding[] {
  const surroundings = surroundingsOf(deployment, region);
  const found = [
    ...region.queues.flatMap((queue) => [
      ...configuredBadly(queue, surroundings),
      ...fatesOf(queue, surroundings),
      ...calledBadly(queue, surroundings),
      ...subscribedBadly(queue, surroundings),
    ]),
    ...endlessCircles(surroundings),
    ...subscriptionsOfNobody(deployment, region, surroundings),
  ];
  return [...new Map(found.toReversed().map((each) => [findingKey(each), each])).values()].toReversed();
}
