import type { Broker } from "../broker.ts";
import type { ServicebusTarget } from "./capabilities.ts";
import { formatTarget, strategyNames } from "./capabilities.ts";
import type { ServicebusCompiled } from "./compile.ts";
import { compileServicebus } from "./compile.ts";
import { evidenceOf } from "./evidence.ts";
import { diagnoseEmulatorConfig, exportEmulatorConfig } from "./export.ts";
import { graphOf } from "./graph.ts";
import type { HeldMessage } from "./held-message.ts";
import { subjectsOf } from "./model.ts";
import type { ServicebusTargetInput } from "./target.ts";
import { checkServicebusTarget, parseServicebusTarget } from "./target.ts";

/** Azure Service Bus, as the rest of Redeliver sees it. */
export const servicebus: Broker<ServicebusTarget, ServicebusTargetInput, ServicebusCompiled, HeldMessage, never> =
  Object.freeze({
    title: "Azure Service Bus",
    strategyNames,
    parseTarget: parseServicebusTarget,
    checkTarget: checkServicebusTarget,
    formatTarget,
    compile: compileServicebus,
    graphOf,
    subjectsOf,
    evidenceOf,
    exportFormats: Object.freeze({
      "emulator-config": ({ topology }: ServicebusCompiled) => exportEmulatorConfig(topology),
    }),
    diagnoseExport: (compiled: ServicebusCompiled, format: string) =>
      format === "emulator-config" ? diagnoseEmulatorConfig(compiled) : [],
    // A namespace is told by its name and the credentials, and there is nothing below it.
    defaultNamespace: null,
  });
