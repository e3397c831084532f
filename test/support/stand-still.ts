import { docker } from "./broker-images.ts";
import type { Broker } from "./live.ts";

/**
 * Suspends the process of a queue's leader, as a busy scheduler or a slow disk would.
 *
 * @returns a function that lets it go on
 */
export async function standStill(
  { containerId }: Broker,
  { vhost }: { readonly vhost: string },
  queue: string,
): Promise<() => Promise<unknown>> {
  const server = `{ok, Queue} = rabbit_amqqueue:lookup(rabbit_misc:r(<<"${vhost}">>, queue, <<"${queue}">>)), {Server, _} = amqqueue:get_pid(Queue)`;
  const evaluate = async (expression: string): Promise<unknown> =>
    docker("exec", containerId ?? "", "rabbitmqctl", "eval", `${server}, sys:${expression}(Server).`);
  await evaluate("suspend");
  return async () => evaluate("resume");
}
