import * as pulumi from "@pulumi/pulumi";
import { distance } from "fastest-levenshtein";
import { z } from "zod";

import { checkTarget } from "../brokers/index.ts";
import type { BrokerName, TargetInput } from "../brokers/index.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { diagnostic, formatPath } from "../diagnostics/diagnostic.ts";
import { renderDiagnostics } from "../diagnostics/render.ts";

/** What tells one stack from another: which broker, where, and as whom. */
export type StackConfig<Name extends BrokerName = "rabbitmq"> = Extract<
  RabbitmqStackConfig | SqsStackConfig | ServicebusStackConfig,
  { readonly broker: Name }
>;

export interface RabbitmqStackConfig {
  readonly broker: "rabbitmq";
  readonly target: TargetInput<"rabbitmq">;
  readonly vhost: string;
  /** The URL of the management API. */
  readonly endpoint: string;
  readonly username: string;
  /** A secret: Pulumi encrypts it in the state. It belongs in the provider and nowhere else. */
  readonly password: pulumi.Output<string>;
}

/** The account and the credentials are the provider's: AWS has its own chain for them, and none of it is in a stack's file. */
export interface SqsStackConfig {
  readonly broker: "sqs";
  readonly target: TargetInput<"sqs">;
  /** Who names the resources at AWS; left out it is the declaration. */
  readonly naming?: "explicit" | "automatic";
}

/** The subscription and the credentials are the provider's. The namespace has to be there; its tier is that of the target. */
export interface ServicebusStackConfig {
  readonly broker: "servicebus";
  readonly target: TargetInput<"servicebus">;
  /** Its Azure resource id. */
  readonly namespaceId: string;
}

const text = z.string().min(1, { abort: true });
const namespaceIdPattern =
  /^\/subscriptions\/[^/]+\/resourceGroups\/[^/]+\/providers\/Microsoft\.ServiceBus\/namespaces\/[^/]+$/i;

/** What each broker is configured with. The password is not among the keys: no message of zod's may ever get to see it. */
const keysOf = {
  rabbitmq: {
    hasPassword: true,
    target: { version: text, strategy: text.optional() },
    others: {
      vhost: text.regex(/^[^@]*$/),
      endpoint: text.refine(isPlainHttpUrl).transform(withoutEnd),
      username: text,
    },
  },
  sqs: {
    hasPassword: false,
    // What the options are is judged by the broker, whose words are better than those of a schema.
    target: {
      region: text,
      strategy: text.optional(),
      account: z.unknown().optional(),
      kmsKey: z.unknown().optional(),
      tags: z.unknown().optional(),
      emptiedDeadQueues: z.unknown().optional(),
      lambda: z.unknown().optional(),
    },
    others: { naming: z.enum(["explicit", "automatic"]).optional() },
  },
  servicebus: {
    hasPassword: false,
    target: {
      sku: text,
      strategy: text.optional(),
      lock: z.unknown().optional(),
      duplicates: z.unknown().optional(),
      deadQueue: z.unknown().optional(),
    },
    others: { namespaceId: text.regex(namespaceIdPattern) },
  },
} as const satisfies Readonly<
  Record<BrokerName, { readonly hasPassword: boolean; readonly target: object; readonly others: object }>
>;

/** What is accepted of a stack on this broker, from a program that knows these. */
function schemaOf(broker: BrokerName, known: readonly BrokerName[]): z.ZodObject {
  const { target, others } = keysOf[broker];
  return z.strictObject({ target: z.strictObject({ broker: z.enum(known), ...target }), ...others });
}

/** Credentials in the URL would be in clear in the state: the endpoint is no secret. */
function isPlainHttpUrl(value: string): boolean {
  const url = URL.parse(value);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
}

/** The provider writes `/api/…` behind the endpoint as it is, and RabbitMQ answers a path with `//` in it with 405. */
function withoutEnd(url: string): string {
  return url.replace(/\/+$/, "");
}

/** How each value is set, for the fix of a diagnostic. */
const howTo: Readonly<Record<string, string>> = {
  target:
    'write target as a mapping, for example { broker: rabbitmq, version: "4.3" } or { broker: sqs, region: eu-west-1 }',
  "target.broker": "write the name of a broker that this program deploys to",
  "target.version": 'write a version in quotes, for example version: "4.3"',
  "target.region": "write a region, for example region: eu-west-1",
  "target.sku": "write a tier of Service Bus: basic, standard or premium",
  namespaceId:
    "write the resource id of a namespace: /subscriptions/…/resourceGroups/…/providers/Microsoft.ServiceBus/namespaces/…",
  "target.strategy": "leave it out for auto, or name a strategy in quotes",
  naming: "write explicit or automatic, or leave it out for explicit",
  vhost: "write the name of a virtual host that is there, for example /",
  endpoint: "write the URL of the management API, for example http://localhost:15672",
  username: "write the name of a RabbitMQ user with the tag management",
};

/**
 * Reads and checks the configuration of a stack, all of it at once.
 *
 * A password that lies in clear in the stack's file is refused, and no message ever has a value in it that is or may be
 * a secret. An environment variable is no other way to give it: the engine takes secrets of the configuration out of
 * its debug log, and knows of no others.
 *
 * @param config the namespace to read, `new pulumi.Config()` for the project's own
 * @param known the brokers that the program can deploy to
 * @throws pulumi.RunError with one diagnostic (RD301) per bad, missing or unknown key
 */
export function readStackConfig<Name extends BrokerName = "rabbitmq">(
  config: pulumi.Config,
  known: readonly [Name, ...Name[]] = ["rabbitmq" as Name],
): StackConfig<Name> {
  const prefix = `${config.name}:`;
  const own = Object.entries(pulumi.runtime.allConfig()).flatMap(([key, value]) =>
    key.startsWith(prefix) ? [[key.slice(prefix.length), value] as const] : [],
  );
  const target = parsed(own.find(([key]) => key === "target")?.[1] ?? "");
  const broker = known.find((each) => each === (target as { broker?: unknown } | null)?.broker) ?? known[0];
  const { hasPassword } = keysOf[broker];
  const input = Object.fromEntries(
    own.flatMap(([key, value]) => {
      if (key === "password") return hasPassword ? [] : [[key, ""]];
      return [[key, key === "target" ? target : value]];
    }),
  );
  const schema = schemaOf(broker, known);
  const checked = schema.safeParse(input);
  const problems = [
    ...(checked.success
      ? checkStackTarget(config.name, checked.data["target"] as TargetInput)
      : checked.error.issues.flatMap((issue) => describe({ config, schema, broker }, issue, input))),
    ...(hasPassword ? checkPassword(config, new Map(own).get("password")) : []),
  ];
  if (!checked.success || problems.length > 0) {
    throw new pulumi.RunError(
      `The configuration of stack ${JSON.stringify(pulumi.getStack())} is refused\n${renderDiagnostics(problems)}`,
    );
  }
  const password = hasPassword ? { password: config.requireSecret("password") } : {};
  return { broker, ...checked.data, ...password } as unknown as StackConfig<Name>;
}

/** A mapping arrives as JSON; anything else stays the text that it is, and is refused as such. */
function parsed(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

function checkStackTarget(namespace: string, target: TargetInput): Diagnostic[] {
  const checked = checkTarget(target);
  if (checked.ok) return [];
  return checked.diagnostics.map(({ path, message, value, notes, help }) =>
    diagnostic("RD301", {
      path: `config:${namespace}:${path}`,
      message,
      value,
      notes,
      help: howTo[path] ?? help ?? "",
    }),
  );
}

type Issue = z.core.$ZodIssue;

/** What is read, and by which rules. */
interface Reading {
  readonly config: pulumi.Config;
  readonly schema: z.ZodObject;
  readonly broker: BrokerName;
}

function describe(reading: Reading, issue: Issue, input: Readonly<Record<string, unknown>>): Diagnostic[] {
  const { config } = reading;
  const segments = issue.path.map(String);
  const within = formatPath(segments);
  const [key = ""] = segments;
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((unknown) => describeUnknown(reading, segments, unknown));
  }
  const value = segments.reduce<unknown>(
    (at, segment) => (at as Record<string, unknown> | undefined)?.[segment],
    input,
  );
  // What looks like user:password@host is not shown either, wherever it was written by mistake.
  const isHidden = isSecret(config, key) || /:.*@/.test(String(value));
  return [
    diagnostic("RD301", {
      path: `config:${config.name}:${within}`,
      message: value === undefined ? `${within} is missing` : problemOf(issue, within, value),
      ...(isHidden ? {} : { value }),
      help: howTo[within] ?? "remove it",
    }),
  ];
}

function problemOf(issue: Issue, within: string, value: unknown): string {
  if (issue.code === "too_small") return `${within} is empty`;
  if (within === "vhost")
    return "the name of the vhost has an @ in it, where the Pulumi provider splits its resource ids";
  if (within === "endpoint") {
    return String(value).includes("@")
      ? "the endpoint has credentials in it; they would be in clear in the state"
      : "the endpoint is no http or https URL";
  }
  if (within === "namespaceId") return "namespaceId is no resource id of a Service Bus namespace";
  if (typeof value === "number") return `${within} is a number, not a text: YAML reads 4.10 as 4.1`;
  if (within === "target") return "target is no mapping";
  return issue.code === "invalid_value" ? `${within} is none of the allowed values` : `${within} is not a text`;
}

/** The value is left out: a misspelled key may well be that of a secret. */
function describeUnknown(
  { config, schema, broker }: Reading,
  segments: readonly string[],
  unknown: string,
): Diagnostic {
  const namespace = config.name;
  const own = keysOf[broker].hasPassword ? ["password"] : [];
  const allowed =
    segments.length === 0 ? [...Object.keys(schema.shape), ...own] : ["broker", ...Object.keys(keysOf[broker].target)];
  const nearest = allowed.toSorted((a, b) => distance(a, unknown) - distance(b, unknown))[0] ?? "";
  return diagnostic("RD301", {
    path: `config:${namespace}:${formatPath([...segments, unknown])}`,
    message: `${JSON.stringify(unknown)} is no key of ${segments.at(-1) ?? "the stack's configuration"}`,
    notes: [`the keys there are ${allowed.join(", ")}`],
    help: distance(nearest, unknown) <= 3 ? `did you mean ${nearest}?` : "remove it",
  });
}

function checkPassword(config: pulumi.Config, value: string | undefined): Diagnostic[] {
  const isEncrypted = isSecret(config, "password");
  if (value !== undefined && value !== "" && isEncrypted) return [];
  const message =
    value === undefined
      ? "password is missing"
      : value === ""
        ? "password is empty"
        : "the password lies in clear in the stack's file";
  const note = "whoever can read the repository can read it; set it again as a secret, and change it on the broker";
  return [
    diagnostic("RD301", {
      path: `config:${config.name}:password`,
      message,
      notes: value === undefined || value === "" ? [] : [note],
      help: `pulumi config set --secret ${config.name}:password`,
    }),
  ];
}

/** Whether a value was encrypted in the stack's file. The language host tells, but the SDK's types leave it out. */
function isSecret(config: pulumi.Config, key: string): boolean {
  const { isConfigSecret } = pulumi.runtime as unknown as {
    readonly isConfigSecret: (key: string) => boolean;
  };
  return isConfigSecret(`${config.name}:${key}`) || isConfigSecret(`${config.name}:config:${key}`);
}
