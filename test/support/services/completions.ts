/** Chat completions over a real socket: whole answers and the frames of a stream, each held against the OpenAPI document. */
import type { Chunk, Completion } from "../../../plugins/responses/completions/wire.ts";
import type { Service } from "./responses.ts";

export const COMPLETIONS = "/openai/v1/chat/completions";

export interface SentError {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string;
  };
}

export type SentFrame = Chunk | SentError;

const user = (text: string) => [{ role: "user", content: text }];

/** A completion of this body, in which `say` stands for one message of the user. */
export async function complete(
  service: Service,
  { say, ...body }: { readonly say?: string; readonly [field: string]: unknown },
  headers?: Readonly<Record<string, string>>,
): Promise<Response> {
  const messages = say === undefined ? {} : { messages: user(say) };
  return await service.send("POST", COMPLETIONS, { model: "any", ...messages, ...body }, headers);
}

export async function completed(service: Service, body: Parameters<typeof complete>[1]): Promise<Completion> {
  const answer = await complete(service, body);
  if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Completion;
}

export async function streamed(
  service: Service,
  body: Parameters<typeof complete>[1],
): Promise<readonly SentFrame[]> {
  return await framesOf(service, await complete(service, { ...body, stream: true }));
}

/** The frames of a stream that has ended, which the last one says. */
export async function framesOf(service: Service, answer: Response): Promise<readonly SentFrame[]> {
  const frames = (await answer.text())
    .split("\n\n")
    .filter((frame) => frame !== "" && !frame.startsWith(":"));
  if (frames.pop() !== "data: [DONE]") throw new Error("the stream does not say that it is done");
  return frames.map((frame) => {
    const [, data] = /^data: (.+)$/.exec(frame) ?? [];
    const sent = JSON.parse(data ?? "null") as SentFrame;
    if (!("error" in sent)) service.checks.chunk(sent);
    return sent;
  });
}

export const isChunk = (frame: SentFrame): frame is Chunk => !("error" in frame);

export const textIn = (frames: readonly SentFrame[]): string =>
  frames
    .filter(isChunk)
    .map(({ choices: [choice] }) => choice?.delta.content ?? "")
    .join("");
