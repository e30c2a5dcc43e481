/// <reference path="../../wit/guest.d.ts" />
/** Reads a page of the web: its main text as Markdown, a PDF, a feed, JSON or plain text. */
import { exchange } from "postern:tool/exchange@0.1.0";
import type { Tool } from "postern:tool/tool@0.1.0";
import { complete } from "./address.ts";
import { type Params, SCHEMA } from "./params.ts";
import { Refusal, read } from "./read.ts";

const HEADERS = JSON.stringify({
  accept: "text/html,application/xhtml+xml,text/markdown;q=0.9,application/json;q=0.8,*/*;q=0.5",
});

function answer(params: Params): object {
  const url = complete(params.url);
  if (url === undefined) throw new Refusal(`"${params.url}" is not the address of a web page.`);
  const response = send(url);
  const { "content-type": contentType = "" } = JSON.parse(response.headersJson) as Record<string, string>;
  return read({ ...response, contentType }, params);
}

function send(url: string) {
  // The part after "#" is a place on the page, for the reader.
  const [address = ""] = url.split("#");
  try {
    return exchange("GET", address, HEADERS, undefined, undefined);
  } catch (error) {
    throw new Refusal((error as { payload?: string }).payload ?? String(error));
  }
}

export const tool: Tool = {
  execute({ params }) {
    try {
      return { output: JSON.stringify(answer(JSON.parse(params))) };
    } catch (error) {
      if (error instanceof Refusal) return { error: error.message };
      throw error;
    }
  },
  schema: () => JSON.stringify(SCHEMA),
  description: () =>
    "Reads a page of the web by its address: the main text as Markdown with its links, title, author and date. Also PDF documents, feeds, JSON and plain text.",
};
