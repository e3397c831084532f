import { isDeepStrictEqual } from "node:util";

import { isSecretInput, type ProgramRun, type RegisteredResource } from "./pulumi.ts";

type Values = Readonly<Record<string, unknown>>;

/** One step of the digest. Source: `PreviewStep` in `pkg/display/json.go` of Pulumi; docs/policy-in-ci.md. */
interface Step {
  readonly op: string;
  readonly urn: string;
  readonly provider?: string;
  readonly oldState?: Values;
  readonly newState?: Values;
  readonly diffReasons?: readonly string[];
  readonly replaceReasons?: readonly string[];
  readonly detailedDiff: Values | null;
}

/** The digest that `pulumi preview --json` prints. */
export interface Digest {
  readonly config?: Values;
  readonly steps?: readonly Step[];
  readonly diagnostics?: readonly Values[];
  readonly duration: number;
  readonly changeSummary?: Readonly<Record<string, number>>;
}

export interface DigestOptions {
  /**
   * True if the steps contain the provider's answers. They do if the engine was faster than the reader of its events.
   */
  readonly hasOutputs?: boolean;
  /** With `--show-sames`, as the command asks. */
  readonly showSames?: boolean;
  /** With `--show-replacement-steps`. */
  readonly showReplacementSteps?: boolean;
}

/**
 * The properties that force a replacement when they change, as far as tests change them. Source: `ForceNew` of the
 * providers' resources.
 */
const replacing: Readonly<Record<string, readonly string[]>> = {
  "rabbitmq:index/queue:Queue": ["name", "vhost", "settings"],
  "rabbitmq:index/exchange:Exchange": ["name", "vhost", "settings"],
  "aws:sqs/queue:Queue": ["name", "fifoQueue", "region"],
  "azure-native:servicebus:Queue": ["queueName", "namespaceName", "requiresSession", "enablePartitioning"],
};

const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** The output of `pulumi preview --json` when a program replaces a deployed one; null for no earlier program. */
export function digestOf(before: ProgramRun | null, after: ProgramRun, options: DigestOptions = {}): Digest {
  const { hasOutputs = false, showSames = true, showReplacementSteps = false } = options;
  const olds = new Map((before?.resources ?? []).map((resource) => [resource.urn, resource]));
  /** The old version of a resource, by its name or a former one. */
  const oldOf = ({ urn, type, formerNames = [] }: RegisteredResource): RegisteredResource | undefined =>
    olds.get(urn) ?? [...olds.values()].find((old) => old.type === type && formerNames.includes(old.name));
  const kept = new Set(after.resources.map(oldOf));
  const all = [
    ...after.resources.flatMap((resource) => {
      const old = oldOf(resource);
      return stepsFor(before, old, after, resource, hasOutputs);
    }),
    ...[...olds.values()]
      .filter((old) => !kept.has(old))
      .map((old) => stepOf("delete", old.urn, { oldState: stateOf(before, old, true) })),
  ];
  const isRoot = ({ urn }: Step): boolean => urn.includes("::pulumi:pulumi:Stack::");
  const isReplacementStep = ({ op }: Step): boolean => op === "create-replacement" || op === "delete-replaced";
  const steps = all.filter(
    (step) => (step.op !== "same" || showSames || isRoot(step)) && (!isReplacementStep(step) || showReplacementSteps),
  );
  const changeSummary: Record<string, number> = {};
  // Only logical steps are counted: a replacement once.
  for (const step of all) if (!isReplacementStep(step)) changeSummary[step.op] = (changeSummary[step.op] ?? 0) + 1;
  return { config: { "shop:size": "[secret]" }, steps, duration: 1_234_567_890, changeSummary };
}

function stepsFor(
  before: ProgramRun | null,
  old: RegisteredResource | undefined,
  after: ProgramRun,
  resource: RegisteredResource,
  hasOutputs: boolean,
): readonly Step[] {
  const { urn, type } = resource;
  if (old === undefined) return [stepOf("create", urn, { newState: newStateOf(after, resource, hasOutputs) })];
  const oldState = stateOf(before, old, true);
  const keys = [...new Set([...Object.keys(old.inputs), ...Object.keys(resource.inputs)])];
  const changed = keys.filter((key) => !isDeepStrictEqual(old.inputs[key], resource.inputs[key]));
  const reasons = changed.filter((key) => replacing[type]?.includes(key));
  if (changed.length === 0 || !resource.custom) {
    return [stepOf("same", urn, { oldState, newState: stateOf(after, resource, hasOutputs) })];
  }
  const newState = newStateOf(after, resource, hasOutputs);
  if (reasons.length === 0) {
    const detailedDiff = Object.fromEntries(changed.map((key) => [key, { kind: "update", inputDiff: true }]));
    const states = { oldState, newState: stateOf(after, resource, hasOutputs), diffReasons: changed };
    return [stepOf("update", urn, states, detailedDiff)];
  }
  const told = { replaceReasons: reasons, diffReasons: changed };
  const detailedDiff = Object.fromEntries(reasons.map((key) => [key, { kind: "update-replace", inputDiff: true }]));
  // A fixed name cannot be given twice, so the old resource is deleted first.
  return [
    stepOf("delete-replaced", urn, { oldState }),
    stepOf("replace", urn, { oldState, newState, ...told }, detailedDiff),
    stepOf("create-replacement", urn, { oldState, newState, ...told }, detailedDiff),
  ];
}

function stepOf(op: string, urn: string, rest: Partial<Step>, detailedDiff: Values | null = null): Step {
  const provider = (rest.newState ?? rest.oldState)?.["provider"];
  return { op, urn, ...(typeof provider === "string" ? { provider } : {}), ...rest, detailedDiff };
}

/** A resource in the form of a stack's state. Source: `apitype.ResourceV3` of Pulumi; its empty fields are left out. */
function stateOf(run: ProgramRun | null, resource: RegisteredResource, hasOutputs: boolean): Values {
  const { urn, type, custom, inputs, parent, provider, protect, retainOnDelete, deletedWith, dependencies } = resource;
  const outputs = (custom ? run?.resourceOutputs : run?.registeredOutputs)?.get(urn) ?? {};
  return withoutEmpty({
    urn,
    custom,
    type,
    ...(custom && hasOutputs ? { id: `${resource.name}-id` } : {}),
    inputs: blinded(inputs),
    // A component registers its outputs after its step.
    ...(hasOutputs && custom ? { outputs: blinded(outputs) } : {}),
    parent,
    protect,
    dependencies,
    provider,
    propertyDependencies: resource.propertyDependencies,
    retainOnDelete,
    ...(deletedWith === undefined || deletedWith === "" ? {} : { deletedWith }),
    sourcePosition: resource.sourcePosition,
  });
}

/** A new resource: the mocks' answer without the values that only AWS or Azure assigns. */
function newStateOf(run: ProgramRun, resource: RegisteredResource, hasOutputs: boolean): Values {
  const { inputs, custom, urn } = resource;
  const { id: _, ...state } = stateOf(run, resource, hasOutputs);
  if (!custom || !hasOutputs) return state;
  const assigned = Object.keys(run.resourceOutputs.get(urn) ?? {}).filter((key) => !(key in inputs));
  return { ...state, outputs: { ...blinded(inputs), ...Object.fromEntries(assigned.map((key) => [key, unknown])) } };
}

function withoutEmpty(state: Values): Values {
  const isEmpty = (value: unknown): boolean =>
    value === undefined ||
    value === "" ||
    value === false ||
    (typeof value === "object" && value !== null && Object.keys(value).length === 0);
  return Object.fromEntries(Object.entries(state).filter(([key, value]) => key === "custom" || !isEmpty(value)));
}

/**
 * Secrets are always hidden, with any options of the command. Source: `massagePropertyValue` in
 * `pkg/backend/display/json.go`.
 */
function blinded(value: Values): Values {
  return blind(value) as Values;
}

function blind(value: unknown): unknown {
  if (isSecretInput(value)) return "[secret]";
  if (Array.isArray(value)) return value.map(blind);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, blind(each)]));
}
