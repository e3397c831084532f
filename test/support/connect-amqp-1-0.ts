import rhea, { type Connection } from "rhea";

/** Connects to RabbitMQ by AMQP 1.0, once. */
export function connectByAmqp10(text: string): Connection {
  const url = new URL(text);
  return rhea.create_container().connect({
    host: url.hostname,
    port: Number(url.port),
    // RabbitMQ takes the virtual host from the hostname field of the open performative.
    hostname: `vhost:${decodeURIComponent(url.pathname.slice(1)) || "/"}`,
    username: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    reconnect: false,
  } as Parameters<typeof rhea.connect>[0]);
}
