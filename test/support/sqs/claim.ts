import type { EmulatorName } from "./emulators.ts";

/** The observation of an experiment: JSON, so that tests can compare and show it. */
export type Observation =
  | string
  | number
  | boolean
  | null
  | readonly Observation[]
  | { readonly [key: string]: Observation };

/** A difference between an emulator and AWS. */
export interface Gap {
  readonly observed: Observation;
  /** The behaviour of the emulator, in a sentence without its name. */
  readonly does: string;
}

export interface Claim {
  /** The behaviour of AWS, in a sentence. It is the name of a test. */
  readonly says: string;
  /** The observation if the claim holds. */
  readonly aws: Observation;
  /** The source of the claim: AWS's documentation, behaviour recorded from AWS, or public reports. */
  readonly source: string;
  readonly gaps?: Partial<Record<EmulatorName, Gap>>;
}

const docs = "docs.aws.amazon.com/AWSSimpleQueueService/latest";
export const guide = (page: string): string => `${docs}/SQSDeveloperGuide/${page}.html`;
export const api = (page: string): string => `${docs}/APIReference/API_${page}.html`;
/** A test of LocalStack with results recorded on AWS (tests/aws/services/sqs). */
export const recorded = (test: string): string => `recorded from AWS: LocalStack, ${test}`;

export const accepts: Gap = { observed: "accepted", does: "accepts it" };
export const both = (gap: Gap): Partial<Record<EmulatorName, Gap>> => ({ elasticmq: gap, moto: gap });
export const acceptedByBoth = both(accepts);
export const noSns: Partial<Record<EmulatorName, Gap>> = { elasticmq: { observed: "no SNS", does: "has no SNS" } };
