import type { Claim, Gap, Observation } from "./claim.ts";
import { deliveryClaims } from "./delivery-claims.ts";
import { type EmulatorName, emulatorNames } from "./emulators.ts";
import { refusalClaims } from "./refusal-claims.ts";
import { topicClaims } from "./topic-claims.ts";

/** All rules of the SQS semantics that an emulator can show. `sqs-emulators.test.ts` asks both about every one. */
export const claims = { ...deliveryClaims, ...refusalClaims, ...topicClaims } as const;

export type ClaimName = keyof typeof claims;
export const claimNames = Object.keys(claims) as readonly ClaimName[];

/** The known difference of an emulator. Nothing is known of a foreign endpoint. */
export function gapOf(name: ClaimName, emulator: EmulatorName | "other"): Gap | undefined {
  const claim: Claim = claims[name];
  return emulator === "other" ? undefined : claim.gaps?.[emulator];
}

/** The observation that an experiment must make on an emulator: its known gap, or else AWS's behaviour. */
export function expectedOn(name: ClaimName, emulator: EmulatorName | "other"): Observation {
  const gap = gapOf(name, emulator);
  return gap === undefined ? claims[name].aws : gap.observed;
}

/** The evidence that a claim holds: "proved on elasticmq, moto", or "static only" if no emulator behaves like AWS. */
export function proofOf(name: ClaimName): string {
  const witnesses = emulatorNames.filter((emulator) => gapOf(name, emulator) === undefined);
  return witnesses.length === 0 ? "static only" : `proved on ${witnesses.join(", ")}`;
}
