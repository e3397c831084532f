import * as pulumi from "@pulumi/pulumi";
import { nearest } from "../diagnostics/distance.ts";
import { type JsonSchema, describeIssues } from "../diagnostics/schema-issues.ts";
import { z } from "zod";

import { type BrokerName, type TargetInput, brokers, checkTarget, defaultBroker } from "../brokers/index.ts";
import type { StackKeys } from "../brokers/stack-keys.ts";
import { type Diagnostic, type PathSegment, diagnosed, diagnostic, formatPath } from "../diagnostics/diagnostic.ts";
import { renderDiagnostics } from "../diagnostics/render.ts";
import { type Issue, helpFor, howToSet, problemOf } from "./stack-value-problems.ts";
import { checkStackTls } from "./stack-tls.ts";

type Brokers = typeof brokers;
/** The keys of a stack beside the target. */
type OtherKeys<Name extends BrokerName> = z.output<z.ZodObject<Brokers[Name]["stack"]["others"]>>;
/** A secret: Pulumi encrypts it in the state. Pass it only to the provider. */
type Password<Name extends BrokerName> = Brokers[Name]["stack"]["hasPassword"] extends true
  ? { readonly password: pulumi.Output<string> }
  : object;

/** The settings that differ between stacks: the broker, its place, and the credentials. */
export type StackConfig<Name extends BrokerName = typeof defaultBroker> = Name extends BrokerName
  ? { readonly broker: Name; readonly target: TargetInput<Name> } & Readonly<OtherKeys<Name>> & Password<Name>
  : never;

/** The valid configuration of a stack on this broker, for a program that knows these brokers. */
function schemaOf(broker: BrokerName, known: readonly BrokerName[]): z.ZodObject {
  const { target, others } = brokers[broker].stack;
  return z.strictObject({ target: z.strictObject({ broker: z.enum(known), ...target }), ...others });
}

/**
 * Reads and checks the configuration of a stack, all of it at once.
 *
 * It refuses a password that stands in clear in the stack's file. No message ever has a value in it that may be a
 * secret. The password cannot come from an environment variable. The engine removes only the secrets of the
 * configuration from its debug log.
 *
 * @param config the namespace to read, `new pulumi.Config()` for the project's own
 * @param known the brokers that the program can deploy to
 * @param otherwise the target if the configuration has none
 * @throws pulumi.RunError with one diagnostic (RD301) per bad, missing or unknown key
 */
export function readStackConfig<Name extends BrokerName = typeof defaultBroker>(
  config: pulumi.Config,
  known: readonly [Name, ...Name[]] = [defaultBroker as Name],
  otherwise?: unknown,
): StackConfig<Name> {
  const prefix = `${config.name}:`;
  const given = Object.entries(pulumi.runtime.allConfig()).flatMap(([key, value]) =>
    key.startsWith(prefix) ? [[key.slice(prefix.length), value] as const] : [],
  );
  const written = given.find(([key]) => key === "target")?.[1];
  const target = written === undefined ? (otherwise ?? "") : parsed(written);
  const own = written === undefined && otherwise !== undefined ? [...given, ["target", ""] as const] : given;
  const broker = known.find((each) => each === (target as { broker?: unknown } | null)?.broker) ?? known[0];
  const { hasPassword } = brokers[broker].stack;
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
      ? [
          ...checkStackTarget(config.name, checked.data["target"] as TargetInput, brokers[broker].stack),
          ...checkStackTls(config.name, checked.data),
        ]
      : describe({ config, schema, broker }, checked.error.issues, input)),
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

/** A mapping arrives as JSON. Any other value stays a text, and the schema refuses it. */
function parsed(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

function checkStackTarget(namespace: string, target: TargetInput, stack: StackKeys): Diagnostic[] {
  const checked = checkTarget(target);
  if (checked.ok) return [];
  return checked.diagnostics.map(({ path, message, value, notes, help }) =>
    diagnostic("RD301", {
      path: `config:${namespace}:${path}`,
      message,
      value,
      notes,
      help: howToSet(stack, path) ?? help ?? "",
    }),
  );
}

interface Reading {
  readonly config: pulumi.Config;
  readonly schema: z.ZodObject;
  readonly broker: BrokerName;
}

function describe({ config, schema, broker }: Reading, issues: readonly Issue[], input: object): Diagnostic[] {
  const { name } = config;
  const { stack } = brokers[broker];
  const found = describeIssues(issues, input, {
    schema: () => z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as JsonSchema,
    whole: "the stack's configuration is a mapping",
    begin: `begin with pulumi config set ${name}:target`,
    placeName: (path) => String(path.at(-1) ?? "the stack's configuration"),
    texts: {},
    // A value like user:password@host, or like a URL with a query, is hidden too, because a user may write it under a
    // wrong key. An unknown key may be a misspelled name of a secret.
    hidesValues: ({ kind, path: [key], value }) =>
      kind === "unknown-key" || isSecret(config, String(key)) || /:.*[@?#]/.test(String(value)),
    codeOf: () => "RD301",
    sentencesOf: ({ kind, path, issue, value }) => {
      if (kind === "unknown-key") return unknownKeySentences(path, Object.keys(schema.shape), broker);
      const within = formatPath(path);
      const help = helpFor(stack, within, value, name);
      return value === undefined ? { help } : { message: problemOf(stack, issue, within, value), help };
    },
  });
  return found.map((each) => ({ ...each, path: `config:${name}:${each.path}` }));
}

const alwaysChecked =
  "remove it: Redeliver always checks the broker's certificate; name your own authority in cacertFile";

/** The keys of a target are those of its broker; the password is no key of the schema. */
function unknownKeySentences(
  path: readonly PathSegment[],
  ofStack: readonly string[],
  broker: BrokerName,
): { readonly notes: readonly string[]; readonly help: string } {
  const own = brokers[broker].stack;
  const allowed =
    path.length === 1 ? [...ofStack, ...(own.hasPassword ? ["password"] : [])] : ["broker", ...Object.keys(own.target)];
  const key = path.at(-1);
  return {
    notes: [`the keys there are ${allowed.join(", ")}`],
    help: key === "insecure" ? alwaysChecked : (nearest(key, allowed) ?? "remove it"),
  };
}

function checkPassword(config: pulumi.Config, value: string | undefined): Diagnostic[] {
  const isEncrypted = isSecret(config, "password");
  if (value !== undefined && value !== "" && isEncrypted) return [];
  const message =
    value === undefined
      ? "password is missing"
      : value === ""
        ? "password is empty"
        : "the password is in clear in the stack's file";
  const note = "every reader of the repository can read it; set it as a secret, and change it on the broker";
  return diagnosed("RD301", {
    path: `config:${config.name}:password`,
    message,
    notes: value === undefined || value === "" ? [] : [note],
    help: `pulumi config set --secret ${config.name}:password`,
  });
}

/** True if the stack's file has the value encrypted. The language host knows it, but the SDK's types leave it out. */
function isSecret(config: pulumi.Config, key: string): boolean {
  const { isConfigSecret } = pulumi.runtime as unknown as {
    readonly isConfigSecret: (key: string) => boolean;
  };
  return isConfigSecret(`${config.name}:${key}`) || isConfigSecret(`${config.name}:config:${key}`);
}
