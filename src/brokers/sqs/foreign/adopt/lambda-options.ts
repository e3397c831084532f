import { type LambdaMapping, concurrencyOf } from "../deployment.ts";

/** The settings of a target for the function that takes the messages of a queue. */
export function lambdaOptions(
  [mapping, ...more]: readonly LambdaMapping[],
  isFifo: boolean,
): {
  readonly options?: object;
  readonly unsaid: readonly string[];
} {
  if (mapping === undefined) return { unsaid: [] };
  const { functionName, timeoutSeconds, batchSize, batchWindowSeconds, hasFilters, attributes } = mapping;
  const others = more.map(
    (each) => `Lambda also hands its messages to ${each.functionName}, and a consumer has one function`,
  );
  if (timeoutSeconds === null)
    return {
      unsaid: [
        ...others,
        `Lambda hands its messages to ${functionName}: write the function with its timeout into the target`,
      ],
    };
  // The batch of a consumer in order has one message.
  const isTooLarge = isFifo && (batchSize ?? 1) > 1;
  const most = concurrencyOf(attributes);
  const arn = String(attributes["FunctionArn"]);
  // An alias or a version stands behind the name of the function. The provider reads the ARN, and takes only the name
  // of a function for the same. Source: terraform-provider-aws, `suppressEquivalentFunctionNameOrARN`.
  const [, , , , , , name = functionName, qualifier] = arn.split(":");
  return {
    options: {
      function: qualifier === undefined ? name : arn,
      timeout: `${timeoutSeconds}s`,
      ...(batchSize === null || isTooLarge ? {} : { batchSize }),
      ...(batchWindowSeconds === null ? {} : { batchWindow: `${batchWindowSeconds}s` }),
      ...(most === null ? {} : { maximumConcurrency: most }),
    },
    unsaid: [
      ...others,
      ...(isTooLarge ? [`its function gets ${batchSize} messages at once, and in order it gets one`] : []),
      ...(hasFilters === true ? ["the filter of its function makes Lambda delete messages"] : []),
    ],
  };
}
