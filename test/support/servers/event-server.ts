/** A server that answers every POST with the next list of server-sent events, or with a refusal. */
import { createServer } from "node:http";
import { listen } from "./listening.ts";

type Body = Readonly<Record<string, unknown>>;
type Answer =
  | readonly { readonly type: string }[]
  | {
      readonly status: number;
      readonly error: object;
      readonly headers?: Readonly<Record<string, string>>;
    };
/** An answer, or what decides on it. */
export type Play = Answer | ((body: Body) => Answer);

export interface EventServer {
  /** The base URL, with /v1. */
  readonly url: string;
  readonly requests: readonly { readonly path: string; readonly body: Body }[];
}

/** The last answer is given to every request after it. */
export async function startEventServer(...plays: readonly Play[]): Promise<EventServer> {
  const requests: { path: string; body: Body }[] = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += String(chunk);
    const body = JSON.parse(text) as Body;
    requests.push({ path: request.url ?? "", body });
    const played = plays[Math.min(requests.length, plays.length) - 1] ?? [];
    const play = typeof played === "function" ? played(body) : played;
    if ("status" in play) {
      response.writeHead(play.status, { "content-type": "application/json", ...play.headers });
      response.end(JSON.stringify({ error: play.error }));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of play) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    response.end();
  });
  const { url } = await listen(server);
  return { url: `${url}/v1`, requests };
}
