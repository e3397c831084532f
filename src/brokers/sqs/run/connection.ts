import { z } from "zod";

/**
 * The options for connecting to SQS. The AWS SDK finds missing ones as always: in the environment, the profile, or the
 * role.
 */
export interface SqsConnection {
  /** The default is the target's region. */
  readonly region?: string | undefined;
  /** An endpoint other than AWS's own: an emulator, or an interface endpoint of a VPC. */
  readonly endpoint?: string | undefined;
  /** Keys, or a function that fetches them. Redeliver calls it again when they have expired or are refused. */
  readonly credentials?: SqsCredentials | (() => Promise<SqsCredentials>) | undefined;
}

export interface SqsCredentials {
  /** The id of an access key of IAM. */
  readonly accessKeyId: string;
  /** The secret half of the access key. */
  readonly secretAccessKey: string;
  /** The token of temporary credentials. */
  readonly sessionToken?: string;
  /** The end of temporary credentials. */
  readonly expiration?: Date;
}

const credentials = z.strictObject({
  accessKeyId: z.string(),
  secretAccessKey: z.string(),
  sessionToken: z.string().optional(),
  expiration: z.date().optional(),
});

export const sqsConnection: z.ZodType<SqsConnection> = z.strictObject({
  region: z.string().optional(),
  endpoint: z.url({ protocol: /^https?$/, error: "is no URL such as http://localhost:4566" }).optional(),
  credentials: z
    .union([credentials, z.custom<() => Promise<SqsCredentials>>((value) => typeof value === "function")])
    .optional(),
}) as z.ZodType<SqsConnection>;
