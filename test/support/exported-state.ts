import { isSecretInput, type ProgramRun, type RegisteredResource } from "./pulumi.ts";

const defaultProviderId = "04da6b54-80e4-46f7-96ec-b56ff0331ba0";

/**
 * The output of `pulumi stack export` for a program's resources. Source: `DeploymentV3` in
 * `sdk/go/common/apitype/core.go` of Pulumi.
 */
export function exportedState(run: ProgramRun): object {
  const defaultProviders = new Map<string, object>();
  const resources = run.resources.map((resource) => {
    const reference = resource.custom ? providerOf(resource, defaultProviders) : "";
    return { ...stateOf(run, resource), ...(reference === "" ? {} : { provider: reference }) };
  });
  return {
    version: 3,
    deployment: {
      manifest: { time: "2026-01-01T00:00:00Z", magic: "", version: "" },
      resources: [...defaultProviders.values(), ...resources],
    },
  };
}

function stateOf(run: ProgramRun, resource: RegisteredResource): object {
  const { urn, type, custom, parent, protect, retainOnDelete, dependencies, propertyDependencies } = resource;
  const { id = defaultProviderId, ...outputs } = (custom ? run.resourceOutputs : run.registeredOutputs).get(urn) ?? {};
  return {
    urn,
    type,
    custom,
    protect,
    retainOnDelete,
    dependencies,
    propertyDependencies,
    ...(custom ? { id } : {}),
    ...(parent === "" ? {} : { parent }),
    inputs: withoutSecrets(resource.inputs),
    outputs: withoutSecrets(outputs),
  };
}

/** The provider of a resource. The engine creates one for resources that name none. */
function providerOf({ urn, type, provider }: RegisteredResource, defaults: Map<string, object>): string {
  const [name = ""] = type.split(":");
  if (name === "pulumi" || provider !== "") return provider;
  const own = `${urn.split("::").slice(0, 2).join("::")}::pulumi:providers:${name}::default`;
  const id = defaultProviderId;
  defaults.set(own, { urn: own, type: `pulumi:providers:${name}`, custom: true, id, inputs: {}, outputs: {} });
  return `${own}::${id}`;
}

/** Only the backend could decrypt them. */
function withoutSecrets(values: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => !isSecretInput(value)));
}
