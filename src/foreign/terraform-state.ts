import { type Checked, accepted, refuseWhole } from "../diagnostics/diagnostic.ts";
import { type Entry, isEntry } from "./entries.ts";
import { parseJson } from "./parse-json.ts";
import type { PulumiResource } from "./pulumi-resource.ts";

interface TypedProperties {
  readonly type: string;
  readonly properties: Entry;
}

/** A type of Terraform, as the Pulumi provider that is bridged from its provider has it. */
export interface BridgedType {
  /** Its type in Pulumi. */
  readonly type: string;
  /** Blocks that exist at most once. The bridge makes an object of each. Source: `MaxItems: 1` in Terraform's schema. */
  readonly singleBlocks?: readonly string[];
  /** Its type in the bridged provider, if `type` is one of another provider. */
  readonly bridgedType?: string;
  /** Attributes in camel case that have another name in Pulumi. */
  readonly renamed?: Readonly<Record<string, string>>;
  /** The last step, for a provider whose Pulumi provider is not bridged. Null for a resource that nobody reads. */
  readonly finish?: (resource: TypedProperties) => TypedProperties | null;
}

/** The name in Terraform of a type of Pulumi. Null if there is none. */
export function terraformTypeOf(types: Readonly<Record<string, BridgedType>>, token: string): string | null {
  return Object.keys(types).find((name) => types[name]?.type === token) ?? null;
}

/**
 * Reads the output of `terraform state pull`, and names types and attributes as the Pulumi providers that are bridged
 * from Terraform's.
 *
 * Source: `stateV4`, `resourceStateV4` and `instanceObjectStateV4` in Terraform's `internal/states/statefile`.
 *
 * @param types the types to read, by their names in Terraform
 * @returns the resources of these types, without data sources
 */
export function readTerraformState(
  text: string,
  types: Readonly<Record<string, BridgedType>>,
): Checked<readonly PulumiResource[]> {
  const parsed = parseJson(text, "the state");
  if (!parsed.ok) return parsed;
  const { version, resources } = isEntry(parsed.value) ? parsed.value : {};
  if (version !== 4 || !Array.isArray(resources))
    return refuseWhole(
      "RD401",
      "this is JSON, but not a state of Terraform 0.12 or newer",
      "write one with terraform state pull > state.json",
    );
  return accepted(
    resources.filter(isEntry).flatMap((resource): readonly PulumiResource[] => {
      const { mode, type, instances } = resource;
      const bridged = Object.hasOwn(types, String(type)) ? types[String(type)] : undefined;
      if (mode !== "managed" || bridged === undefined || !Array.isArray(instances)) return [];
      return instances.filter(isEntry).flatMap((each) => {
        const { attributes } = each;
        // A deposed instance waits for its deletion, and has a successor.
        if (!isEntry(attributes) || each["deposed"] !== undefined) return [];
        const provider = `${providerIn(resource["provider"])}::state`;
        const read = readAs(bridged, attributes);
        return read === null ? [] : [{ ...read, urn: addressOf(resource, each), provider }];
      });
    }),
  );
}

/** Reads the resources of a bridged provider of Pulumi as those of Terraform, and leaves the others as they are. */
export function readBridged(
  resources: readonly PulumiResource[],
  types: Readonly<Record<string, BridgedType>>,
): readonly PulumiResource[] {
  return resources.flatMap((each) => {
    const bridged = Object.values(types).find(({ bridgedType }) => bridgedType === each.type);
    const read = bridged === undefined ? each : readAs(bridged, each.properties);
    return read === null ? [] : [{ ...each, ...read }];
  });
}

function readAs(bridged: BridgedType, attributes: Entry): TypedProperties | null {
  const read = { type: bridged.type, properties: propertiesOf(bridged, attributes) };
  return bridged.finish === undefined ? read : bridged.finish(read);
}

/** The address that `terraform state rm` takes. */
function addressOf({ module, type, name }: Entry, { index_key: index }: Entry): string {
  const own = `${String(type)}.${String(name)}${index === undefined ? "" : `[${JSON.stringify(index)}]`}`;
  return typeof module === "string" ? `${module}.${own}` : own;
}

/** Two configurations of one provider differ by alias or module, as in `module.eu.provider["…/rabbitmq"].eu`. */
function providerIn(provider: unknown): string {
  return `${String(provider)}::${/\.(\w[\w-]*)$/.exec(String(provider))?.[1] ?? "default"}`;
}

function propertiesOf(bridged: BridgedType, attributes: Entry): Entry {
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([key, value]) => {
      const read = Array.isArray(value) ? blocksOf(bridged, key, value) : value;
      if (read === undefined || read === null) return [];
      const own = key.replaceAll(/_([a-z\d])/g, (_, letter: string) => letter.toUpperCase());
      return [[bridged.renamed?.[own] ?? own, read]];
    }),
  );
}

/** A list of objects is a list of blocks. Objects elsewhere are maps, and their keys belong to the user. */
function blocksOf(bridged: BridgedType, key: string, blocks: readonly unknown[]): unknown {
  const read = blocks.map((each) => (isEntry(each) ? propertiesOf(bridged, each) : each));
  return bridged.singleBlocks?.includes(key) === true ? read[0] : read;
}
