import type { Broker } from "../broker.ts";
import type { RabbitmqTarget } from "./capabilities.ts";
import { formatTarget, strategyNames } from "./capabilities.ts";
import type { RabbitmqCompiled } from "./compile.ts";
import { compileRabbitmq } from "./compile.ts";
import { exportDefinitions } from "./export.ts";
import { graphOf } from "./graph.ts";
import { modelsOf } from "./model.ts";
import type { MessageState } from "./semantics.ts";
import { parseRabbitmqTarget } from "./target.ts";

/** RabbitMQ, as the rest of Redeliver sees it. */
export const rabbitmq: Broker<RabbitmqTarget, RabbitmqCompiled, MessageState> = Object.freeze({
  title: "RabbitMQ",
  strategyNames,
  parseTarget: parseRabbitmqTarget,
  formatTarget,
  compile: compileRabbitmq,
  graphOf,
  modelsOf,
  exportFormats: Object.freeze({
    definitions: ({ topology }: RabbitmqCompiled, namespace: string) => exportDefinitions(topology, namespace),
  }),
  defaultNamespace: "/",
});
