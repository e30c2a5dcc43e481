import Ellipsis from "lucide/dist/esm/icons/ellipsis.mjs";
import { useId, useRef, useState } from "preact/hooks";
import { Icon } from "./icon.tsx";

export interface MenuItem {
  readonly label: string;
  readonly danger?: boolean;
  /** The address of a file to download, in place of `onSelect`. */
  readonly href?: string;
  onSelect?(): void;
}

/** A button with a menu. The browser shows it above everything and closes it on Esc or a press outside. */
export function Menu({ label, items }: { readonly label: string; readonly items: readonly MenuItem[] }) {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  const entries = () => [...(menu.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];

  const onBeforeToggle = ({ newState }: { readonly newState: string }) => {
    if (newState === "open") place(menu.current, button.current);
    else if (menu.current?.contains(document.activeElement)) button.current?.focus();
    setOpen(newState === "open");
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const all = entries();
    const at = all.indexOf(document.activeElement as HTMLElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (event.key === "Tab") menu.current?.hidePopover();
    if (next === undefined) return;
    event.preventDefault();
    all.at(next % all.length)?.focus();
  };
  const select = ({ onSelect }: MenuItem) => {
    menu.current?.hidePopover();
    onSelect?.();
  };

  return (
    <>
      <button
        type="button"
        class="plain icon-only"
        ref={button}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        popovertarget={id}
      >
        <Icon of={Ellipsis} />
      </button>
      <div
        class="popup"
        ref={menu}
        id={id}
        popover="auto"
        role="menu"
        aria-label={label}
        tabIndex={-1}
        onBeforeToggle={onBeforeToggle}
        onToggle={({ newState }) => newState === "open" && entries()[0]?.focus()}
        onKeyDown={onKeyDown}
      >
        {isOpen &&
          items.map((item) =>
            item.href === undefined ? (
              <button
                type="button"
                key={item.label}
                role="menuitem"
                tabIndex={-1}
                class={item.danger ? "plain danger" : "plain"}
                onClick={() => select(item)}
              >
                {item.label}
              </button>
            ) : (
              <a
                key={item.label}
                role="menuitem"
                tabIndex={-1}
                href={item.href}
                download
                onClick={() => select(item)}
              >
                {item.label}
              </a>
            ),
          )}
      </div>
    </>
  );
}

// The height of the tallest menu: with less room below the button, the menu opens above it.
const MAX_HEIGHT = 260;

function place(menu: HTMLElement | null, button: HTMLElement | null): void {
  if (!menu || !button) return;
  const { top, bottom, right } = button.getBoundingClientRect();
  const opensUp = bottom + MAX_HEIGHT > innerHeight;
  menu.style.top = opensUp ? "auto" : `${bottom}px`;
  menu.style.bottom = opensUp ? `${innerHeight - top}px` : "auto";
  menu.style.right = `${Math.max(innerWidth - right, 8)}px`;
}
