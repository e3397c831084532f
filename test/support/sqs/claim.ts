import type { EmulatorName } from "./emulators.ts";

/** What an experiment sees: JSON, so that it can be compared and shown. */
export type Observation =
  | string
  | number
  | boolean
  | null
  | readonly Observation[]
  | { readonly [key: string]: Observation };

/** Where an emulator does something else than AWS. */
export interface Gap {
  readonly observed: Observation;
  /** What the emulator does, in a sentence without its name. */
  readonly does: string;
}

export interface Claim {
  /** What AWS does, in a sentence; tests are named after it. */
  readonly says: string;
  /** What the experiment sees where the claim holds. */
  readonly aws: Observation;
  /** Where the claim comes from: AWS's documentation, behaviour recorded from AWS, or public reports. */
  readonly source: string;
  readonly gaps?: Partial<Record<EmulatorName, Gap>>;
}

const docs = "docs.aws.amazon.com/AWSSimpleQueueService/latest";
export const guide = (page: string): string => `${docs}/SQSDeveloperGuide/${page}.html`;
export const api = (page: string): string => `${docs}/APIReference/API_${page}.html`;
/** A test of LocalStack whose results were recorded on AWS (tests/aws/services/sqs). */
export const recorded = (test: string): string => `recorded from AWS: LocalStack, ${test}`;

export const accepts: Gap = { observed: "accepted", does: "accepts it" };
export const both = (gap: Gap): Partial<Record<EmulatorName, Gap>> => ({ elasticmq: gap, moto: gap });
export const acceptedByBoth = both(accepts);
export const noSns: Partial<Record<EmulatorName, Gap>> = { elasticmq: { observed: "no SNS", does: "has no SNS" } };
