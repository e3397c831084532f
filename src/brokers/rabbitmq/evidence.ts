import type { Evidence } from "../broker.ts";
import type { RabbitmqTarget } from "./capabilities.ts";
import type { SemanticsVersion } from "./semantics.ts";
import { semanticsVersionOf, versionRules } from "./semantics.ts";

/** The release of each class of versions that the tests run, as `docs/broker-facts.md` names them. */
export const liveReleases: Readonly<Partial<Record<SemanticsVersion, string>>> = Object.freeze({
  "3.10": "3.10.8",
  "4.0": "4.0.5",
  "4.3.1": "4.3.6",
});

/** How far the rules that a proof for this target rests on were compared with a broker. */
export function evidenceOf(target: RabbitmqTarget): Evidence {
  const version = semanticsVersionOf(target);
  const { testedLive } = versionRules[version];
  return Object.freeze({
    testedLive,
    rules: testedLive ? `compared with live brokers (${liveReleases[version]})` : "follows the server's source only",
  });
}
