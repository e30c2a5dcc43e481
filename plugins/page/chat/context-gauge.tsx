import { useEffect, useId, useState } from "preact/hooks";
import { visibleLine } from "../../../kernel/kit/text.ts";
import { findQuietly } from "../state/app.ts";
import type { ContextUse } from "../state/wire.ts";
import { dollars, percent, whole } from "../text/language.ts";
import { text } from "../text/text.ts";

const PARTS = ["instructions", "tools", "memory", "conversation", "files"] as const;

interface ContextGaugeProps {
  readonly thread: string | undefined;
  /** The end of the path that is shown. */
  readonly leaf: string | undefined;
  readonly isIdle: boolean;
}

/** How full the window of the thread's model is; pressed, by what, and what it costs. */
export function ContextGauge({ thread, leaf, isIdle }: ContextGaugeProps) {
  const [use, setUse] = useState<ContextUse>();
  const id = useId();
  useEffect(() => {
    if (thread === undefined || leaf === undefined) return setUse(undefined);
    if (!isIdle) return;
    let isGone = false;
    const path = `/api/threads/${thread}/context?${new URLSearchParams({ after: leaf })}`;
    void findQuietly<ContextUse>(path).then((found) => isGone || (found && setUse(found)));
    return () => {
      isGone = true;
    };
  }, [thread, leaf, isIdle]);
  if (!use) return null;
  const share = Math.min(1, use.total / use.window);
  return (
    <>
      <button
        type="button"
        class="gauge plain"
        popovertarget={id}
        aria-label={text.chat.context.full(percent(share))}
      >
        <Ring share={share} />
        <span>{percent(share)}</span>
      </button>
      <div class="gauge-parts" id={id} popover="auto" role="dialog" aria-label={text.chat.context.title}>
        <Parts use={use} />
      </div>
    </>
  );
}

/** From here on the window is almost full. */
const HIGH = 0.8;
const RADIUS = 7;
const LENGTH = 2 * Math.PI * RADIUS;

function Ring({ share }: { share: number }) {
  return (
    <svg class={`ring ${share > HIGH ? "high" : ""}`} viewBox="0 0 18 18" aria-hidden="true">
      <circle cx="9" cy="9" r={RADIUS} />
      <circle cx="9" cy="9" r={RADIUS} stroke-dasharray={`${share * LENGTH} ${LENGTH}`} />
    </svg>
  );
}

function Parts({ use }: { use: ContextUse }) {
  const { context } = text.chat;
  const cost = Number(use.cost);
  return (
    <>
      <h2>{context.title}</h2>
      <p class="soft">
        {visibleLine(use.model.name)}, {context.of(whole(use.total), whole(use.window))}
      </p>
      <svg class="parts" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
        {stacked(use).map(({ part, from, share }) => (
          <rect key={part} class={part} x={from * 100} width={share * 100} height="4" />
        ))}
      </svg>
      <dl class="facts">
        {PARTS.filter((part) => use[part] > 0).map((part) => (
          <div key={part}>
            <dt>
              <i class={part} />
              {context.parts[part]}
            </dt>
            <dd>{whole(use[part])}</dd>
          </div>
        ))}
        <div>
          <dt>
            <i />
            {context.free}
          </dt>
          <dd>{whole(Math.max(0, use.window - use.total))}</dd>
        </div>
        {cost > 0 && (
          <div class="sum">
            <dt>{context.nextCosts}</dt>
            <dd>{dollars(cost)}</dd>
          </div>
        )}
        {use.spent > 0 && (
          <div>
            <dt>{context.spent}</dt>
            <dd>{dollars(use.spent)}</dd>
          </div>
        )}
        {use.saved !== 0 && (
          <div>
            <dt>{context.saved}</dt>
            <dd>{dollars(use.saved)}</dd>
          </div>
        )}
      </dl>
      {use.is_summarised && <p class="soft">{context.summarised}</p>}
    </>
  );
}

function stacked(use: ContextUse) {
  let from = 0;
  return PARTS.map((part) => {
    const share = use[part] / use.window;
    const at = { part, from, share };
    from += share;
    return at;
  });
}
