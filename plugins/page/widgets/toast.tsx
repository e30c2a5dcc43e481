/** A short confirmation that goes away by itself: `toast("Saved")`. */
import CircleCheck from "lucide/dist/esm/icons/circle-check.mjs";
import { useEffect, useState } from "preact/hooks";
import { Button } from "./controls.tsx";
import { Icon } from "./icon.tsx";

interface Toast {
  readonly words: string;
  /** A button, such as Undo. */
  readonly action?: { readonly label: string; run(): unknown } | undefined;
}

const SHOWN_MS = 4000;
const SHOWN_WITH_ACTION_MS = 10_000;

let show: (toast: Toast) => void = () => {};

export function toast(words: string, action?: Toast["action"]): void {
  show({ words, action });
}

/** Where they appear: once, in the frame of the page. */
export function Toasts() {
  const [shown, setShown] = useState<Toast>();
  show = setShown;
  useEffect(() => {
    if (!shown) return;
    const timer = setTimeout(setShown, shown.action ? SHOWN_WITH_ACTION_MS : SHOWN_MS, undefined);
    return () => clearTimeout(timer);
  }, [shown]);
  const action = shown?.action;
  return (
    <div class="toasts" role="status">
      {shown && (
        <p class="toast">
          <Icon of={CircleCheck} />
          <span>{shown.words}</span>
          {action && (
            <Button
              label={action.label}
              class="plain"
              onClick={() => {
                setShown(undefined);
                return action.run();
              }}
            />
          )}
        </p>
      )}
    </div>
  );
}
