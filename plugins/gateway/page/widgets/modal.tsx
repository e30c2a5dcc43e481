import { type ComponentChildren, render } from "preact";

interface ModalOptions {
  readonly title: string;
  readonly words?: string | undefined;
  readonly role?: "dialog" | "alertdialog";
  readonly class?: string;
  /** `end` closes it, with an answer or without. What has the attribute `data-first` is focused first. */
  content(end: (answer?: string) => void): ComponentChildren;
  /** With what `end` was given; undefined where it was dismissed. */
  onClose?(answer: string | undefined): void;
}

let shown = 0;

/**
 * Shows a dialog above the page. The browser keeps the keyboard inside, closes it by Esc and gives the focus back to where it
 * was. It closes too when another page is opened: whoever leaves has not agreed to anything.
 */
export function showModal({ title, words, role = "dialog", ...options }: ModalOptions): void {
  const dialog = document.createElement("dialog");
  const id = `modal-${++shown}`;
  dialog.className = `modal ${options.class ?? ""}`;
  dialog.role = role;
  dialog.setAttribute("aria-labelledby", `${id}-title`);
  if (words) dialog.setAttribute("aria-describedby", `${id}-words`);
  let answer: string | undefined;
  const end = (given?: string) => {
    answer = given;
    dialog.close();
  };
  const leave = () => end();
  dialog.addEventListener("close", () => {
    removeEventListener("hashchange", leave);
    render(null, dialog);
    dialog.remove();
    options.onClose?.(answer);
  });
  // A press beside it lands on the dialog itself: what is inside fills it.
  dialog.addEventListener("pointerdown", (event) => event.target === dialog && end());
  addEventListener("hashchange", leave);
  render(
    <div class="inside">
      <h2 id={`${id}-title`} dir="auto">
        {title}
      </h2>
      {words && (
        <p id={`${id}-words`} dir="auto">
          {words}
        </p>
      )}
      {options.content(end)}
    </div>,
    dialog,
  );
  document.body.append(dialog);
  dialog.showModal();
  dialog.querySelector<HTMLElement>("[data-first]")?.focus();
  // What is focused may be at its end; it is read from its beginning.
  dialog.scrollTop = 0;
}

/** True while a dialog is above the page. */
export const isModalOpen = (): boolean => document.querySelector("dialog[open]") !== null;
