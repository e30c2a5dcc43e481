import { type ComponentChildren, render } from "preact";

interface ModalOptions {
  readonly title: string;
  readonly words?: string | undefined;
  readonly role?: "dialog" | "alertdialog";
  readonly class?: string;
  /** `end` closes the dialog, with or without an answer. The element with `data-first` gets the focus. */
  content(end: (answer?: string) => void): ComponentChildren;
  /** Gets the answer of `end`, or undefined if the dialog was dismissed. */
  onClose?(answer: string | undefined): void;
}

let shown = 0;

/** Shows a dialog above the page. The browser keeps the focus inside; opening another page dismisses it too. */
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
  // The content fills the dialog, so a press whose target is the dialog itself is on the backdrop.
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
  // Focusing an element at the end may have scrolled the dialog.
  dialog.scrollTop = 0;
}

/** True while a dialog is above the page. */
export const isModalOpen = (): boolean => document.querySelector("dialog[open]") !== null;
