import { z } from "zod";

/**
 * `TokenCredential` of Azure's SDKs. Written out because its package is installed only by those who consume from Service Bus, and the
 * compilers of all others read this file, too.
 */
export interface ServicebusCredential {
  getToken(
    scopes: string | string[],
    options?: object,
  ): Promise<{ readonly token: string; readonly expiresOnTimestamp: number } | null>;
}

/** How a consumer reaches Service Bus: with a connection string, or with the namespace's name and a credential of Microsoft Entra. */
export type ServicebusConnection =
  | {
      /** `Endpoint=sb://…;SharedAccessKeyName=…;SharedAccessKey=…`, of a key with Listen and Send. */
      readonly connectionString: string;
      /**
       * What the settings are compared with: a connection string of a key with Manage. That of the consumer itself unless said otherwise;
       * Microsoft's emulator has another port for it.
       */
      readonly managementConnectionString?: string | undefined;
    }
  | {
      /** `my-namespace.servicebus.windows.net` */
      readonly fullyQualifiedNamespace: string;
      /** Such as `new DefaultAzureCredential()` of `@azure/identity`. */
      readonly credential: ServicebusCredential;
    };

const connectionString = z
  .string()
  .regex(/(^|;)\s*Endpoint=sb:\/\//i, "is no connection string: it has no Endpoint=sb://…");

export const servicebusConnection: z.ZodType<ServicebusConnection> = z
  .strictObject({
    connectionString: connectionString.optional(),
    managementConnectionString: connectionString.optional(),
    fullyQualifiedNamespace: z.string().min(1).optional(),
    credential: z
      .custom<ServicebusCredential>(
        (value) => typeof (value as Partial<ServicebusCredential> | null)?.getToken === "function",
        "is no TokenCredential, such as new DefaultAzureCredential()",
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
