import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One call of SQS, as it went over the wire. */
export interface Call {
  /** `ReceiveMessage`, `SendMessage`, … */
  readonly operation: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** The access key that it was signed with. */
  readonly accessKeyId: string;
  readonly calledAtMs: number;
  answeredAtMs: number | null;
  /** Null until it is answered, and for one that never was. */
  status: number | null;
  output: Readonly<Record<string, unknown>>;
}

/**
 * What becomes of a call: it is passed on; it never arrives (`cut-call`); it arrives, and its answer does not (`cut-answer`); or it is answered by an
 * error of SQS without arriving.
 */
export type Fate =
  | "pass"
  | "cut-call"
  | "cut-answer"
  | { readonly error: string; readonly status: number; readonly message?: string };

/** Stands between a client and SQS, writes down every call, and decides what becomes of it. */
export interface RecordingProxy {
  readonly endpoint: string;
  /** In the order in which they were made. */
  readonly calls: readonly Call[];
  /** Decides from now on; everything is passed on before. */
  readonly decide: (fate: (call: Call) => Fate | Promise<Fate>) => void;
  readonly close: () => Promise<void>;
}

export async function startRecordingProxy(endpoint: string): Promise<RecordingProxy> {
  const calls: Call[] = [];
  let decide: (call: Call) => Fate | Promise<Fate> = () => "pass";
  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bodyOf(incoming);
    const call: Call = {
      operation: String(incoming.headers["x-amz-target"] ?? "").replace("AmazonSQS.", ""),
      input: JSON.parse(body.toString() || "{}") as Call["input"],
      accessKeyId: /Credential=([^/]+)/.exec(incoming.headers.authorization ?? "")?.[1] ?? "",
      calledAtMs: performance.now(),
      answeredAtMs: null,
      status: null,
      output: {},
    };
    calls.push(call);
    const fate = await decide(call);
    if (fate === "cut-call") {
      incoming.socket.destroy();
      return;
    }
    if (typeof fate === "object") {
      call.status = fate.status;
      response.writeHead(fate.status, { "content-type": "application/x-amz-json-1.0" });
      response.end(JSON.stringify({ __type: fate.error, message: fate.message ?? "by the test" }));
      return;
    }
    const { status, headers, answer } = await passOn(endpoint, incoming, body);
    call.status = status;
    call.output = JSON.parse(answer.toString() || "{}") as Call["output"];
    if (fate === "cut-answer") {
      incoming.socket.destroy();
      return;
    }
    call.answeredAtMs = performance.now();
    response.writeHead(status, headers);
    response.end(answer);
  };
  const server = createServer((incoming, response) => {
    serve(incoming, response).catch(() => incoming.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    decide: (fate) => {
      decide = fate;
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function bodyOf(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

type Passed = Pick<Required<IncomingMessage>, "headers"> & { readonly status: number; readonly answer: Buffer };

/** A client that hangs up does not end the call here: SQS would not notice at once, either. */
async function passOn(endpoint: string, incoming: IncomingMessage, body: Buffer): Promise<Passed> {
  const { host: _host, connection: _connection, ...headers } = incoming.headers;
  return new Promise((resolve, reject) => {
    const outgoing = request(new URL(incoming.url ?? "/", endpoint), { method: incoming.method, headers }, (answer) => {
      bodyOf(answer).then(
        (whole) => resolve({ status: answer.statusCode ?? 502, headers: answer.headers, answer: whole }),
        reject,
      );
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}
