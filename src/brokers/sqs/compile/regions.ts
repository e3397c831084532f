/** A partition of AWS: regions that share their accounts and the beginning of their ARNs. */
interface Partition {
  /** Matches the names of its regions, including future ones. */
  readonly pattern: RegExp;
  readonly regions: readonly string[];
}

/**
 * The regions of AWS, by their partitions. Redeliver refuses any other name unless the target names its partition.
 * Otherwise only a deployment that times out would reveal a mistyped name. A test compares them with the regions of the
 * installed AWS SDK. Source: `partitions.json` of the AWS SDKs, 2026-11.
 */
export const partitions: Readonly<Record<string, Partition>> = Object.freeze({
  aws: {
    pattern: /^(us|eu|ap|sa|ca|me|af|il|mx)-\w+-\d+$/,
    regions: `
      af-south-1 ap-east-1 ap-east-2 ap-northeast-1 ap-northeast-2 ap-northeast-3 ap-south-1 ap-south-2
      ap-southeast-1 ap-southeast-2 ap-southeast-3 ap-southeast-4 ap-southeast-5 ap-southeast-6 ap-southeast-7
      ca-central-1 ca-west-1 eu-central-1 eu-central-2 eu-north-1 eu-south-1 eu-south-2 eu-west-1 eu-west-2
      eu-west-3 il-central-1 me-central-1 me-south-1 me-west-1 mx-central-1 sa-east-1 sa-west-1 us-east-1
      us-east-2 us-west-1 us-west-2`
      .trim()
      .split(/\s+/),
  },
  "aws-cn": { pattern: /^cn-\w+-\d+$/, regions: ["cn-north-1", "cn-northwest-1"] },
  "aws-eusc": { pattern: /^eusc-\w+-\w+-\d+$/, regions: ["eusc-de-east-1"] },
  "aws-iso": { pattern: /^us-iso-\w+-\d+$/, regions: ["us-iso-east-1", "us-iso-west-1"] },
  "aws-iso-b": { pattern: /^us-isob-\w+-\d+$/, regions: ["us-isob-east-1", "us-isob-west-1"] },
  "aws-iso-e": { pattern: /^eu-isoe-\w+-\d+$/, regions: ["eu-isoe-west-1"] },
  "aws-iso-f": { pattern: /^us-isof-\w+-\d+$/, regions: ["us-isof-east-1", "us-isof-south-1"] },
  "aws-us-gov": { pattern: /^us-gov-\w+-\d+$/, regions: ["us-gov-east-1", "us-gov-west-1"] },
});

export const regions: readonly string[] = Object.freeze(Object.values(partitions).flatMap((each) => each.regions));

/** The partition of a region, found by its name; null for a name of no known form. */
export function partitionOf(region: string): string | null {
  return Object.entries(partitions).find(([, { pattern }]) => pattern.test(region))?.[0] ?? null;
}
