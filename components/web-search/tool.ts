/// <reference path="../../wit/guest.d.ts" />
/** Searches the web by whichever service the operator has set up, or by open ones that need no key. */
import { httpRequest, secretExists } from "postern:tool/host@0.1.0";
import { setting } from "postern:tool/setting@0.1.0";
import type { Tool } from "postern:tool/tool@0.1.0";
import { DEFAULT_LIMIT, type Params, SCHEMA } from "./params.ts";
import { Refusal, type Send, search } from "./search.ts";

const HEADERS = { accept: "application/json", "user-agent": "postern-web-search/0.1.0" };

const send: Send = ({ method, url, headers, body }) => {
  const sent = body === undefined ? undefined : new TextEncoder().encode(JSON.stringify(body));
  const type = body === undefined ? {} : { "content-type": "application/json" };
  let response: ReturnType<typeof httpRequest>;
  try {
    response = httpRequest(method, url, JSON.stringify({ ...HEADERS, ...type, ...headers }), sent, undefined);
  } catch (error) {
    throw new Error((error as { payload?: string }).payload ?? String(error));
  }
  if (response.status < 200 || response.status > 299)
    throw new Error(`it answered with status ${response.status}.`);
  try {
    return JSON.parse(new TextDecoder().decode(response.body));
  } catch {
    throw new Error("its answer is not JSON.");
  }
};

export const tool: Tool = {
  execute({ params }) {
    const { query, limit = DEFAULT_LIMIT }: Params = JSON.parse(params);
    const language = setting("language") ?? "en";
    // QuickJS has null for none.
    const searxngUrl = setting("searxng_url") ?? undefined;
    try {
      const output = search({ query, limit, language, searxngUrl }, secretExists, send);
      return { output: JSON.stringify(output) };
    } catch (error) {
      if (error instanceof Refusal) return { error: error.message };
      throw error;
    }
  },
  schema: () => JSON.stringify(SCHEMA),
  description: () =>
    "Searches the web and looks things up: pages with title, address, snippet, date and who found them. Read a page of interest with read-page.",
};
