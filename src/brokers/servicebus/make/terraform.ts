import {
  type TerraformAddress,
  type TerraformResource,
  expression,
  referTo,
  terraformOf,
} from "../../../deploy/terraform.ts";
import { capabilitiesOf } from "../compile/capabilities.ts";
import { entityFields } from "../compile/fields.ts";
import { defaultRuleName } from "../compile/names.ts";
import type { DeadLetterAlert, ServicebusSubscription, ServicebusTopology } from "../compile/topology.ts";
import { alertBodyOf, alertCriteria, bodyOf, ruleBodyOf, constantProperties } from "./bodies.ts";

/** The first version that takes a body as an object is 1.13. Source: its CHANGELOG. */
const provider = { name: "azapi", source: "Azure/azapi", version: ">= 1.13.0" };

const namespace = "Microsoft.ServiceBus/namespaces";
const entityVersion = "2021-11-01";

const variables = {
  namespace_id: { type: "string", description: "The Azure resource id of the namespace, which must exist" },
  action_group_ids: { type: "list(string)", default: [], description: "The action groups that each alert notifies" },
};

/** The names are those of the component's resources. */
const resource = (name: string): TerraformAddress => ({ type: "azapi_resource", name });
const subscriptionOf = ({ topic, name }: ServicebusSubscription): TerraformAddress => resource(`${topic}/${name}`);

/**
 * Writes a topology for Terraform, with the properties, the order and the protection that `deployServicebus` gives them.
 * It uses Microsoft's provider for all of ARM. The other provider, azurerm, cannot change the rule `$Default`, because
 * it creates no rule that is there. Then each subscription would let in everything. Source: azurerm,
 * `servicebus_subscription_rule_resource.go`.
 *
 * Terraform deletes a resource that leaves the configuration, protected or not.
 */
export function exportTerraform(topology: ServicebusTopology): object {
  const { queues, topics, subscriptions, alerts } = topology;
  const capabilities = capabilitiesOf(topology.target);
  const own = topics.filter(({ owner }) => owner !== "other");
  const owned = new Set([...queues, ...own].map(({ name }) => name));
  const nameOf = (name: string): string => (owned.has(name) ? referTo(resource(name), "name") : name);
  const namespaceId = expression("var.namespace_id");
  const arm = (
    address: TerraformAddress,
    kind: string,
    args: { readonly name: string; readonly parent_id: string; readonly properties: object },
  ): TerraformResource => {
    const { name, parent_id, properties } = args;
    return { ...address, args: { type: `${kind}@${entityVersion}`, name, parent_id, body: { properties } } };
  };
  const entity = (kind: "queue" | "topic", { name, ...given }: { readonly name: string }): TerraformResource => {
    const properties = { ...bodyOf(entityFields[kind], given, capabilities, nameOf), ...constantProperties[kind] };
    const args = { name, parent_id: namespaceId, properties };
    return { ...arm(resource(name), `${namespace}/${kind}s`, args), isProtected: true };
  };
  const waysOut = ({ consumer }: ServicebusSubscription): readonly TerraformAddress[] =>
    queues.filter((each) => each.consumer === consumer || each.consumer === null).map(({ name }) => resource(name));
  return terraformOf(
    provider,
    [
      ...queues.map((queue) => entity("queue", queue)),
      ...own.map((topic) => entity("topic", topic)),
      ...subscriptions.flatMap((each): readonly TerraformResource[] => {
        const { topic, name, rules } = each;
        const kind = `${namespace}/topics/subscriptions`;
        const body = bodyOf(entityFields.subscription, each, capabilities, nameOf);
        const parent_id = owned.has(topic) ? referTo(resource(topic), "id") : `${namespaceId}/topics/${topic}`;
        const args = { name, parent_id, properties: { ...body, ...constantProperties.subscription } };
        return [
          { ...arm(subscriptionOf(each), kind, args), dependsOn: waysOut(each), isProtected: true },
          ...rules.map((rule) => {
            // Azure creates `$Default` with the subscription. Only this kind of resource takes it over as it is.
            const type = rule.name === defaultRuleName ? "azapi_update_resource" : "azapi_resource";
            const parent = referTo(subscriptionOf(each), "id");
            const own = { name: rule.name, parent_id: parent, properties: ruleBodyOf(rule.filter) };
            return arm({ type, name: `${topic}/${name}/${rule.name}` }, `${kind}/rules`, own);
          }),
        ];
      }),
      ...alerts.map((alert) => alertOf(alert, namespaceId, nameOf(alert.entity))),
    ],
    variables,
  );
}

/** The provider has one type for all of ARM. The rule `$Default` only changes, so nothing takes it over. */
export function terraformType(token: string): string | null {
  return token.endsWith(":DefaultRule") ? null : "azapi_resource";
}

function alertOf(alert: DeadLetterAlert, namespaceId: string, watched: string): TerraformResource {
  const { allOf, ...body } = alertBodyOf(alert, watched);
  const actions = expression("[for id in var.action_group_ids : { actionGroupId = id }]");
  const criteria = { "odata.type": alertCriteria, allOf };
  return {
    ...resource(`alert/${alert.name}`),
    args: {
      type: "Microsoft.Insights/metricAlerts@2018-03-01",
      name: alert.name,
      parent_id: expression('split("/providers/", var.namespace_id)[0]'),
      location: "global",
      body: { properties: { ...body, scopes: [namespaceId], criteria, actions } },
    },
  };
}
