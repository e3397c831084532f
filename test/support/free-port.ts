import { once } from "node:events";
import { createServer } from "node:net";

const pickedPorts = new Set<number>();

/**
 * A free port below the range for outgoing connections. During a server's restart no client's connection may take its
 * port.
 */
export async function pickFreePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    if (pickedPorts.has(port)) continue;
    pickedPorts.add(port);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
}
