/**
 * True for arguments that an import reads as texts. With its input `arguments` the provider sends every value as a text,
 * and RabbitMQ ignores a delivery limit that is a text. So other values need JSON. But an import reads arguments that
 * are all texts into `arguments`, and a change from one input to the other is a replacement. Source: cyrilgdn/rabbitmq
 * 1.9 and the provider 3.3.8 made from it, `ReadQueue` in `resource_queue.go`, `ReadBinding` in `resource_binding.go`.
 */
export function areTexts(given: Readonly<Record<string, unknown>>): given is Record<string, string> {
  return Object.values(given).every((value) => typeof value === "string");
}
