import { inShell } from "../adopt/in-shell.ts";
import { type BrokerName, brokerOf, brokers } from "../brokers/index.ts";
import type { ChangeRequest } from "../brokers/migrating.ts";
import { unreadAsError, unreadTypes } from "../foreign/unread.ts";
import type { PulumiResource } from "../foreign/pulumi-resource.ts";
import { readPulumiState } from "../foreign/pulumi-state.ts";
import { type BridgedType, readBridged, readTerraformState } from "../foreign/terraform-state.ts";
import { type Checked, type Diagnostic, accepted, refuseWhole, refusedFor } from "../diagnostics/diagnostic.ts";
import type { RequestBounds } from "../foreign/request-budget.ts";
import type { TlsFiles } from "../tls/read-tls-files.ts";
import type { Fetch } from "../tls/secure-fetch.ts";
import { isDeclarationText } from "./is-declaration.ts";
import { readText } from "./read-text.ts";

type AnyBroker = ReturnType<typeof brokerOf>;
type AnyAuditor = NonNullable<AnyBroker["auditor"]>;

/** A broker with topologies that Redeliver can audit. */
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
  /** The endpoint that replaces AWS. */
  readonly endpoint: string | undefined;
  readonly files: TlsFiles;
  readonly bounds: Partial<RequestBounds>;
}

export type AuditSource =
  | { readonly kind: "file"; readonly audited: Audited; readonly file: string }
  | LiveSource
  | { readonly kind: "stack"; readonly tool: StateTool; readonly file: string; readonly allowUnread: boolean };

/** A tool that keeps the state of what it deployed. */
export interface StateTool {
  readonly option: string;
  readonly flags: string;
  readonly what: string;
  readonly read: (text: string) => Checked<readonly PulumiResource[]>;
  /** The command that takes a resource out of the state, and leaves it on the broker. */
  readonly forget: (resource: PulumiResource) => string;
}

const pulumi: StateTool = {
  option: "stack",
  flags: "--stack <file>",
  what: "the output of pulumi stack export",
  read: (text) => {
    const state = readPulumiState(text);
    return state.ok ? { ...state, value: readBridged(state.value, terraformTypes()) } : state;
  },
  forget: ({ urn, isProtected = false }) => `pulumi state delete ${isProtected ? "--force " : ""}${inShell(urn)}`,
};

const terraform: StateTool = {
  option: "terraformState",
  flags: "--terraform-state <file>",
  what: "the output of terraform state pull",
  read: (text) => readTerraformState(text, terraformTypes()),
  forget: ({ urn }) => `terraform state rm ${inShell(urn)}`,
};

function terraformTypes(): Readonly<Record<string, BridgedType>> {
  return Object.assign({}, ...auditedBrokers().map(({ auditor }) => auditor.resources.terraformTypes));
}

export const stateTools: readonly StateTool[] = [pulumi, terraform];

export interface FoundDeployment {
  readonly audited: Audited;
  readonly deployment: unknown;
  readonly warnings: readonly Diagnostic[];
  /** The resources of the state that it was read from. */
  readonly state?: { readonly tool: StateTool; readonly resources: readonly PulumiResource[] };
}

export function auditedBrokers(): readonly Audited[] {
  return (Object.keys(brokers) as BrokerName[]).flatMap((name) => {
    const broker = brokerOf({ broker: name });
    return broker.auditor === undefined ? [] : [{ name, broker, auditor: broker.auditor }];
  });
}

/** Every source in the options: a file of one of the brokers, a running broker, a stack. */
export function sourcesIn(options: Readonly<Record<string, unknown>>): readonly AuditSource[] {
  const { url } = options;
  return [
    ...auditedBrokers().flatMap((audited): AuditSource[] => {
      const file = options[audited.auditor.file.option];
      return typeof file === "string" ? [{ kind: "file", audited, file }] : [];
    }),
    ...(typeof url === "string" ? [liveSource(url, options)] : []),
    ...stateTools.flatMap((tool): AuditSource[] => {
      const file = options[tool.option];
      return typeof file === "string"
        ? [{ kind: "stack", tool, file, allowUnread: options["allowUnread"] === true }]
        : [];
    }),
  ];
}

function liveSource(url: string, options: Readonly<Record<string, unknown>>): LiveSource {
  const { endpoint, ca, cert, key } = Object.fromEntries(
    Object.entries(options).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
  const { maxBytes, timeout } = options;
  const bounds = {
    ...(typeof maxBytes === "number" ? { mostBytes: maxBytes } : {}),
    ...(typeof timeout === "number" ? { timeoutMs: timeout } : {}),
  };
  return { kind: "live", ...brokerAt(url), url, endpoint, files: { ca, cert, key }, bounds };
}

/** The broker that reads URLs of this scheme. The first broker refuses an unknown scheme. */
function brokerAt(url: string): Pick<LiveSource, "audited" | "live"> {
  const readLive = auditedBrokers().flatMap((audited) => {
    const { live } = audited.auditor;
    return live === null ? [] : [{ audited, live }];
  });
  const own = readLive.find(({ live }) => live.schemes.some((scheme) => url.startsWith(scheme)));
  return own ?? (readLive[0] as Pick<LiveSource, "audited" | "live">);
}

/** The file of a source. A running broker has none. */
export function fileOf(source: AuditSource | null): string | undefined {
  return source === null || source.kind === "live" ? undefined : source.file;
}

/**
 * Reads a source. A stack can hold topologies of several brokers; every other source holds one.
 *
 * @param hasOption true if the command has the option to pass over unread resources
 */
export async function readSource(source: AuditSource, hasOption = false): Promise<Checked<readonly FoundDeployment[]>> {
  switch (source.kind) {
    case "live":
      return foundOf(source.audited, await readLive(source));
    case "file": {
      const text = readText(source.file);
      if (!text.ok) return text;
      const read = foundOf(source.audited, source.audited.auditor.file.read(text.value));
      return read.ok ? read : (declarationIn(source.file, text.value, source.audited.broker) ?? read);
    }
    case "stack": {
      const text = readText(source.file);
      const found = text.ok ? deploymentsInState(text.value, source.tool) : text;
      if (!found.ok || source.allowUnread) return found;
      const value = found.value.map((each) => ({
        ...each,
        warnings: each.warnings.map((warning) => unreadAsError(warning, hasOption)),
      }));
      return { ...found, value };
    }
    default:
      return source satisfies never;
  }
}

/** The refusal of a declaration in place of an export. */
function declarationIn(file: string, text: string, { exampleTarget }: AnyBroker): Checked<never> | null {
  if (!isDeclarationText(text)) return null;
  const help = `prove it with redeliver check ${file} --target ${exampleTarget}`;
  return refuseWhole("RD401", "this is a declaration, and no export of a broker", help);
}

/** Changes a running broker. Only one with a management API can be changed. */
export async function changeSource(
  { live, url, files }: LiveSource,
  requests: readonly ChangeRequest[],
  said: (text: string) => void,
): Promise<Checked<null>> {
  const request = await requestWith(files, url);
  if (!request.ok) return request;
  if (live.kind !== "http") throw new Error("this broker has no management API");
  const { changeLiveBroker } = await import("./read-live-broker.ts");
  return changeLiveBroker(url, live, process.env, requests, request.value, said);
}

async function readLive({ live, url, endpoint, files, bounds }: LiveSource): Promise<Checked<unknown>> {
  const request = await requestWith(files, url);
  if (!request.ok) return request;
  switch (live.kind) {
    case "http": {
      const { readLiveBroker } = await import("./read-live-broker.ts");
      return readLiveBroker(url, live, process.env, bounds, request.value);
    }
    case "sdk":
      return live.read(url.slice(url.indexOf(":") + 1), endpoint, bounds);
    default:
      return live satisfies never;
  }
}

/** Makes requests with the user's certificates, or with the machine's own settings. */
async function requestWith(files: TlsFiles, url: string): Promise<Checked<Fetch>> {
  if (Object.values(files).every((file) => file === undefined)) return accepted(fetch);
  const refuse = (message: string, help: string): Checked<never> => refusedFor("RD407", { path: "url", message, help });
  if (!/^https:/i.test(url))
    return refuse(
      "the URL does not begin with https:, and only https: uses certificates",
      "leave out --ca, --cert and --key",
    );
  const { readTlsFiles } = await import("../tls/read-tls-files.ts");
  const read = readTlsFiles(files, process.env[passphraseVariable]);
  if ("problem" in read) {
    const { part, message } = read.problem;
    return part === "passphrase"
      ? refuse(`the passphrase ${message}`, `set ${passphraseVariable}`)
      : refuse(`--${part} ${message}`, `name a file in PEM with --${part}`);
  }
  const { fetchWith } = await import("../tls/secure-fetch.ts");
  return accepted(fetchWith(read.tls));
}

const passphraseVariable = "RABBITMQ_KEY_PASSPHRASE";

function foundOf(audited: Audited, read: Checked<unknown>): Checked<readonly FoundDeployment[]> {
  if (!read.ok) return read;
  return accepted([{ audited, deployment: read.value, warnings: read.warnings }]);
}

/** Reads each broker's part of a state. */
export function deploymentsInState(text: string, tool = pulumi): Checked<readonly FoundDeployment[]> {
  const state = tool.read(text);
  if (!state.ok) return state;
  const found: FoundDeployment[] = [];
  const unread: Diagnostic[] = [];
  for (const audited of auditedBrokers()) {
    const unreadHere = unreadTypes(state.value, audited.auditor.resources.unreadTypes);
    unread.push(...unreadHere);
    if (!state.value.some(audited.auditor.resources.isOwn)) continue;
    const read = audited.auditor.resources.read(state.value);
    if (!read.ok) return read;
    const resources = state.value.filter(audited.auditor.resources.isRead);
    const warnings = [...read.warnings, ...unreadHere];
    found.push({ audited, deployment: read.value, warnings, state: { tool, resources } });
  }
  if (found.length > 0) return accepted(found);
  if (unread.length > 0) return { ok: false, diagnostics: unread.map((each) => unreadAsError(each, false)) };
  const message = `no resource of the state is part of a topology of ${titles()}`;
  return refuseWhole("RD401", message, "name the state of the program that made the queues");
}

function titles(): string {
  return new Intl.ListFormat("en", { type: "disjunction" }).format(auditedBrokers().map(({ broker }) => broker.title));
}
