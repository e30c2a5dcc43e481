import { useRef, useState } from "preact/hooks";
import { Bar } from "../../frame/bar.tsx";
import { attempt } from "../../state/app.ts";
import { useLive } from "../../state/use-app.ts";
import { ask } from "../../state/wire.ts";
import { type Line, LogLine } from "./log-line.tsx";
import { NodesCard } from "./nodes-card.tsx";

const LEVELS = ["debug", "info", "warn", "error", "fatal"] as const;
const MOST_SHOWN = 500;
const EVERY_MILLIS = 2000;
const NO_FILTER = { level: "info", text: "", turn: "", user: "" };

interface Found {
  readonly lines: readonly Line[];
  readonly last: number;
  readonly node: string;
}

interface Shown extends Found {
  /** Tells the lines apart that are shown. */
  readonly filter: string;
}

/** The log of the node that answers, newest first, as it is written; and the nodes. For the operator. */
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
    // Behind a balancer another node may answer: its numbers are its own.
    const isMore = before?.node === found.node && found.last >= before.last;
    if (before && !isMore) return setShown({ ...reversed(await read(0)), filter: key });
    const lines = [...newest, ...(before?.lines ?? [])].slice(0, MOST_SHOWN);
    setShown({ ...found, lines, filter: key });
  };
  useLive(
    async (isFirst) => {
      if (isFirst) await attempt(load);
      else if (isFollowing) await load();
    },
    EVERY_MILLIS,
    [key, isFollowing],
  );
  const narrow = (change: Partial<typeof NO_FILTER>) => setFilter({ ...filter, ...change });

  return (
    <>
      <Bar title="Logs">
        <label class="row">
          <input
            type="checkbox"
            checked={isFollowing}
            onChange={({ currentTarget: { checked } }) => setFollowing(checked)}
          />
          Follow
        </label>
      </Bar>
      <div class="page">
        <div>
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
              No line matches. Choose a lower level or clear the filter; LOG_LEVEL decides what is written at
              all.
            </p>
          )}
          <ol class="log-lines" aria-label="Log lines, newest first">
            {shown?.lines.map((line) => (
              <LogLine key={line.number} line={line} onNarrow={narrow} />
            ))}
          </ol>
        </div>
      </div>
    </>
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
