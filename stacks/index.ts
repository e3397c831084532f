import * as pulumi from "@pulumi/pulumi";
import * as rabbitmq from "@pulumi/rabbitmq";

import { readStackConfig, RetryTopology } from "../src/deploy/index.ts";
import shop from "./shop.ts";

const { target, vhost, endpoint, username, password } = readStackConfig(new pulumi.Config());

const broker = new rabbitmq.Provider("broker", { endpoint, username, password });
const topology = new RetryTopology("shop", { system: shop, target, vhost }, { provider: broker });

export const deployedTo: string = `${target.broker}@${target.version}`;
export const { contracts, workQueues } = topology;
