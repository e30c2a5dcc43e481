import type { Field, FieldValue } from "../../../../../kernel/vocabulary/questions.ts";

type TextType = "text" | "email" | "url" | "date" | "datetime-local";

// A map: a stranger's format may be called "constructor".
const INPUT_TYPES: ReadonlyMap<string, TextType> = new Map([
  ["email", "email"],
  ["uri", "url"],
  ["date", "date"],
  ["date-time", "datetime-local"],
]);

/** `id`: what it is called in the form. */
export function FieldInput({ field, id }: { field: Field; id: string }) {
  const about = field.about === undefined ? undefined : `${id}-about`;
  const help = field.about !== undefined && (
    <span class="soft" id={about}>
      {field.about}
    </span>
  );
  if (field.kind === "boolean")
    return (
      <span class="field">
        <label>
          <input type="checkbox" name={id} defaultChecked={field.preset === true} aria-describedby={about} />{" "}
          {field.label}
        </label>
        {help}
      </span>
    );
  if (field.kind === "choices")
    return (
      <fieldset class="field" aria-describedby={about}>
        <legend>{labelOf(field)}</legend>
        {help}
        {field.choices?.map(({ value, label }) => (
          <label key={value}>
            <input type="checkbox" name={id} value={value} defaultChecked={isPreset(field, value)} /> {label}
          </label>
        ))}
      </fieldset>
    );
  return (
    <span class="field">
      <label for={id}>{labelOf(field)}</label>
      {help}
      {field.kind === "choice" ? (
        <select id={id} name={id} required={field.isRequired} aria-describedby={about}>
          <option value="">Choose…</option>
          {field.choices?.map(({ value, label }, index) => (
            <option key={value} value={String(index)} selected={field.preset === value}>
              {label}
            </option>
          ))}
        </select>
      ) : (
        <input
          id={id}
          name={id}
          required={field.isRequired}
          aria-describedby={about}
          autocomplete="off"
          defaultValue={field.preset === undefined ? "" : String(field.preset)}
          // One of several types, of which the declarations of JSX want to know the one.
          {...(limitsOf(field) as { type: "text" })}
        />
      )}
    </span>
  );
}

/** Undefined where it was left empty. */
export function readField(field: Field, form: FormData, id: string): FieldValue | undefined {
  const text = String(form.get(id) ?? "");
  switch (field.kind) {
    case "boolean":
      return form.has(id);
    case "choices": {
      const chosen = form.getAll(id).map(String);
      return chosen.length === 0 && !field.isRequired ? undefined : chosen;
    }
    case "choice":
      // By its place: the value itself may be empty.
      return text === "" ? undefined : field.choices?.[Number(text)]?.value;
    case "number":
    case "integer":
      return text === "" ? undefined : Number(text);
    case "text": {
      const time = field.format === "date-time" ? Date.parse(text) : Number.NaN;
      return text === "" ? undefined : Number.isNaN(time) ? text : new Date(time).toISOString();
    }
  }
}

const labelOf = ({ label, isRequired }: Field): string => (isRequired ? label : `${label} (optional)`);

const isPreset = ({ preset }: Field, value: string): boolean =>
  Array.isArray(preset) && preset.includes(value);

function limitsOf({ kind, format = "", least, most }: Field) {
  if (kind === "text")
    return {
      type: INPUT_TYPES.get(format) ?? "text",
      ...(least !== undefined && { minLength: least }),
      ...(most !== undefined && { maxLength: most }),
    };
  return {
    type: "number" as const,
    step: kind === "integer" ? "1" : "any",
    ...(least !== undefined && { min: least }),
    ...(most !== undefined && { max: most }),
  };
}
