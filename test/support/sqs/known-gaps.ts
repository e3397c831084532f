import type { Claim, Gap, Observation } from "./claim.ts";
import { deliveryClaims } from "./delivery-claims.ts";
import { type EmulatorName, emulatorNames } from "./emulators.ts";
import { refusalClaims } from "./refusal-claims.ts";
import { topicClaims } from "./topic-claims.ts";

/** All that the semantics of SQS relies on and an emulator can be asked; `sqs-emulators.test.ts` asks both about every one. */
export const claims = { ...deliveryClaims, ...refusalClaims, ...topicClaims } as const;

export type ClaimName = keyof typeof claims;
export const claimNames = Object.keys(claims) as readonly ClaimName[];

/** What is known to differ on an emulator; of one that is none of ours nothing is known. */
export function gapOf(name: ClaimName, emulator: EmulatorName | "other"): Gap | undefined {
  const claim: Claim = claims[name];
  return emulator === "other" ? undefined : claim.gaps?.[emulator];
}

/** What an experiment must see on an emulator: its known gap, or else what AWS does. */
export function expectedOn(name: ClaimName, emulator: EmulatorName | "other"): Observation {
  const gap = gapOf(name, emulator);
  return gap === undefined ? claims[name].aws : gap.observed;
}

/** Who shows that a claim holds: "proved on elasticmq, moto", or "static only" where no emulator does what AWS does. */
export function proofOf(name: ClaimName): string {
  const witnesses = emulatorNames.filter((emulator) => gapOf(name, emulator) === undefined);
  return witnesses.length === 0 ? "static only" : `proved on ${witnesses.join(", ")}`;
}
