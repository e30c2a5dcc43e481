/** Buttons, choices and forms as all pages use them. */
import {
  type ButtonHTMLAttributes,
  createContext,
  type FormHTMLAttributes,
  type SelectHTMLAttributes,
} from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { showRefusal } from "../state/app.ts";
import { Refused } from "../state/wire.ts";
import { Icon, type IconShapes } from "./icon.tsx";

interface ButtonProps extends Omit<ButtonHTMLAttributes, "label" | "icon" | "onClick"> {
  readonly label: string;
  readonly icon?: IconShapes;
  /** Shows the icon alone; the label is its name and its tooltip. */
  readonly isIconOnly?: boolean;
  onClick?(): unknown;
}

/** Its kind is its class: "primary" (one on a page), none, "plain" (no border) or "danger"; "small" may be added. */
export function Button({ label, icon, isIconOnly, class: kind, ...attributes }: ButtonProps) {
  return (
    <button
      type="button"
      class={isIconOnly ? `icon-only ${kind ?? "plain"}` : kind}
      {...(isIconOnly && { "aria-label": label, title: label })}
      {...attributes}
    >
      {icon && <Icon of={icon} />}
      {!isIconOnly && label}
    </button>
  );
}

type SelectAttributes = Pick<
  SelectHTMLAttributes,
  "id" | "name" | "value" | "defaultValue" | "required" | "disabled" | "aria-describedby" | "aria-invalid"
>;

interface SelectProps extends SelectAttributes {
  /** The name for screen readers, if it has no visible label. */
  readonly label?: string;
  /** Words by value, or values that are words. */
  readonly options: Readonly<Record<string, string>> | readonly string[];
  onValue?(value: string): unknown;
}

export function Select({ label, options, onValue, ...attributes }: SelectProps) {
  const entries = Array.isArray(options)
    ? options.map((word: string) => [word, word] as const)
    : Object.entries<string>(options as Readonly<Record<string, string>>);
  return (
    <select
      aria-label={label}
      onChange={({ currentTarget }) => void onValue?.(currentTarget.value)}
      {...attributes}
    >
      {entries.map(([value, words]) => (
        <option key={value} value={value}>
          {words}
        </option>
      ))}
    </select>
  );
}

interface SearchBoxProps {
  readonly label: string;
  readonly value: string;
  onText(text: string): unknown;
}

export function SearchBox({ label, value, onText }: SearchBoxProps) {
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={label}
      dir="auto"
      value={value}
      onInput={({ currentTarget }) => void onText(currentTarget.value)}
    />
  );
}

/** The fields of a form by name. */
export type Fields = Readonly<Record<string, string>>;

interface Problems {
  /** What is wrong with each field, by its name. */
  readonly problems: Fields;
  forget(name: string): void;
}

export const FormProblems = createContext<Problems>({ problems: {}, forget() {} });

/** Thrown by `onSubmit`, it is shown at the field. */
export const wrongField = (name: string, message: string): Refused =>
  new Refused(400, message, undefined, [{ param: name, message }]);

interface FormProps extends Omit<FormHTMLAttributes, "onSubmit"> {
  /** May reset the form. What it throws is shown at the fields it names, or else as a refusal. */
  onSubmit(fields: Fields, form: HTMLFormElement): unknown;
}

/** A form that the page sends itself. */
export function Form({ onSubmit, ...attributes }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const [problems, setProblems] = useState<Fields>({});
  const isNew = useRef(false);
  const report = (found: Fields) => {
    isNew.current = true;
    setProblems(found);
  };
  useLayoutEffect(() => {
    if (isNew.current) form.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus();
    isNew.current = false;
  }, [problems]);
  const forget = (name: string) =>
    setProblems(({ [name]: gone, ...others }) => (gone === undefined ? problems : others));
  const send = async () => {
    if (!form.current) return;
    setProblems({});
    try {
      await onSubmit(Object.fromEntries(new FormData(form.current)) as Fields, form.current);
    } catch (error) {
      const wrong = error instanceof Refused ? (error.problems ?? []) : [];
      const found = wrong.filter(({ param }) => form.current?.querySelector(`[data-field][name="${param}"]`));
      report(Object.fromEntries(found.map(({ param, message }) => [param, message])));
      if (found.length === 0 || found.length < wrong.length) showRefusal(error);
    }
  };
  return (
    <FormProblems.Provider value={{ problems, forget }}>
      <form
        {...attributes}
        ref={form}
        onInvalidCapture={(event) => {
          const field = event.target as HTMLInputElement;
          if (field.dataset["field"] === undefined) return;
          // The page shows the browser's words itself, below the field.
          event.preventDefault();
          const { name, validationMessage } = field;
          isNew.current = true;
          setProblems((known) => ({ ...known, [name]: validationMessage }));
        }}
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      />
    </FormProblems.Provider>
  );
}
