import type { BrokerName } from "../brokers/index.ts";
import { brokerOf, brokers } from "../brokers/index.ts";
import { readPulumiState } from "../brokers/pulumi-state.ts";
import type { Checked, Diagnostic } from "../diagnostics/diagnostic.ts";
import { diagnostic } from "../diagnostics/diagnostic.ts";
import { readText } from "./read-text.ts";

type AnyBroker = ReturnType<typeof brokerOf>;
type AnyAuditor = NonNullable<AnyBroker["auditor"]>;

/** A broker whose topologies can be audited. */
export interface Audited {
  readonly name: BrokerName;
  readonly broker: AnyBroker;
  readonly auditor: AnyAuditor;
}

type AnyLive = NonNullable<AnyAuditor["live"]>;

interface LiveSource {
  readonly kind: "live";
  readonly audited: Audited;
  readonly live: AnyLive;
  readonly url: string;
  /** What answers in the place of AWS. */
  readonly endpoint: string | undefined;
}

/** Something that an audit reads. */
export type AuditSource =
  | { readonly kind: "file"; readonly audited: Audited; readonly file: string }
  | LiveSource
  | { readonly kind: "stack"; readonly file: string };

/** What was read of one broker. */
export interface FoundDeployment {
  readonly audited: Audited;
  readonly deployment: unknown;
  readonly warnings: readonly Diagnostic[];
}

/** Every broker whose topologies can be audited. */
export const auditedBrokers: readonly Audited[] = (Object.keys(brokers) as BrokerName[]).flatMap((name) => {
  const broker = brokerOf({ broker: name });
  return broker.auditor === undefined ? [] : [{ name, broker, auditor: broker.auditor }];
});

/** Every source that the options name: a file of one of the brokers, a running broker, a stack. */
export function sourcesIn(options: Readonly<Record<string, unknown>>): readonly AuditSource[] {
  const { url, stack, endpoint } = options;
  return [
    ...auditedBrokers.flatMap((audited): AuditSource[] => {
      const file = options[audited.auditor.file.option];
      return typeof file === "string" ? [{ kind: "file", audited, file }] : [];
    }),
    ...(typeof url === "string" ? [liveSource(url, endpoint)] : []),
    ...(typeof stack === "string" ? [{ kind: "stack", file: stack } as const] : []),
  ];
}

function liveSource(url: string, endpoint: unknown): LiveSource {
  return { kind: "live", ...brokerAt(url), url, endpoint: typeof endpoint === "string" ? endpoint : undefined };
}

/** The broker that is read by URLs of this scheme; one that no broker knows is refused by the first. */
function brokerAt(url: string): Pick<LiveSource, "audited" | "live"> {
  const readLive = auditedBrokers.flatMap((audited) => {
    const { live } = audited.auditor;
    return live === null ? [] : [{ audited, live }];
  });
  const own = readLive.find(({ live }) => live.schemes.some((scheme) => url.startsWith(scheme)));
  return own ?? (readLive[0] as Pick<LiveSource, "audited" | "live">);
}

/** Reads a source. A stack can hold topologies of several brokers; every other source holds one. */
export async function readSource(source: AuditSource): Promise<Checked<readonly FoundDeployment[]>> {
  switch (source.kind) {
    case "live":
      return foundOf(source.audited, await readLive(source));
    case "file": {
      const text = await readText(source.file);
      return text.ok ? foundOf(source.audited, source.audited.auditor.file.read(text.value)) : text;
    }
    case "stack": {
      const text = await readText(source.file);
      return text.ok ? deploymentsInState(text.value) : text;
    }
    default:
      return source satisfies never;
  }
}

async function readLive({ audited, live, url, endpoint }: LiveSource): Promise<Checked<unknown>> {
  switch (live.kind) {
    case "http": {
      const { readLiveBroker } = await import("./read-live-broker.ts");
      return readLiveBroker(url, live, process.env);
    }
    case "aws": {
      const target = audited.broker.parseTarget(url.slice(url.indexOf(":") + 1));
      if (!target.ok) return target;
      const { readLiveAws } = await import("./read-live-aws.ts");
      return readLiveAws({ region: url.slice(url.indexOf(":") + 1), endpoint }, live);
    }
    default:
      return live satisfies never;
  }
}

function foundOf(audited: Audited, read: Checked<unknown>): Checked<readonly FoundDeployment[]> {
  if (!read.ok) return read;
  return { ok: true, value: [{ audited, deployment: read.value, warnings: read.warnings }], warnings: [] };
}

/** What the state of a stack holds of each broker. */
export function deploymentsInState(text: string): Checked<readonly FoundDeployment[]> {
  const state = readPulumiState(text);
  if (!state.ok) return state;
  const found: FoundDeployment[] = [];
  for (const audited of auditedBrokers) {
    if (!state.value.some(audited.auditor.resources.isOwn)) continue;
    const read = audited.auditor.resources.read(state.value);
    if (!read.ok) return read;
    found.push({ audited, deployment: read.value, warnings: read.warnings });
  }
  if (found.length > 0) return { ok: true, value: found, warnings: [] };
  const message = `none of the stack's ${state.value.length} resources is part of a topology of ${titles()}`;
  const help = "name the stack that made the broker's topology";
  return { ok: false, diagnostics: [diagnostic("RD401", { path: "", message, help })] };
}

function titles(): string {
  return new Intl.ListFormat("en", { type: "disjunction" }).format(auditedBrokers.map(({ broker }) => broker.title));
}
