import ScrollText from "lucide/dist/esm/icons/scroll-text.mjs";
import { useEffect, useState } from "preact/hooks";
import { loadStatus } from "../../state/threads.ts";
import { useApp, useLive } from "../../state/use-app.ts";
import { ask } from "../../state/wire.ts";
import { dateTime, formatDate } from "../../text/language.ts";
import { text } from "../../text/text.ts";
import { Page } from "../../widgets/bar.tsx";
import { Button, Form, Select } from "../../widgets/controls.tsx";
import { List } from "../../widgets/list.tsx";
import { Loaded } from "../../widgets/loaded.tsx";
import { EmptyState } from "../../widgets/states.tsx";

const words = text.logs;
const MAX_SHOWN = 500;
const POLL_MS = 2000;
const NO_FILTER = { level: "info", text: "", turn: "", user: "" };

interface Found {
  readonly lines: readonly Line[];
  readonly last: number;
  readonly node: string;
}

interface Shown extends Found {
  /** The filter that the lines match. */
  readonly filter: string;
}

/** For the operator: the nodes, and the log of the node that answers, newest first, as it is written. */
export function LogsPage() {
  const [filter, setFilter] = useState(NO_FILTER);
  const [isFollowing, setFollowing] = useState(true);
  const given = Object.entries(filter).filter(([, value]) => value !== "");
  const key = JSON.stringify(given);
  const read = (after: number) =>
    ask<Found>(
      "GET",
      `/api/logs?${new URLSearchParams([...given, ...(after > 0 ? [["after", String(after)]] : [])])}`,
    );
  const load = async (known: Shown | undefined, isFirst: boolean): Promise<Shown> => {
    if (known && !isFirst && !isFollowing) return known;
    const before = known?.filter === key ? known : undefined;
    const found = await read(before?.last ?? 0);
    // Behind a load balancer another node may answer, whose numbers differ.
    const isMore = before?.node === found.node && found.last >= before.last;
    const { lines, ...rest } = before && !isMore ? await read(0) : found;
    const shown = [...lines.toReversed(), ...((isMore && before?.lines) || [])].slice(0, MAX_SHOWN);
    return { ...rest, lines: shown, filter: key };
  };
  const [, , , shown] = useLive(load, POLL_MS, [key, isFollowing]);
  const narrow = (change: Partial<typeof NO_FILTER>) => setFilter({ ...filter, ...change });

  return (
    <Page
      title={text.pages.logs}
      actions={
        <label class="check">
          <input
            type="checkbox"
            checked={isFollowing}
            onChange={({ currentTarget: { checked } }) => setFollowing(checked)}
          />
          {words.follow}
        </label>
      }
    >
      <NodesCard />
      <Form class="filters" onSubmit={() => {}}>
        <Select
          label={words.level}
          options={words.levels}
          value={filter.level}
          onValue={(level) => narrow({ level })}
        />
        <Field label={words.text} value={filter.text} onValue={(text) => narrow({ text })} />
        <Field label={words.user} value={filter.user} onValue={(user) => narrow({ user })} />
        <Field label={words.turn} value={filter.turn} onValue={(turn) => narrow({ turn })} />
        {key !== JSON.stringify([["level", "info"]]) && (
          <Button label={words.clear} onClick={() => setFilter(NO_FILTER)} />
        )}
      </Form>
      <Loaded of={shown} lines={10}>
        {({ lines }) =>
          lines.length === 0 ? (
            <EmptyState title={words.none} icon={ScrollText}>
              {words.noneNote}
            </EmptyState>
          ) : (
            <ol class="log-lines" aria-label={words.lines}>
              {lines.map((line) => (
                <LogLine key={line.number} line={line} onNarrow={narrow} />
              ))}
            </ol>
          )
        }
      </Loaded>
    </Page>
  );
}

function Field({ label, value, onValue }: { label: string; value: string; onValue(value: string): void }) {
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={label}
      maxLength={200}
      value={value}
      onInput={({ currentTarget }) => onValue(currentTarget.value.trim())}
    />
  );
}

interface Line {
  readonly number: number;
  readonly time: string;
  readonly level: string;
  readonly plugin?: string;
  readonly message?: string;
  readonly turn?: string;
  readonly user?: string;
  readonly [field: string]: unknown;
}

interface LineProps {
  readonly line: Line;
  onNarrow(filter: { readonly user?: string; readonly turn?: string }): void;
}

const SEVERE = new Set(["warn", "error", "fatal"]);

/** One line; its other fields are folded below it. */
function LogLine({ line, onNarrow }: LineProps) {
  const { number: _, time, level, plugin = "kernel", message = "", ...rest } = line;
  const { turn, user } = rest;
  const fields = Object.entries(rest);
  return (
    <li class={SEVERE.has(level) ? `log-line ${level}` : "log-line"}>
      <span class="meta">
        <time dateTime={time} title={time}>
          {formatDate(time, { timeStyle: "medium" })}
        </time>
        <strong>{level}</strong> {plugin}
        {typeof user === "string" && <span>{user}</span>}
      </span>
      {fields.length === 0 ? (
        <span class="log">{message}</span>
      ) : (
        <details>
          <summary class="log">{message}</summary>
          <pre class="log">{fields.map(([name, value]) => `${name}: ${shown(value)}`).join("\n")}</pre>
          <span class="row">
            {typeof user === "string" && (
              <Button label={words.onlyUser(user)} class="small" onClick={() => onNarrow({ user })} />
            )}
            {typeof turn === "string" && (
              <Button label={words.onlyTurn} class="small" onClick={() => onNarrow({ turn })} />
            )}
          </span>
        </details>
      )}
    </li>
  );
}

/** Shows a stack with its line breaks. */
function shown(value: unknown): string {
  if (typeof value === "string") return value;
  const stack = (value as { stack?: unknown } | null)?.stack;
  return typeof stack === "string" ? stack : JSON.stringify(value);
}

/** The running nodes and the store, folded, since most people come for the log lines. */
function NodesCard() {
  const { status } = useApp();
  useEffect(() => void loadStatus(), []);
  return (
    <details class="card">
      <summary>{status ? words.nodesAndStore(status.nodes.length) : words.nodes}</summary>
      <List columns={Object.values(words.columns)} items={status?.nodes} hasActions={false}>
        {(node) => (
          <tr key={node.id}>
            <td title={node.id}>{node.id.slice(0, 8)}</td>
            <td>{node.version}</td>
            <td>{dateTime(node.started_at)}</td>
            <td>{formatDate(node.last_seen_at, { timeStyle: "medium" })}</td>
          </tr>
        )}
      </List>
      {status?.store && (
        <p class={status.store.is_filling ? "danger" : "soft"}>
          <strong>{words.store}:</strong> {status.store.detail}.
        </p>
      )}
    </details>
  );
}
