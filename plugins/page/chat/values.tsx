import { useState } from "preact/hooks";
import { isRecord, visible, visibleJson, visibleLine } from "../../../kernel/kit/text.ts";
import { whole } from "../text/language.ts";
import { text } from "../text/text.ts";
import { Button } from "../widgets/controls.tsx";

/** More rows, and deeper ones, are shown as JSON. */
const MAX_ROWS = 60;
const MAX_DEPTH = 3;

/** JSON that a model or a tool wrote, as a table of names and values. Every character of it can be seen: as JSON, if not here. */
export function Values({ of: json, isFailed = false }: { of: string; isFailed?: boolean }) {
  const [isRaw, setRaw] = useState(false);
  const value = isFailed ? undefined : parsed(json);
  if (!isTable(value))
    return <Raw isFailed={isFailed}>{value === undefined ? visible(json) : scalar(value)}</Raw>;
  if (Object.keys(value).length === 0) return <p class="soft">{text.chat.values.none}</p>;
  return (
    <div class="values">
      {isRaw ? <Raw>{visibleJson(json)}</Raw> : <Table of={value} depth={0} />}
      <Button
        label={isRaw ? text.chat.values.asTable : text.chat.values.asJson}
        class="plain small"
        aria-pressed={isRaw}
        onClick={() => setRaw(!isRaw)}
      />
    </div>
  );
}

function Raw({ children, isFailed = false }: { children: string; isFailed?: boolean }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <pre class={isFailed ? "failed" : ""} tabIndex={0} dir="auto">
      {children}
    </pre>
  );
}

type Rows = Readonly<Record<string, unknown>>;

const isTable = (value: unknown): value is Rows =>
  (isRecord(value) || (Array.isArray(value) && value.some(isRecord))) &&
  Object.keys(value).length <= MAX_ROWS;

function Table({ of: rows, depth }: { of: Rows; depth: number }) {
  return (
    <dl>
      {Object.entries(rows).map(([name, value]) => (
        <div key={name}>
          <dt dir="auto">{Array.isArray(rows) ? whole(Number(name) + 1) : visibleLine(name)}</dt>
          <dd>
            <Value of={value} depth={depth} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Value({ of: value, depth }: { of: unknown; depth: number }) {
  if (typeof value === "string") return <Words of={value} />;
  if (value === null || typeof value !== "object" || value instanceof Number)
    return <span class="scalar">{scalar(value)}</span>;
  if (Object.keys(value).length === 0) return <span class="soft">{text.chat.values.empty}</span>;
  if (isTable(value) && depth < MAX_DEPTH) return <Table of={value} depth={depth + 1} />;
  if (Array.isArray(value) && value.length <= MAX_ROWS && !value.some((one) => typeof one === "object"))
    return (
      <ul>
        {value.map((one, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two values may be alike, and none of them moves
          <li key={at}>
            <Value of={one} depth={depth + 1} />
          </li>
        ))}
      </ul>
    );
  return <Raw>{visibleJson(JSON.stringify(value, null, 2))}</Raw>;
}

function Words({ of: words }: { of: string }) {
  if (words === "") return <span class="soft">{text.chat.values.empty}</span>;
  // What scrolls must be reachable by keyboard.
  return (
    <div class="words" tabIndex={mayScroll(words) ? 0 : undefined} dir="auto">
      {visible(words)}
    </div>
  );
}

/** Shorter texts fit without scrolling, on a phone too. */
const MAX_UNSCROLLED = 200;
const MAX_UNSCROLLED_LINES = 5;

const mayScroll = (words: string): boolean =>
  words.length > MAX_UNSCROLLED || words.split("\n").length > MAX_UNSCROLLED_LINES;

/** Numbers keep every digit: what is approved is what is sent. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json, (_, value, context?: { source?: string }) =>
      typeof value === "number" && context?.source !== undefined && String(value) !== context.source
        ? Object.assign(new Number(value), { source: context.source })
        : value,
    );
  } catch {
    return undefined;
  }
}

const scalar = (value: unknown): string =>
  value instanceof Number
    ? ((value as { source?: string }).source ?? String(value))
    : typeof value === "string"
      ? visible(value)
      : visible(JSON.stringify(value));
