import { readFileSync } from "node:fs";
import { RetryTopology } from "redeliver/pulumi";
import { parse } from "yaml";

const read = (file) => readFileSync(new URL(file, import.meta.url), "utf8");
const system = parse(read("shop.yaml"));
const target = JSON.parse(read("target.json"));
new RetryTopology("shop", { system, target, vhost: "/" });
