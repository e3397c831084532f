import { createHash } from "node:crypto";

/** One resource of a configuration in Terraform's JSON syntax. */
export interface TerraformResource {
  readonly type: string;
  /** Its name on the broker, or another text that no resource of the type shares. */
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly dependsOn?: readonly TerraformAddress[];
  /** Terraform then refuses to delete it as long as it is in the configuration. */
  readonly isProtected?: boolean;
}

export type TerraformAddress = Pick<TerraformResource, "type" | "name">;

/** Characters for private use stand around a reference, so that no text of a user looks like one. */
const [opens, closes] = ["\uE010", "\uE011"];

/** An expression of Terraform, also within a longer text. */
export const expression = (text: string): string => `${opens}${text}${closes}`;

/** An attribute of another resource, also within a longer text. */
export function referTo(address: TerraformAddress, attribute: string): string {
  return expression(`${addressOf(address)}.${attribute}`);
}

/**
 * Writes resources in Terraform's JSON syntax. A text of a user stays a text, even if it looks like a template. Source:
 * Terraform documentation, "JSON Configuration Syntax", "Strings and Templates".
 *
 * @param provider its address and the versions that know all arguments
 * @param variables the values that the user gives
 */
export function terraformOf(
  provider: { readonly name: string; readonly source: string; readonly version: string },
  resources: readonly TerraformResource[],
  variables: Readonly<Record<string, object>> = {},
) {
  const { name, ...required } = provider;
  const byType = [...Map.groupBy(resources, ({ type }) => type)].map(([type, own]) => [
    type,
    Object.fromEntries(own.map((each) => [localName(each.name), written(each)])),
  ]);
  return {
    terraform: { required_providers: { [name]: required } },
    ...(Object.keys(variables).length === 0 ? {} : { variable: variables }),
    resource: Object.fromEntries(byType) as Readonly<Record<string, Readonly<Record<string, object>>>>,
  };
}

/**
 * The blocks that take over what is there, for Terraform 1.7 or newer.
 *
 * @param entries those of a file for Pulumi: the component, and the resources below it
 * @param typeOf the type for a type of Pulumi; null for a resource that takes nothing over
 */
export function importBlocksOf(
  [component, ...entries]: readonly {
    readonly type: string;
    readonly logicalName?: string;
    readonly id?: string;
  }[],
  typeOf: (token: string) => string | null,
): readonly { readonly to: string; readonly id: string }[] {
  return entries.flatMap(({ type: token, logicalName = "", id = "" }) => {
    const type = typeOf(token);
    const name = logicalName.slice(`${component?.logicalName}-`.length);
    return type === null ? [] : [{ to: addressOf({ type, name }), id: literal(id) as string }];
  });
}

function written({ args, dependsOn = [], isProtected = false }: TerraformResource): object {
  return {
    ...(literal(args) as object),
    ...(dependsOn.length === 0 ? {} : { depends_on: dependsOn.map(addressOf) }),
    ...(isProtected ? { lifecycle: { prevent_destroy: true } } : {}),
  };
}

function literal(value: unknown): unknown {
  if (typeof value === "string")
    return value
      .replaceAll(/[$%]\{/g, (mark) => `${mark.charAt(0)}${mark}`)
      .replaceAll(opens, "${")
      .replaceAll(closes, "}");
  if (Array.isArray(value)) return value.map(literal);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [literal(key), literal(each)]));
}

function addressOf({ type, name }: TerraformAddress): string {
  return `${type}.${localName(name)}`;
}

/** A name for Terraform. It follows from the name alone, so that no other resource changes it. */
function localName(name: string): string {
  if (/^[A-Za-z_][\w-]*$/.test(name)) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 8);
  return `_${name.replaceAll(/[^\w-]+/g, "_")}_${hash}`;
}
