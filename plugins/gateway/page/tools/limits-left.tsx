import { useEffect, useState } from "preact/hooks";
import { attempt } from "../state/app.ts";
import { ask, type ToolLimits } from "../state/wire.ts";

/** How much of a tool's rate limit is used up. */
export function LimitsLeft({ tool }: { tool: string }) {
  const [limits, setLimits] = useState<ToolLimits | null>(null);
  useEffect(() => {
    void attempt(() => ask<{ limits: ToolLimits | null }>("GET", `/api/tools/${tool}/limits`)).then((found) =>
      setLimits(found?.limits ?? null),
    );
  }, [tool]);
  if (!limits) return null;
  const { limit, window_secs: window, remaining, reset_secs: seconds } = limits;
  return (
    <span class="soft">
      {limit - remaining} of {limit} requests per {window === 3600 ? "hour" : "minute"} used
      {remaining === limit ? "" : `; ${remaining === 0 ? "next request" : "one more"} in ${seconds} s`}.
    </span>
  );
}
