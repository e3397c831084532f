import { type TerraformAddress, type TerraformResource, referTo, terraformOf } from "../../../deploy/terraform.ts";
import { bindingIdentity } from "../compile/parts.ts";
import {
  type BindingResource,
  type ExchangeResource,
  type PolicyResource,
  type Topology,
  isStructure,
} from "../compile/topology.ts";
import { isLasting } from "./lasting.ts";
import { areTexts } from "./texts.ts";

const provider = { name: "rabbitmq", source: "cyrilgdn/rabbitmq", version: ">= 1.8.0" };

const queueOf = (name: string): TerraformAddress => ({ type: "rabbitmq_queue", name });
const exchangeOf = (name: string): TerraformAddress => ({ type: "rabbitmq_exchange", name });

const done = (name: string): TerraformAddress => ({ type: "terraform_data", name });

/**
 * Writes a topology for Terraform. Every way out exists before the way in: queues, their policies, exchanges, the
 * bindings behind the sources, policies of exchanges, and the bindings of the sources last. A resource of Terraform's
 * own stands between two of these steps, because each waits for all of the step before.
 *
 * Terraform deletes a resource that leaves the configuration, protected or not.
 */
export function exportTerraform({ queues, exchanges, bindings, policies }: Topology, vhost: string): object {
  const roles = new Map(queues.map(({ name, role }) => [name, role]));
  const sources = new Set(exchanges.filter(({ role }) => role === "source").map(({ name }) => name));
  const own = exchanges.filter(({ owner }) => owner !== "other");
  const owned = new Set(own.map(({ name }) => name));
  const [ready, out, enter, set] = ["queues_are_ready", "ways_out_are_ready", "messages_may_enter", "queues_are_set"];
  const bound = (binding: BindingResource, after: string): TerraformResource =>
    bindingOf(binding, vhost, owned.has(binding.source), done(after));
  const ofQueues = (all: readonly PolicyResource[], after: readonly TerraformAddress[]): readonly TerraformResource[] =>
    all.map((policy) => policyOf(policy, vhost, [queueOf(policy.name), ...after], isLasting(roles.get(policy.name))));
  const structures = policies.filter(isStructure);
  return terraformOf(provider, [
    ...queues.map(({ name, durable, autoDelete, role, arguments: given }): TerraformResource => {
      const settings = { durable, auto_delete: autoDelete, ...argumentsOf(given) };
      return { ...queueOf(name), args: { name, vhost, settings }, isProtected: isLasting(role) };
    }),
    ...step(
      ready,
      ofQueues(
        policies.filter((each) => each.applyTo !== "exchanges" && !isStructure(each)),
        [],
      ),
      queues.map(({ name }) => queueOf(name)),
    ),
    ...own.map((exchange) => exchangeResource(exchange, vhost)),
    ...step(
      out,
      bindings.filter(({ source }) => !sources.has(source)).map((binding) => bound(binding, ready)),
      [done(ready)],
    ),
    ...step(
      enter,
      policies
        .filter(({ applyTo }) => applyTo === "exchanges")
        .map((policy) => policyOf(policy, vhost, [exchangeOf(policy.name), done(out)], true)),
      [done(out)],
    ),
    // The policy of a queue that exists without arguments opens its ways out.
    ...(structures.length === 0 ? [] : step(set, ofQueues(structures, [done(enter)]), [done(enter)])),
    ...bindings
      .filter(({ source }) => sources.has(source))
      .map((binding) => bound(binding, structures.length === 0 ? enter : set)),
  ]);
}

/** The resources of a step, and one that waits for them all. */
function step(
  name: string,
  resources: readonly TerraformResource[],
  before: readonly TerraformAddress[],
): readonly TerraformResource[] {
  const dependsOn = [...before, ...resources.map(({ type, name: each }) => ({ type, name: each }))];
  return [...resources, { ...done(name), args: {}, dependsOn }];
}

function exchangeResource(
  { name, kind, durable, autoDelete, role, arguments: given }: ExchangeResource,
  vhost: string,
): TerraformResource {
  const alternate = given["alternate-exchange"];
  const settings = { type: kind, durable, auto_delete: autoDelete };
  const args = { name, vhost, settings: alternate === undefined ? settings : { ...settings, arguments: given } };
  const dependsOn = alternate === undefined ? [] : [exchangeOf(alternate)];
  return { ...exchangeOf(name), args, dependsOn, isProtected: isLasting(role) };
}

function bindingOf(
  binding: BindingResource,
  vhost: string,
  isOwn: boolean,
  after: TerraformAddress,
): TerraformResource {
  const { source, destination, destinationKind, routingKey, arguments: given } = binding;
  const to = destinationKind === "queue" ? queueOf(destination) : exchangeOf(destination);
  const args = {
    vhost,
    source: isOwn ? referTo(exchangeOf(source), "name") : source,
    destination: referTo(to, "name"),
    destination_type: destinationKind,
    routing_key: routingKey,
    ...(Object.keys(given).length === 0 ? {} : argumentsOf(given)),
  };
  return { type: "rabbitmq_binding", name: bindingIdentity(binding), args, dependsOn: [after] };
}

/** No state has other inputs yet, so imported and new resources look alike. */
function argumentsOf(given: Readonly<Record<string, unknown>>): object {
  return areTexts(given) ? { arguments: given } : { arguments_json: JSON.stringify(given) };
}

function policyOf(
  { name, pattern, applyTo, priority, definition }: PolicyResource,
  vhost: string,
  dependsOn: readonly TerraformAddress[],
  isProtected: boolean,
): TerraformResource {
  // The provider takes texts only, and turns whole numbers in texts back into numbers.
  const texts = Object.fromEntries(Object.entries(definition).map(([key, value]) => [key, String(value)]));
  const policy = { pattern, priority, apply_to: applyTo, definition: texts };
  return { type: "rabbitmq_policy", name, args: { name, vhost, policy }, dependsOn, isProtected };
}
