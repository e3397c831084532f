import type { Diagnostic } from "../../../diagnostics/diagnostic.ts";
import { type Sentences, diagnosticsOf, findingKey, say } from "../../../foreign/finding.ts";
import { calledBadly } from "./audit/called-by-lambda.ts";
import { configuredBadly } from "./audit/configured.ts";
import { endlessCircles, fatesOf } from "./audit/fates.ts";
import { type SqsFinding, sentences } from "./audit/sentences.ts";
import { subscribedBadly, subscriptionsOfNobody } from "./audit/subscribed.ts";
import { surroundingsOf } from "./audit/surroundings.ts";
import type { SqsTarget } from "../compile/capabilities.ts";
import { type AuditedRegion, type Deployment, placeOf } from "./deployment.ts";

/**
 * Judges topologies that Redeliver did not make, by the semantics that also proves Redeliver's own.
 *
 * Of the consumers the audit knows only those that are Lambda functions. So a message may be deleted, or exceed its
 * visibility timeout. Of the publishers it knows only the subscriptions. A finding can happen with some of them.
 *
 * @param upgradeTo if given, the audit reports only the differences on that target: none, because SQS has no versions
 */
export function auditDeployment(
  deployment: Deployment,
  _target: SqsTarget,
  upgradeTo: SqsTarget | null,
): readonly Diagnostic[] {
  if (upgradeTo !== null) return [];
  return deployment.regions.flatMap((region) =>
    diagnosticsOf(
      findingsIn(deployment, region),
      (each) => say<Sentences>(sentences, each),
      (queue) => placeOf(region.name, queue),
    ),
  );
}

function findingsIn(deployment: Deployment, region: AuditedRegion): readonly SqsFinding[] {
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
