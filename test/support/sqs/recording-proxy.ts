import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One call of SQS, as on the wire, or a call of SNS and CloudFormation, which speak the older protocol. */
export interface Call {
  /** `ReceiveMessage`, `SendMessage`, … */
  readonly operation: string;
  /** In the SDK's form. In the older protocol it is flat, as in `Attributes.entry.1.key`. */
  readonly input: Readonly<Record<string, unknown>>;
  /** The access key that it was signed with. */
  readonly accessKeyId: string;
  readonly calledAtMs: number;
  answeredAtMs: number | null;
  /** Null until the answer, and for a call without one. */
  status: number | null;
  output: Readonly<Record<string, unknown>>;
}

/**
 * The fate of a call. It is passed on. It never arrives (`cut-call`). It arrives, but its answer does not
 * (`cut-answer`). Or the proxy answers itself, with an error of SQS or with success, and the call never arrives.
 */
export type Fate =
  | "pass"
  | "cut-call"
  | "cut-answer"
  | { readonly answer: string }
  | { readonly error: string; readonly status: number; readonly message?: string };

/** Stands between a client and SQS, records every call, and decides its fate. */
export interface RecordingProxy extends AsyncDisposable {
  readonly endpoint: string;
  /** In the order in which they were made. */
  readonly calls: readonly Call[];
  /** Decides from now on; before that, every call is passed on. */
  readonly decide: (fate: (call: Call) => Fate | Promise<Fate>) => void;
  readonly close: () => Promise<void>;
}

export async function startRecordingProxy(endpoint: string): Promise<RecordingProxy> {
  const calls: Call[] = [];
  let decide: (call: Call) => Fate | Promise<Fate> = () => "pass";
  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bodyOf(incoming);
    const isForm = incoming.headers["content-type"]?.startsWith("application/x-www-form-urlencoded") === true;
    const input = (isForm ? Object.fromEntries(new URLSearchParams(body.toString())) : jsonIn(body)) as Call["input"];
    const call: Call = {
      operation: String(input["Action"] ?? incoming.headers["x-amz-target"] ?? "").replace("AmazonSQS.", ""),
      input,
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
      call.status = "answer" in fate ? 200 : fate.status;
      response.writeHead(call.status, { "content-type": isForm ? "text/xml" : "application/x-amz-json-1.0" });
      response.end("answer" in fate ? fate.answer : errorOf(fate, isForm));
      return;
    }
    const { status, headers, answer } = await passOn(endpoint, incoming, body);
    call.status = status;
    call.output = isForm ? {} : jsonIn(answer);
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
  const close = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    decide: (fate) => {
      decide = fate;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function jsonIn(body: Buffer): Call["output"] {
  return JSON.parse(body.toString() || "{}") as Call["output"];
}

function errorOf({ error, message = "by the test" }: Extract<Fate, { readonly error: string }>, isForm: boolean) {
  if (!isForm) return JSON.stringify({ __type: error, message });
  return `<ErrorResponse><Error><Type>Sender</Type><Code>${error}</Code><Message>${message}</Message></Error><RequestId>0</RequestId></ErrorResponse>`;
}

async function bodyOf(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

type Passed = Pick<Required<IncomingMessage>, "headers"> & { readonly status: number; readonly answer: Buffer };

/** A client that hangs up does not end the call here, because SQS would not notice at once, either. */
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
