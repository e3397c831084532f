import { z } from "zod";

import type { BrokerName, ConnectionOf, TargetInput } from "../brokers/index.ts";
import { type Duration, durationPattern, parseDurationMs } from "../declare/duration.ts";
import { durationTexts } from "../declare/schema-issues.ts";
import { plainData } from "../declare/plain-data.ts";
import { type Checked, type PathSegment, diagnosed, formatPath } from "../diagnostics/diagnostic.ts";
import { docsPage } from "../diagnostics/docs-site.ts";
import { type InputForm, type JsonSchema, describeIssues } from "../diagnostics/schema-issues.ts";
import type { BreakerLimits } from "./breaker.ts";
import type { ConsumerInfo, Redact } from "./dead-letter/metadata.ts";
import type { ConsumeEvent } from "./port/event.ts";
import type { BodySchema } from "./message.ts";
import type { BodyFormat } from "./read-body.ts";
import type { Telemetry } from "./telemetry.ts";
import { unheard } from "./unheard.ts";

export interface ConsumeOptions<Name extends BrokerName = BrokerName, Body = unknown> {
  /** The target that the system was deployed for. */
  readonly target: TargetInput<Name>;
  /** The address and the credentials of the broker. Its form is that of the target's broker. */
  readonly connection: ConnectionOf<Name>;
  /** The number of handlers that run at a time, and the most messages in hand. The default is 10. */
  readonly concurrency?: number | undefined;
  /** The default is `"json"`. */
  readonly body?: BodyFormat | undefined;
  /** A message whose body does not fit is dead at once, and costs no attempt. */
  readonly schema?: BodySchema<Body> | undefined;
  /**
   * Decides when transient failures are an outage. The consumer then takes nothing for a while and tries single
   * messages. So the outage does not push the whole queue into the dead queue. `failures` counts failed first attempts.
   * A failed later attempt counts an eighth of the one before, and a success takes away four times as much. The default
   * is 10 failures with pauses from 1s to 1m. `false` switches it off.
   */
  readonly breaker?:
    | {
        /** The evidence that makes a pause, in failed first attempts. At least 1. */
        readonly failures: number;
        /** The length of the first pause. */
        readonly firstPause: Duration;
        /** Each pause is twice as long as the one before, up to this. */
        readonly longestPause: Duration;
      }
    | false
    | undefined;
  /**
   * The longest time for `stop()`. The default is `"30s"`. A quarter of it, at most two seconds, is kept for returning
   * unfinished messages, so handlers have the rest.
   */
  readonly stopWithin?: Duration | undefined;
  /**
   * Stops the consumer like `stop()`. A consumer that has not begun does not begin, and `consume` rejects with the
   * signal's reason.
   */
  readonly signal?: AbortSignal | undefined;
  /** A description of this service, for readers of a dead letter. */
  readonly service?: ConsumerInfo | undefined;
  /** Decides which text of an error a dead letter holds. */
  readonly redact?: Redact | undefined;
  /** Watches every attempt, for a monitoring system: `openTelemetry()` of `redeliver/opentelemetry`. */
  readonly telemetry?: Telemetry | undefined;
  /** Hears the consumer's events. Its errors are ignored. */
  readonly log?: ((event: ConsumeEvent & { readonly consumer: string }) => void) | undefined;
}

/** Options with all defaults filled in. Durations are milliseconds. */
export interface Settings {
  readonly target: TargetInput;
  /** Its form depends on the broker, and it is not checked yet. */
  readonly connection: unknown;
  readonly concurrency: number;
  readonly format: BodyFormat;
  readonly schema: BodySchema | null;
  readonly breaker: BreakerLimits | null;
  readonly stopWithinMs: number;
  readonly signal: AbortSignal;
  readonly service: ConsumerInfo | null;
  readonly redact: Redact | null;
  readonly telemetry: Telemetry | null;
  readonly log: (event: ConsumeEvent) => void;
}

const duration = z.string().regex(durationPattern);
const optionalFunction = z.custom((value) => typeof value === "function", "is no function").optional();

const schema = z.strictObject({
  // The broker judges its target itself, because its words are better than a schema's.
  target: z.unknown(),
  connection: z.unknown(),
  concurrency: z.number().int().min(1).max(65_535).default(10),
  body: z.enum(["json", "text", "bytes"]).default("json"),
  schema: z.custom<BodySchema>(isBodySchema, "is not a schema of a Standard Schema library").nullable().default(null),
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
  signal: z.instanceof(AbortSignal, { error: "is not an AbortSignal" }).optional(),
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
      "is not a value that openTelemetry() returns",
    )
    .optional(),
  log: optionalFunction,
});

function isBodySchema(value: unknown): boolean {
  const standard: unknown = (value as { "~standard"?: unknown } | null | undefined)?.["~standard"];
  return typeof (standard as { validate?: unknown } | null | undefined)?.validate === "function";
}

/** Checks every option, and reports all problems at once. */
export function checkOptions(consumer: string, options: unknown): Checked<Settings> {
  const own = ownOptions(options);
  if (!own.ok) return own;
  const parsed = judged(schema, own.value);
  if (!parsed.success) return refuseOptions("options", parsed.error.issues, own.value, schema);
  const { data } = parsed;
  const given = own.value as unknown as ConsumeOptions;
  const { log = () => undefined, redact = null, service = null, telemetry = null } = given;
  return {
    ok: true,
    warnings: [],
    value: Object.freeze({
      target: given.target,
      connection: given.connection,
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
      signal: given.signal ?? new AbortController().signal,
      service,
      redact,
      telemetry,
      // A failing log may not fail a message.
      log: (event: ConsumeEvent) => unheard(() => log({ ...event, consumer })),
    }),
  };
}

/** Options with functions or live objects, which cannot be copied. */
const liveOptions = new Set(["connection", "schema", "signal", "redact", "telemetry", "log"]);

/** Reads each option once, and copies those that are data. */
function ownOptions(options: unknown): Checked<Readonly<Record<string, unknown>>> {
  try {
    const entries = typeof options === "object" && options !== null ? Object.entries(options) : [];
    const live = Object.fromEntries(entries.filter(([key]) => liveOptions.has(key)));
    const plain = plainData(Object.fromEntries(entries.filter(([key]) => !liveOptions.has(key))), ["options"]);
    return plain.ok ? { ...plain, value: { ...(plain.value as object), ...live } } : plain;
  } catch {
    return refuseOptions("options", [unreadable], options, z.unknown());
  }
}

const unreadable: z.core.$ZodIssue = {
  code: "custom",
  path: [],
  message: "throws when it is read",
  input: undefined,
};

type Judged<Value> =
  | { readonly success: true; readonly data: Value }
  | { readonly success: false; readonly error: { readonly issues: readonly z.core.$ZodIssue[] } };

/** Validates values that may throw when they are read. */
function judged<Value>(type: z.ZodType<Value>, value: unknown): Judged<Value> {
  try {
    return type.safeParse(value);
  } catch {
    return { success: false, error: { issues: [unreadable] } };
  }
}

export function checkConnection(connection: unknown, type: z.ZodType): Checked<unknown> {
  const parsed = judged(type, connection);
  if (!parsed.success) return refuseOptions("options.connection", parsed.error.issues, connection, type);
  return { ok: true, warnings: [], value: connection };
}

/** The options without a default. */
const needed: Readonly<Record<string, string>> = {
  target: "{ broker: … }",
  connection: "{ … } with the address of the broker",
};

function isMissing(input: unknown, key: string): boolean {
  return (input as Readonly<Record<string, unknown>>)[key] === undefined;
}

/** Values of options and connections stay out of the sentences: there are passwords among them. */
function refuseOptions(
  path: string,
  issues: readonly z.core.$ZodIssue[],
  input: unknown,
  type: z.ZodType,
): Checked<never> {
  const allowed = type instanceof z.ZodObject ? Object.keys(type.shape) : [];
  const form: InputForm = {
    schema: () => z.toJSONSchema(type, { io: "input", unrepresentable: "any" }) as JsonSchema,
    whole: `${path} is not a mapping`,
    begin: "",
    placeName: (segments) => [path, formatPath(segments)].filter((each) => each !== "").join("."),
    texts: durationTexts,
    hidesValues: () => true,
    codeOf: () => "RD802",
  };
  const notes = describeIssues(issues, input, form).map(({ message }) => message);
  const names = allowed.length === 0 ? "" : `; the options there are ${allowed.join(", ")}`;
  const keys = issues.map((each) => formatPath(each.path as PathSegment[]));
  // An input that throws when it is read has an issue without a key.
  const areMissing = path === "options" && keys.every((key) => key in needed && isMissing(input, key));
  const help = areMissing
    ? `add ${keys.map((key) => `${key}: ${needed[key]}`).join(" and ")}, as in ${docsPage("consuming")}`
    : `correct the values in the notes${names}`;
  return {
    ok: false,
    diagnostics: diagnosed("RD802", {
      path,
      message: `${notes.length === 1 ? "one thing is" : `${notes.length} things are`} wrong with the consumer's options`,
      notes,
      help,
    }),
  };
}
