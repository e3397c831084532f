type Values = Readonly<Record<string, unknown>>;
/** Azure's answer about an entity: its properties by ARM's names. */
interface Answer {
  readonly type: string;
  readonly name: string;
  readonly properties: Values;
}

const forEver = "P10675199DT2H48M5.4775807S";
const sized = { maxSizeInMegabytes: 5_120, maxMessageSizeInKilobytes: 256, userMetadata: "owner: payments" };
const stored = { autoDeleteOnIdle: forEver, enableBatchedOperations: true, status: "Active" };
const detecting = { duplicateDetectionHistoryTimeWindow: "PT10M", enableExpress: false, enablePartitioning: false };

/**
 * The values of Azure for properties that a template leaves out. An owner has set the size and the metadata by hand.
 * Source: azure-rest-api-specs, Microsoft.ServiceBus 2024-01-01, the examples `SBQueueGet.json` and its siblings.
 */
const filledIn: Readonly<Record<string, Values>> = {
  queues: { ...stored, ...detecting, ...sized },
  topics: { ...stored, ...detecting, ...sized, supportOrdering: true },
  subscriptions: { ...stored, isClientAffine: false, userMetadata: "owner: payments" },
  rules: { action: {} },
};

/**
 * Properties that Azure answers with in a tier that refuses them. Source: azurerm, `servicebus_queue_resource.go`, and
 * issue 27285.
 */
export function refusedInputs(sku: string): readonly string[] {
  const onBasic = sku === "basic" ? ["autoDeleteOnIdle", "duplicateDetectionHistoryTimeWindow"] : [];
  return sku === "premium" ? [] : ["maxMessageSizeInKilobytes", ...onBasic];
}

/** Azure's answers about the entities of a template after its deployment. */
export function answersOf(template: string): readonly Answer[] {
  const { resources } = JSON.parse(template) as { readonly resources: readonly Answer[] };
  return resources.slice(1).map(({ type, name, properties }) => {
    // A destination without a name is none.
    const given = Object.entries(properties).filter(([, value]) => value !== "");
    return { type, name, properties: { ...filledIn[kindOf(type)], ...Object.fromEntries(given) } };
  });
}

const kindOf = (type: string): string => type.split("/").at(-1) ?? "";

/** The form in which Azure writes a duration. Source: reference of .NET, `XmlConvert.ToString(TimeSpan)`. */
export const durationForm = /^P(\d+D)?(T((1?\d|2[0-3])H)?([1-5]?\dM)?([1-5]?\d(\.\d+)?S)?)?$/;

/** The inputs with the names in the path of an id. Source: azure-native, the metadata of each resource. */
const pathInputs: Readonly<Record<string, string>> = {
  resourceGroups: "resourceGroupName",
  namespaces: "namespaceName",
  queues: "queueName",
  topics: "topicName",
  subscriptions: "subscriptionName",
  rules: "ruleName",
};

/**
 * The inputs that the provider reads for an id: the parts of the path, and each property that the answer has, without
 * empty objects. Source: azure-native 3, `responseToSdkInputs.go`; `custom_servicebus_defaultrule.go` for `$Default`.
 */
export function readByAzureNative(type: string, id: string, answers: readonly Answer[]): Values {
  const [, path = ""] = id.split(/^\/subscriptions\/[^/]+\//);
  const pairs = path.split("/providers/Microsoft.ServiceBus/").join("/").split("/");
  const named = pairs.flatMap((key, index) => (index % 2 === 0 ? [[key, pairs[index + 1]] as const] : []));
  const name = named
    .slice(2)
    .map(([, each]) => each)
    .join("/");
  const answer = answers.find((each) => each.name === `shop/${name}` && kindOf(each.type) === named.at(-1)?.[0]);
  if (answer === undefined) throw new Error(`there is no ${id}`);
  const isDefault = type.endsWith(":DefaultRule");
  const inputs = named.flatMap(([key, value]) => (isDefault && key === "rules" ? [] : [[pathInputs[key], value]]));
  const own = Object.entries(answer.properties).filter(([, value]) => JSON.stringify(value) !== "{}");
  return { ...(Object.fromEntries(inputs) as Values), ...Object.fromEntries(own) };
}
