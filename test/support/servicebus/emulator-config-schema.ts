import { z } from "zod";

// Microsoft's rules for the configuration file of its emulator. They are written apart from the exporter, so that each
// checks the other. Source: azure-service-bus-emulator-installer, `Config-schema.json`, as of June 2026, with the
// limits in its descriptions.

const name = z.string().regex(/^[A-Za-z0-9]([\w\-./]*[A-Za-z0-9])?$/);
const destination = z.union([z.literal(""), name]);

/** Whole seconds, in a range of seconds. */
function duration(leastSeconds: number, mostSeconds: number): z.ZodType {
  const pattern = /^P(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)$/;
  return z.string().refine((text) => {
    const match = pattern.exec(text);
    if (match === null) return false;
    const [hours = 0, minutes = 0, seconds = 0] = match.slice(1).map((part) => Number(part ?? 0));
    const all = hours * 3_600 + minutes * 60 + seconds;
    return all >= leastSeconds && all <= mostSeconds;
  }, `is no duration from ${leastSeconds} s to ${mostSeconds} s`);
}

const timeToLive = duration(300, 3_600);
const entity = {
  DeadLetteringOnMessageExpiration: z.boolean(),
  DefaultMessageTimeToLive: timeToLive,
  ForwardDeadLetteredMessagesTo: destination,
  ForwardTo: destination,
  // Since version 1.1.2 from 5 seconds on, for subscriptions too.
  LockDuration: duration(5, 300),
  MaxDeliveryCount: z.int().min(1).max(10),
  RequiresSession: z.boolean(),
};
const detection = { DuplicateDetectionHistoryTimeWindow: duration(5, 300), RequiresDuplicateDetection: z.boolean() };
const rule = z.strictObject({
  Name: name,
  Properties: z.discriminatedUnion("FilterType", [
    z.strictObject({ FilterType: z.literal("Correlation"), CorrelationFilter: z.strictObject({ Label: z.string() }) }),
    z.strictObject({
      FilterType: z.literal("Sql"),
      SqlFilter: z.strictObject({ SqlExpression: z.string().max(1_024) }),
    }),
  ]),
});

export const emulatorConfigSchema = z.strictObject({
  UserConfig: z.strictObject({
    Namespaces: z.tuple([
      z
        .strictObject({
          Name: z.literal("sbemulatorns"),
          Queues: z.array(z.strictObject({ Name: name, Properties: z.strictObject({ ...entity, ...detection }) })),
          Topics: z.array(
            z.strictObject({
              Name: name,
              Properties: z.strictObject({ DefaultMessageTimeToLive: timeToLive, ...detection }),
              Subscriptions: z
                .array(z.strictObject({ Name: name, Properties: z.strictObject(entity), Rules: z.array(rule) }))
                .min(1)
                .max(50),
            }),
          ),
        })
        .refine(({ Queues, Topics }) => Queues.length + Topics.length <= 50, "has more than 50 queues and topics"),
    ]),
    Logging: z.strictObject({ Type: z.enum(["File", "Console", "File,Console", "Console,File"]) }),
  }),
});
