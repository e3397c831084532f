import { z } from "zod";

/** How a consumer reaches SQS. Whatever is left out the AWS SDK finds as it always does: in the environment, the profile, or the role. */
export interface SqsConnection {
  /** The target's region unless said otherwise. */
  readonly region?: string | undefined;
  /** Something else than AWS's own endpoint: an emulator, or an interface endpoint of a VPC. */
  readonly endpoint?: string | undefined;
  /** Keys, or a function that fetches them, which is called again when they have expired or are refused. */
  readonly credentials?: SqsCredentials | (() => Promise<SqsCredentials>) | undefined;
}

export interface SqsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
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
