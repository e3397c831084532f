import { componentProviderHost } from "@pulumi/pulumi/provider/experimental/index.js";

import { RetryTopology } from "./index.ts";

void componentProviderHost({ name: "redeliver", components: [RetryTopology], dirname: import.meta.dirname });
