/** A short confirmation that goes away by itself: `toast("Saved")`. */
import CircleCheck from "lucide/dist/esm/icons/circle-check.mjs";
import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "./controls.tsx";
import { Icon } from "./icon.tsx";

interface Toast {
  readonly words: string;
  /** A button, such as Undo. */
  readonly action?: { readonly label: string; run(): unknown } | undefined;
  /** True if the button gets the focus, since what had it is gone. */
  readonly takesFocus?: boolean | undefined;
}

const SHOWN_MS = 4000;
const SHOWN_WITH_ACTION_MS = 10_000;

let show: (toast: Toast) => void = () => {};

export function toast(words: string, action?: Toast["action"], takesFocus?: boolean): void {
  show({ words, action, takesFocus });
}

/** Where they appear: once, in the frame of the page. */
export function Toasts() {
  const [shown, setShown] = useState<Toast>();
  show = setShown;
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!shown) return;
    if (shown.takesFocus) box.current?.querySelector("button")?.focus();
    // It waits for a person who is at it.
    const hide = () => {
      if (!box.current?.querySelector(":hover, :focus-visible")) setShown(undefined);
    };
    const timer = setInterval(hide, shown.action ? SHOWN_WITH_ACTION_MS : SHOWN_MS);
    return () => clearInterval(timer);
  }, [shown]);
  const action = shown?.action;
  return (
    <div class="toasts" role="status" ref={box}>
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
