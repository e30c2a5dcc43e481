import { useEffect, useState } from "preact/hooks";
import { attempt } from "../app.ts";
import { Bar } from "../frame/bar.tsx";
import { ask } from "../wire.ts";
import { NodesCard } from "./nodes-card.tsx";

const LEVELS: Readonly<Record<number, string>> = {
  20: "debug",
  30: "info",
  40: "warn",
  50: "error",
  60: "fatal",
};

interface Line {
  readonly time: string;
  readonly level: number;
  readonly plugin?: string;
  readonly msg?: string;
}

/** The nodes, and the newest log lines of the one that answers, for the operator. */
export function LogsPage() {
  const [lines, setLines] = useState<readonly Line[]>([]);
  const [least, setLeast] = useState(30);
  const load = async () => {
    const found = await attempt(() => ask<{ lines: readonly Line[] }>("GET", "/api/logs"));
    if (found) setLines(found.lines);
  };
  useEffect(() => void load(), []);
  return (
    <>
      <Bar title="Logs">
        <select
          aria-label="Minimum level"
          value={least}
          onChange={(event) => setLeast(Number(event.currentTarget.value))}
        >
          {Object.entries(LEVELS).map(([level, name]) => (
            <option key={level} value={level}>
              {name}
            </option>
          ))}
        </select>
        <button type="button" onClick={() => void load()}>
          Refresh
        </button>
      </Bar>
      <div class="page">
        <div>
          <NodesCard />
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrolls, so the keyboard has to reach it */}
          <section tabIndex={0} aria-label="Log lines">
            <pre class="log">
              {lines
                .filter(({ level }) => level >= least)
                .map(
                  ({ time, level, plugin, msg }) =>
                    `${time} ${LEVELS[level] ?? level} ${plugin ?? "kernel"}: ${msg ?? ""}\n`,
                )}
            </pre>
          </section>
        </div>
      </div>
    </>
  );
}
