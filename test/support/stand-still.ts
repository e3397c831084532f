import { docker } from "./broker-images.ts";
import type { Broker } from "./live.ts";

/**
 * Suspends the process of a queue's leader, as a busy scheduler or a slow disk would.
 *
 * @param mostMs the broker itself lets it go on after this time, because a command takes long on a busy machine
 * @returns a function that lets it go on
 */
export async function standStill(
  { containerId }: Broker,
  { vhost }: { readonly vhost: string },
  queue: string,
  mostMs = 60_000,
): Promise<() => Promise<unknown>> {
  const server = `{ok, Queue} = rabbit_amqqueue:lookup(rabbit_misc:r(<<"${vhost}">>, queue, <<"${queue}">>)), {Server, _} = amqqueue:get_pid(Queue)`;
  const evaluate = async (expression: string): Promise<unknown> =>
    docker("exec", containerId ?? "", "rabbitmqctl", "eval", `${server}, ${expression}.`);
  await evaluate(`sys:suspend(Server), spawn(fun() -> timer:sleep(${mostMs}), catch sys:resume(Server) end)`);
  return async () => evaluate("sys:resume(Server)");
}
