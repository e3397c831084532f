import { z } from "zod";

import type { TargetInput } from "../brokers/index.ts";
import { durationPattern, parseDurationMs } from "../declare/duration.ts";
import type { Duration } from "../declare/duration.ts";
import type { Checked } from "../diagnostics/diagnostic.ts";
import { diagnostic, formatPath } from "../diagnostics/diagnostic.ts";
import type { ConnectionOf, ConsumableName } from "./adapters.ts";
import type { BreakerLimits } from "./breaker.ts";
import type { ConsumerInfo, Redact } from "./dead-letter/metadata.ts";
import type { ConsumeEvent } from "./event.ts";
import type { BodySchema } from "./message.ts";
import type { BodyFormat } from "./read-body.ts";
import type { Telemetry } from "./telemetry.ts";
import { unheard } from "./unheard.ts";

export interface ConsumeOptions<Name extends ConsumableName = ConsumableName, Body = unknown> {
  /** What the system was deployed for. */
  readonly target: TargetInput<Name>;
  readonly connection: ConnectionOf<Name>;
  /** How many handlers run at a time, and how many messages are held at most; 10 unless said otherwise. */
  readonly concurrency?: number | undefined;
  /** `"json"` unless said otherwise. */
  readonly body?: BodyFormat | undefined;
  /** A body that does not fit is dead at once, and costs no attempt. */
  readonly schema?: BodySchema<Body> | undefined;
  /**
   * When a series of transient failures is taken for an outage: nothing is taken for a while, then one message is tried, so that the outage does
   * not push the whole queue into the dead queue. 10 failures, pauses from 1s to 1m, unless said otherwise; `false` for never.
   */
  readonly breaker?:
    | { readonly failures: number; readonly firstPause: Duration; readonly longestPause: Duration }
    | false
    | undefined;
  /** How long `stop()` waits for handlers that run; `"30s"` unless said otherwise. */
  readonly stopWithin?: Duration | undefined;
  /** Who this is, for whoever reads a dead letter. */
  readonly service?: ConsumerInfo | undefined;
  /** Decides what a dead letter says of an error. */
  readonly redact?: Redact | undefined;
  /** Watches every attempt, for a monitoring system: `openTelemetry()` of `redeliver/opentelemetry`. */
  readonly telemetry?: Telemetry | undefined;
  /** Hears what happens. What it throws is not looked at. */
  readonly log?: ((event: ConsumeEvent & { readonly consumer: string }) => void) | undefined;
}

/** Options with everything filled in. Durations are milliseconds. */
export interface Settings {
  readonly target: TargetInput;
  readonly concurrency: number;
  readonly format: BodyFormat;
  readonly schema: BodySchema | null;
  readonly breaker: BreakerLimits | null;
  readonly stopWithinMs: number;
  readonly service: ConsumerInfo | null;
  readonly redact: Redact | null;
  readonly telemetry: Telemetry | null;
  readonly log: (event: ConsumeEvent) => void;
}

const duration = z.string().regex(durationPattern, 'is no duration, such as "30s"');
const optionalFunction = z.custom((value) => typeof value === "function", "is no function").optional();

const schema = z.strictObject({
  target: z.looseObject({ broker: z.string() }),
  connection: z.unknown(),
  concurrency: z.number().int().min(1).max(65_535).default(10),
  body: z.enum(["json", "text", "bytes"]).default("json"),
  schema: z
    .custom<BodySchema>(isBodySchema, "is no schema of a library that keeps to Standard Schema")
    .nullable()
    .default(null),
  breaker: z
    .union([
      z.literal(false),
      z
        .strictObject({ failures: z.number().int().min(1), firstPause: duration, longestPause: duration })
        .refine(
          ({ firstPause, longestPause }) => parseDurationMs(firstPause) <= parseDurationMs(longestPause),
          "has a firstPause that is longer than its longestPause",
        ),
    ])
    .default({ failures: 10, firstPause: "1s", longestPause: "1m" }),
  stopWithin: duration.default("30s"),
  service: z
    .strictObject({
      service: z.string(),
      version: z.string().optional(),
      environment: z.string().optional(),
      hostname: z.string().optional(),
      pid: z.number().optional(),
    })
    .optional(),
  redact: optionalFunction,
  telemetry: z
    .custom<Telemetry>(
      (value) => typeof (value as Partial<Telemetry> | null)?.attempt === "function",
      "is not what openTelemetry() returns",
    )
    .optional(),
  log: optionalFunction,
});

function isBodySchema(value: unknown): boolean {
  const standard: unknown = (value as { "~standard"?: unknown } | null | undefined)?.["~standard"];
  return typeof (standard as { validate?: unknown } | null | undefined)?.validate === "function";
}

/** Checks every option, and names all that is wrong at once. */
export function checkOptions(consumer: string, options: unknown): Checked<Settings> {
  const parsed = schema.safeParse(options);
  if (!parsed.success) return refuseOptions("options", parsed.error.issues, Object.keys(schema.shape));
  const { data } = parsed;
  const given = options as ConsumeOptions;
  const { log = () => undefined, redact = null, service = null, telemetry = null } = given;
  return {
    ok: true,
    warnings: [],
    value: Object.freeze({
      target: given.target,
      concurrency: data.concurrency,
      format: data.body,
      schema: data.schema,
      breaker:
        data.breaker === false
          ? null
          : {
              failures: data.breaker.failures,
              firstPauseMs: parseDurationMs(data.breaker.firstPause),
              longestPauseMs: parseDurationMs(data.breaker.longestPause),
            },
      stopWithinMs: parseDurationMs(data.stopWithin),
      service,
      redact,
      telemetry,
      // A log that fails is no reason to fail a message.
      log: (event: ConsumeEvent) => unheard(() => log({ ...event, consumer })),
    }),
  };
}

/** Checks what is said of the connection. Values are not repeated: there are passwords among them. */
export function checkConnection(connection: unknown, type: z.ZodType): Checked<unknown> {
  const parsed = type.safeParse(connection);
  if (!parsed.success) {
    const allowed = type instanceof z.ZodObject ? Object.keys(type.shape) : [];
    return refuseOptions("options.connection", parsed.error.issues, allowed);
  }
  return { ok: true, warnings: [], value: connection };
}

function refuseOptions(path: string, issues: readonly z.core.$ZodIssue[], allowed: readonly string[]): Checked<never> {
  const notes = issues.map((issue) => {
    const place = issue.path.length === 0 ? "" : `${formatPath(issue.path as (string | number)[])}: `;
    return `${place}${issue.message}`;
  });
  const names = allowed.length === 0 ? "" : `; the options there are ${allowed.join(", ")}`;
  return {
    ok: false,
    diagnostics: [
      diagnostic("RD802", {
        path,
        message: `${notes.length === 1 ? "one thing is" : `${notes.length} things are`} wrong with what the consumer was given`,
        notes,
        help: `correct what the notes name${names}`,
      }),
    ],
  };
}
