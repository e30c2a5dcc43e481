import ChevronRight from "lucide/dist/esm/icons/chevron-right.mjs";
import KeyRound from "lucide/dist/esm/icons/key-round.mjs";
import ShieldCheck from "lucide/dist/esm/icons/shield-check.mjs";
import ShieldX from "lucide/dist/esm/icons/shield-x.mjs";
import { visibleLine } from "../../../../kernel/kit/text.ts";
import type { TurnView } from "../../state/turn-view.ts";
import { text } from "../../text/text.ts";
import { Icon } from "../../widgets/icon.tsx";
import { Asked } from "./asked.tsx";

/** What the person answered at a gate, folded to a line; inside, what they were asked. */
export function Answered({ turn: { held, answered } }: { turn: TurnView }) {
  if (!held || !answered || answered === "replied") return null;
  if (held.type !== "approval" && held.type !== "authentication") return null;
  const name = visibleLine(held.call.name);
  const icon = answered === "deny" ? ShieldX : held.type === "approval" ? ShieldCheck : KeyRound;
  const said = held.type === "approval" ? text.chat.answered : text.chat.signedIn;
  const steps = held.type === "approval" ? held.steps : undefined;
  const words = steps
    ? new Map(Object.entries(text.chat.answeredSteps)).get(answered)?.(steps.length)
    : new Map(Object.entries(said)).get(answered)?.(name);
  return (
    <details class={`call answered ${answered}`}>
      <summary>
        <Icon of={icon} />
        <span class="what" dir="auto">
          {words ?? answered}
        </span>
        <Icon of={ChevronRight} />
      </summary>
      <div class="inside">
        <Asked gate={held} />
      </div>
    </details>
  );
}
