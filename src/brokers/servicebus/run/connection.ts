import { z } from "zod";

/**
 * `TokenCredential` of Azure's SDKs. It is written out here because only users of Service Bus install its package, and
 * every user's compiler reads this file.
 */
export interface ServicebusCredential {
  getToken(
    scopes: string | string[],
    options?: object,
  ): Promise<{
    /** The access token of Microsoft Entra ID. */
    readonly token: string;
    /** Milliseconds since 1970. */
    readonly expiresOnTimestamp: number;
  } | null>;
}

/**
 * The options for connecting to Service Bus: a connection string, or the namespace's name and a credential of Microsoft
 * Entra.
 */
export type ServicebusConnection =
  | {
      /** `Endpoint=sb://…;SharedAccessKeyName=…;SharedAccessKey=…`, of a key with Listen and Send. */
      readonly connectionString: string;
      /**
       * A connection string of a key with Manage, for comparing the settings. The default is the consumer's own string.
       * Microsoft's emulator uses another port for it.
       */
      readonly managementConnectionString?: string | undefined;
    }
  | {
      /** `my-namespace.servicebus.windows.net` */
      readonly fullyQualifiedNamespace: string;
      /** For example `new DefaultAzureCredential()` of `@azure/identity`. */
      readonly credential: ServicebusCredential;
    };

const connectionString = z
  .string()
  .regex(/(^|;)\s*Endpoint=sb:\/\//i, "is not a connection string: it has no Endpoint=sb://…");

export const servicebusConnection: z.ZodType<ServicebusConnection> = z
  .strictObject({
    connectionString: connectionString.optional(),
    managementConnectionString: connectionString.optional(),
    fullyQualifiedNamespace: z.string().min(1).optional(),
    credential: z
      .custom<ServicebusCredential>(
        (value) => typeof (value as Partial<ServicebusCredential> | null)?.getToken === "function",
        "is not a TokenCredential, such as new DefaultAzureCredential()",
      )
      .optional(),
  })
  .refine((given) => {
    const { connectionString: text, managementConnectionString: management, ...identity } = given;
    const isIdentity = identity.fullyQualifiedNamespace !== undefined && identity.credential !== undefined;
    return text === undefined
      ? isIdentity && management === undefined
      : Object.values(identity).every((each) => each === undefined);
  }, "needs either a connectionString, or fullyQualifiedNamespace and credential") as z.ZodType<ServicebusConnection>;
