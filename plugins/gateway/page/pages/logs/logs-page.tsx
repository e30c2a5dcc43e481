import { useEffect, useRef, useState } from "preact/hooks";
import { attempt } from "../../state/app.ts";
import { loadStatus } from "../../state/threads.ts";
import { useApp, useLive } from "../../state/use-app.ts";
import { ask } from "../../state/wire.ts";
import { Page } from "../../widgets/bar.tsx";
import { List } from "../../widgets/list.tsx";

const LEVELS = ["debug", "info", "warn", "error", "fatal"] as const;
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
  const [shown, setShown] = useState<Shown>();
  const known = useRef<Shown | undefined>(undefined);
  known.current = shown;

  const given = Object.entries(filter).filter(([, value]) => value !== "");
  const key = JSON.stringify(given);
  const read = (after: number) =>
    ask<Found>(
      "GET",
      `/api/logs?${new URLSearchParams([...given, ...(after > 0 ? [["after", String(after)]] : [])])}`,
    );
  const load = async (): Promise<void> => {
    const before = known.current?.filter === key ? known.current : undefined;
    const found = await read(before?.last ?? 0);
    const newest = found.lines.toReversed();
    // Behind a load balancer another node may answer, whose numbers differ.
    const isMore = before?.node === found.node && found.last >= before.last;
    if (before && !isMore) return setShown({ ...reversed(await read(0)), filter: key });
    const lines = [...newest, ...(before?.lines ?? [])].slice(0, MAX_SHOWN);
    setShown({ ...found, lines, filter: key });
  };
  useLive(
    async (isFirst) => {
      if (isFirst) await attempt(load);
      else if (isFollowing) await load();
    },
    POLL_MS,
    [key, isFollowing],
  );
  const narrow = (change: Partial<typeof NO_FILTER>) => setFilter({ ...filter, ...change });

  return (
    <Page
      title="Logs"
      actions={
        <label class="row">
          <input
            type="checkbox"
            checked={isFollowing}
            onChange={({ currentTarget: { checked } }) => setFollowing(checked)}
          />
          Follow
        </label>
      }
    >
      <NodesCard />
      <form class="row" onSubmit={(event) => event.preventDefault()}>
        <select
          aria-label="Minimum level"
          value={filter.level}
          onChange={({ currentTarget: { value } }) => narrow({ level: value })}
        >
          {LEVELS.map((level) => (
            <option key={level}>{level}</option>
          ))}
        </select>
        <Field label="Text" value={filter.text} onValue={(text) => narrow({ text })} />
        <Field label="User" value={filter.user} onValue={(user) => narrow({ user })} />
        <Field label="Turn" value={filter.turn} onValue={(turn) => narrow({ turn })} />
        {key !== JSON.stringify([["level", "info"]]) && (
          <button type="button" onClick={() => setFilter(NO_FILTER)}>
            Clear
          </button>
        )}
      </form>
      {shown?.lines.length === 0 && (
        <p class="soft">
          No line matches. Choose a lower level or clear the filter; LOG_LEVEL decides what is written at all.
        </p>
      )}
      <ol class="log-lines" aria-label="Log lines, newest first">
        {shown?.lines.map((line) => (
          <LogLine key={line.number} line={line} onNarrow={narrow} />
        ))}
      </ol>
    </Page>
  );
}

function reversed(found: Found): Found {
  return { ...found, lines: found.lines.toReversed() };
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
export function LogLine({ line, onNarrow }: LineProps) {
  const { number: _, time, level, plugin = "kernel", message = "", ...rest } = line;
  const { turn, user } = rest;
  const fields = Object.entries(rest);
  return (
    <li class={SEVERE.has(level) ? `log-line ${level}` : "log-line"}>
      <span class="meta">
        <time dateTime={time} title={time}>
          {new Date(time).toLocaleTimeString()}
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
              <button type="button" onClick={() => onNarrow({ user })}>
                Only lines of {user}
              </button>
            )}
            {typeof turn === "string" && (
              <button type="button" onClick={() => onNarrow({ turn })}>
                Only lines of this turn
              </button>
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
export function NodesCard() {
  const { status } = useApp();
  useEffect(() => void loadStatus(), []);
  return (
    <details class="card">
      <summary>
        {status ? (status.nodes.length === 1 ? "1 node" : `${status.nodes.length} nodes`) : "Nodes"}, store
      </summary>
      <List columns={["Node", "Version", "Started", "Last seen"]} hasActions={false}>
        {status?.nodes.map((node) => (
          <tr key={node.id}>
            <td title={node.id}>{node.id.slice(0, 8)}</td>
            <td>{node.version}</td>
            <td>{new Date(node.started_at).toLocaleString()}</td>
            <td>{new Date(node.last_seen_at).toLocaleTimeString()}</td>
          </tr>
        ))}
      </List>
      {status?.store && (
        <p class={status.store.is_filling ? "danger" : "soft"}>
          <strong>Store:</strong> {status.store.detail}.
        </p>
      )}
    </details>
  );
}
