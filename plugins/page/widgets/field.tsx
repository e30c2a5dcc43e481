import type { ComponentChildren } from "preact";
import { useContext, useId } from "preact/hooks";
import { FormProblems } from "./controls.tsx";

interface FieldAttributes {
  readonly id: string;
  readonly name: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": boolean | undefined;
  readonly "data-field": true;
}

interface FieldProps {
  readonly label: ComponentChildren;
  /** The name in the form, and of a problem that the gateway reports. */
  readonly name: string;
  readonly help?: ComponentChildren;
  /** A problem that is not the form's, such as one found while typing. */
  readonly error?: string | undefined;
  /** Renders the input with the attributes it gets: `{(field) => <input {...field} required />}`. */
  children(attributes: FieldAttributes): ComponentChildren;
}

/** A labelled input of a `Form`. What is wrong with it stands below it until it is changed. */
export function Field({ label, name, help, error, children }: FieldProps) {
  const id = useId();
  const { problems, forget } = useContext(FormProblems);
  const wrong = error ?? problems[name];
  const notes = [wrong && `${id}-wrong`, help && `${id}-help`].filter(Boolean).join(" ");
  return (
    <div class="field" onInput={() => forget(name)}>
      <label for={id}>{label}</label>
      {children({
        id,
        name,
        "aria-describedby": notes || undefined,
        "aria-invalid": wrong ? true : undefined,
        "data-field": true,
      })}
      {wrong && (
        <span id={`${id}-wrong`} class="wrong" role="alert">
          {wrong}
        </span>
      )}
      {help && (
        <span id={`${id}-help`} class="soft">
          {help}
        </span>
      )}
    </div>
  );
}
