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

/** An attribute of another resource, also within a longer text. */
export function referTo(address: TerraformAddress, attribute: string): string {
  return `${opens}${addressOf(address)}.${attribute}${closes}`;
}

/**
 * Writes resources in Terraform's JSON syntax. A text of a user stays a text, even if it looks like a template. Source:
 * Terraform documentation, "JSON Configuration Syntax", "Strings and Templates".
 *
 * @param provider its address and the versions that know all arguments
 */
export function terraformOf(
  provider: { readonly name: string; readonly source: string; readonly version: string },
  resources: readonly TerraformResource[],
) {
  const { name, ...required } = provider;
  const byType = [...Map.groupBy(resources, ({ type }) => type)].map(([type, own]) => [
    type,
    Object.fromEntries(own.map((each) => [localName(each.name), written(each)])),
  ]);
  return {
    terraform: { required_providers: { [name]: required } },
    resource: Object.fromEntries(byType) as Readonly<Record<string, Readonly<Record<string, object>>>>,
  };
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
