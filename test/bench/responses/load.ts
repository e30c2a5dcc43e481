/** Requests to a service under measurement, and what they take. */
import { once } from "node:events";
import { type Dispatcher, Pool } from "undici";
import type { ModelReply } from "../../support/servers/model-server.ts";
import type { Program } from "../support/programs.ts";

export const TOKEN = "the-token-of-the-bench";
const HEADERS = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
export const CALLERS = 32;
export const REQUESTS = 1280;

/** What the model answers from now on. */
export async function script({ child }: Program, answer: ModelReply): Promise<void> {
  child.send(answer);
  await once(child, "message");
}

/** Somewhere to send a request, and what has to be said with it. */
export interface Endpoint {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export async function post(
  pool: Pool,
  { url, headers }: Endpoint,
  body: object,
): Promise<Dispatcher.ResponseData> {
  const answer = await pool.request({
    path: new URL(url).pathname,
    method: "POST",
    headers: { ...HEADERS, ...headers },
    body: JSON.stringify(body),
  });
  if (answer.statusCode !== 200) throw new Error(`${url}: ${answer.statusCode} ${await answer.body.text()}`);
  return answer;
}

/** Requests a second, so many callers at once, each waiting for its answer. */
export async function throughput(
  to: Endpoint,
  body: object,
  check: (text: string) => boolean,
): Promise<number> {
  const pool = new Pool(new URL(to.url).origin, { connections: CALLERS });
  let left = REQUESTS;
  const began = performance.now();
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      while (left-- > 0) {
        const text = await (await post(pool, to, body)).body.text();
        if (!check(text)) throw new Error(`a wrong answer: ${text}`);
      }
    }),
  );
  const seconds = (performance.now() - began) / 1000;
  await pool.close();
  return REQUESTS / seconds;
}

/** Milliseconds from the request to the first piece of text. */
export async function firstText(pool: Pool, to: Endpoint, body: object): Promise<number> {
  const began = performance.now();
  const { body: stream } = await post(pool, to, body);
  let took = Number.NaN;
  let text = "";
  for await (const chunk of stream.setEncoding("utf8")) {
    text += chunk;
    if (Number.isNaN(took) && text.includes("word0")) took = performance.now() - began;
  }
  return took;
}
