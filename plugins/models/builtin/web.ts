/** Reads pages and looks things up, where the tools for it are installed, and says what they returned. */
import { isRecord, tryRecord } from "../../../kernel/kit/text.ts";
import { trimEnd } from "../../../kernel/kit/words.ts";
import type { ToolCall } from "../../../kernel/plugin.ts";
import type { ModelMessage, ModelTool } from "../services.ts";
import { type Params, textOf } from "./schema.ts";
import { clip } from "./talk.ts";

const READ_PAGE = "read-page";
const WEB_SEARCH = "web-search";

const ADDRESS = /\bhttps?:\/\/[^\s<>"]+/i;
const MAX_QUERY_LENGTH = 400;
const MAX_WORDS_LENGTH = 200;

/** In the words around an address: the person wants to know what is there. */
const WANTS_PAGE =
  /^(?:(?:please|can you|could you) )?(?:read|open|visit|fetch|load|show(?: me)?|summari[sz]e|get|look at|check)\b|^what(?:['’]?s| is| does| do| did)\b|^tell me\b|^who\b|^when\b|^where\b|^how\b/i;
const ABOUT = /\b(?:say|says|tell us|tell|write|writes|mention)s?\b(?: anything)?(?: about| on) (.+)$/is;
const LOOK_UP =
  /^(?:(?:please|can you|could you|would you) )?(?:look up|search(?: the (?:web|internet))?(?: for)?|web ?search(?: for)?|google|find (?:out|pages|something)(?: about| on)?)[:,]? (.+)$/is;
const FOLLOW =
  /^(?:(?:please|can you|could you) )?(?:read|open|follow|show(?: me)?) (?:the )?(first|second|third|fourth|fifth|last|\d{1,2})(?:st|nd|rd|th)? (?:result|link|page|one|source)$/i;
const NUMBERS = ["first", "second", "third", "fourth", "fifth"];

export interface WebCall {
  readonly name: string;
  readonly params: Params;
}

/** The call that a message asks for; undefined where it is about something else, or the tool is not there. */
export function webCall(
  text: string,
  messages: readonly ModelMessage[],
  tools: readonly ModelTool[],
): WebCall | undefined {
  const said = text.trim().slice(0, 2000);
  const call = pageIn(said) ?? linkIn(said, messages) ?? searchIn(said);
  return call && tools.some(({ name }) => name === call.name) ? call : undefined;
}

function pageIn(text: string): WebCall | undefined {
  const [address = ""] = ADDRESS.exec(text) ?? [];
  if (address === "") return undefined;
  const url = withoutMarks(address);
  const isAlone = withoutMarks(text) === url;
  if (!isAlone && !WANTS_PAGE.test(text)) return undefined;
  const [, about = ""] = ABOUT.exec(text.replace(address, "this")) ?? [];
  const find = withoutMarks(about).slice(0, MAX_WORDS_LENGTH);
  return { name: READ_PAGE, params: find === "" ? { url } : { url, find } };
}

/** "Open the second result": an address that a search or a page gave. */
function linkIn(text: string, messages: readonly ModelMessage[]): WebCall | undefined {
  const [, which = ""] = FOLLOW.exec(withoutMarks(text)) ?? [];
  if (which === "") return undefined;
  const found = messages
    .flatMap((message) => (message.role === "tool" && !message.failed ? [message.output] : []))
    .findLast((output) => output.includes('"results"'));
  const urls = resultsIn(found ?? "").map(({ url }) => textOf(url));
  const at = which === "last" ? -1 : NUMBERS.includes(which) ? NUMBERS.indexOf(which) : Number(which) - 1;
  const url = urls.at(at);
  return url === undefined ? undefined : { name: READ_PAGE, params: { url } };
}

function searchIn(text: string): WebCall | undefined {
  const [, query = ""] = LOOK_UP.exec(text) ?? [];
  const words = withoutMarks(query).slice(0, MAX_QUERY_LENGTH);
  return words === "" ? undefined : { name: WEB_SEARCH, params: { query: words } };
}

/** The answer to a call of one of these tools; undefined for all others. */
export function sayWeb({ name }: ToolCall, data: Params): string | undefined {
  if (name === READ_PAGE && typeof data["content"] === "string") return sayPage(data);
  if (name === WEB_SEARCH && Array.isArray(data["results"])) return sayResults(data);
  return undefined;
}

const MAX_PAGE_LENGTH = 1500;

function sayPage(data: Params): string {
  const day = textOf(data["published"]).replace(/^(\d{4}-\d\d-\d\d)T.*$/s, "$1");
  const about = [textOf(data["author"]), day].filter(Boolean).join(", ");
  const head = `**${textOf(data["title"])}**${about === "" ? "" : ` (${about})`}`;
  return [head, clip(textOf(data["content"]), MAX_PAGE_LENGTH), textOf(data["note"])]
    .filter(Boolean)
    .join("\n\n");
}

function sayResults(data: Params): string {
  const lines = listOf(data["results"]).map(
    ({ title, url, snippet }, at) =>
      `${at + 1}. [${textOf(title).replace(/[[\]]/g, "\\$&")}](${textOf(url)})${textOf(snippet) === "" ? "" : `: ${clip(textOf(snippet), 200)}`}`,
  );
  const found = lines.length === 0 ? `I found nothing about "${textOf(data["query"])}".` : lines.join("\n");
  const services = Array.isArray(data["services"])
    ? `Found by ${data["services"].map(textOf).join(", ")}.`
    : "";
  return [found, [services, textOf(data["note"])].filter(Boolean).join(" ")].filter(Boolean).join("\n\n");
}

/** The wrapper that marks an output as data stands around the JSON. */
function resultsIn(output: string): readonly Params[] {
  return listOf(tryRecord(output.slice(output.indexOf("{"), output.lastIndexOf("}") + 1))["results"]);
}

const listOf = (value: unknown): readonly Params[] => (Array.isArray(value) ? value.filter(isRecord) : []);

/** Without the marks that end a sentence and not an address. */
const withoutMarks = (text: string): string => trimEnd(text.trim(), ".,;:!?…'\"");
