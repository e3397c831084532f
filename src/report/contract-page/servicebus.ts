import { formatDurationMs } from "../../declare/duration.ts";
import type { Contract } from "../operations.ts";
import type { Client } from "./client.ts";
import { servicebusFrameworks } from "./frameworks.ts";
import { serviceBusJava } from "./service-bus-java.ts";
import { serviceBusJavascript } from "./service-bus-javascript.ts";

type ServicebusContract = Extract<Contract, { readonly protocol: "servicebus" }>;

/** Microsoft's own clients, which call the operations of a contract each in its own way. */
export function servicebusClients(contract: ServicebusContract): readonly Client[] {
  const { calls, receive } = contract;
  const { lockRenewalMs, lockMs, sessions } = receive;
  const rows = Object.entries(calls).map(
    ([operation, { javascript, dotnet, java }]) =>
      `| \`${operation}\` | \`${javascript}\` | \`${dotnet}\` | \`${java}\` |`,
  );
  return [
    serviceBusJavascript(contract),
    serviceBusJava(contract),
    {
      title: "Microsoft's SDKs for JavaScript, .NET and Java",
      evidence:
        "Written after their documentation. Of .NET nothing was run; the others are what the two snippets call.",
      text: [
        ["| operation | JavaScript | .NET | Java |", "| --- | --- | --- | --- |", ...rows].join("\n"),
        `Receive in the mode peek-lock${sessions ? ", accepting one session after the other" : ""}, and let the client renew the lock for up to ${formatDurationMs(lockRenewalMs)} (\`maxAutoLockRenewalDurationInMs\`, \`MaxAutoLockRenewalDuration\`, \`maxAutoLockRenewDuration\`). Without renewal a lock is over after ${formatDurationMs(lockMs)}. Settle every message yourself: \`autoCompleteMessages: false\`, \`AutoCompleteMessages = false\`, \`disableAutoComplete()\`.`,
      ],
    },
    ...servicebusFrameworks,
  ];
}
