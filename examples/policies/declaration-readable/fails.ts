import { ComponentResource } from "@pulumi/pulumi";

// Another version of the component might register this.
new ComponentResource("redeliver:index:RetryTopology", "shop", { policies: { billing: { tries: 5 } } });
