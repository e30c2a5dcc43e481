/** What a guest may do to the host by `wasi:http` without sending anything. */
import { expect, test } from "vitest";
import type { ToolReply, ToolRequest } from "../../../host/broker/grant.ts";
import { createWasi } from "../../../host/sandbox/inside/wasi/wasi.ts";

interface Fields {
  append(name: string, value: Uint8Array): void;
  entries(): unknown[];
  [Symbol.dispose](): void;
}
interface Body {
  write(): { write(bytes: Uint8Array): void };
  [Symbol.dispose](): void;
}
interface Request {
  body(): Body;
  setPathWithQuery(path: string): void;
  setAuthority(authority: string): void;
}
interface Future {
  subscribe(): { block(): Promise<void> };
  get(): { val: { val: { val: string } } } | undefined;
}
interface Types {
  readonly Fields: { new (): Fields; fromList(entries: readonly [string, Uint8Array][]): Fields };
  readonly OutgoingRequest: new (headers: Fields) => Request;
  readonly OutgoingResponse: new (headers: Fields) => object;
  readonly OutgoingBody: { finish(body: Body, trailers: Fields | undefined): void };
}

const NO_ANSWER: ToolReply = { ok: false, error: "nobody is there" };

function open(send: (request: ToolRequest) => Promise<ToolReply> = async () => NO_ANSWER) {
  const wasi = createWasi(() => {}, send);
  const handler = wasi.interfaces["wasi:http/outgoing-handler"] as {
    handle(request: Request, options: undefined): Future;
  };
  const fail = async (future: Future) => {
    await future.subscribe().block();
    return future.get()?.val.val.val;
  };
  return { wasi, fail, handle: handler.handle, ...(wasi.interfaces["wasi:http/types"] as Types) };
}

const BYTES = new Uint8Array(1000);

test("headers, addresses and bodies that are kept for a guest take 32 MiB at most", () => {
  const { wasi, Fields, OutgoingRequest } = open();
  const pile = (add: () => void) => {
    wasi.begin();
    for (let count = 0; count < 90_000; count++) add();
  };
  expect(() => pile(() => new Fields().append("x", BYTES))).toThrow("the headers are too long");
  const headers = new Fields();
  expect(() => pile(() => headers.append("x", BYTES))).toThrow("the headers are too long");
  const long = "/".repeat(60_000);
  expect(() => pile(() => new OutgoingRequest(new Fields()).setPathWithQuery(long))).toThrow(
    "the requests are too long",
  );
  expect(() => pile(() => void Fields.fromList([["x", BYTES]])[Symbol.dispose]())).not.toThrow();
});

test("what a body or a call has too much of is refused where the answer is looked for", async () => {
  const sent: ToolRequest[] = [];
  const { Fields, OutgoingRequest, OutgoingBody, fail, handle } = open(async (request) => {
    sent.push(request);
    return NO_ANSWER;
  });
  const start = () => {
    const request = new OutgoingRequest(new Fields());
    request.setAuthority("api.test");
    const body = request.body();
    return { body, stream: body.write(), future: handle(request, undefined) };
  };
  const whole = start();
  for (let count = 0; count < 1 << 16; count++) whole.stream.write(BYTES.subarray(0, 16));
  OutgoingBody.finish(whole.body, undefined);
  expect(await fail(whole.future)).toBe("nobody is there");
  expect(sent).toMatchObject([{ method: "GET", url: "https://api.test/" }]);
  expect(sent[0]?.body?.byteLength).toBe(1 << 20);

  const long = start();
  for (let count = 0; count < 1100; count++) long.stream.write(BYTES);
  OutgoingBody.finish(long.body, undefined);
  expect(await fail(long.future)).toContain("over 1 MiB");
  const dropped = start();
  dropped.body[Symbol.dispose]();
  expect(await fail(dropped.future)).toContain("not finished");
  const trailed = start();
  OutgoingBody.finish(trailed.body, Fields.fromList([["x", BYTES]]));
  expect(await fail(trailed.future)).toContain("trailers");
  expect(sent).toHaveLength(1);

  let last: Future | undefined;
  for (let count = 0; count < 1000; count++) last = handle(new OutgoingRequest(new Fields()), undefined);
  expect(last && (await fail(last))).toContain("far too many requests");
  expect(sent).toHaveLength(1000);
});

test("the server's side of HTTP is not there", () => {
  const { Fields, OutgoingResponse } = open();
  expect(() => new OutgoingResponse(new Fields())).toThrow("a tool answers no requests");
});
