import { ComponentResource } from "@pulumi/pulumi";

// What another version of the component might register.
new ComponentResource("redeliver:index:RetryTopology", "shop", { policies: { billing: { tries: 5 } } });
