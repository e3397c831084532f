import type { Evidence } from "../../broker.ts";
import type { RabbitmqTarget } from "../compile/capabilities.ts";
import { type SemanticsVersion, semanticsVersionOf, versionRules } from "./semantics.ts";

/** For each class of versions, the release that the tests run, as `docs/broker-facts.md` names it. */
export const liveReleases: Readonly<Partial<Record<SemanticsVersion, string>>> = Object.freeze({
  "3.10": "3.10.8",
  "4.0": "4.0.5",
  "4.3.1": "4.3.6",
});

/** Tells if the tests compared the rules behind a proof for this target with a live broker. */
export function evidenceOf(target: RabbitmqTarget): Evidence {
  const version = semanticsVersionOf(target);
  const { testedLive } = versionRules[version];
  return Object.freeze({
    testedLive,
    rules: testedLive ? `compared with live brokers (${liveReleases[version]})` : "follows the server's source only",
  });
}
