import type { Setting } from "../../state/wire.ts";
import { text } from "../../text/text.ts";
import { Button, Select } from "../../widgets/controls.tsx";
import { type Drafts, storedText, withDraft } from "./drafts.ts";
import { choiceTitle, helpOf, titleOf } from "./titles.ts";

const words = text.settings;

export interface FieldProps {
  readonly setting: Setting;
  readonly drafts: Drafts;
  readonly error: string | undefined;
  /** Suggested values; others are allowed. */
  readonly offered?: readonly string[];
  onDrafts(drafts: Drafts): void;
}

/** One setting: its description, allowed values, source and error. */
export function SettingField({ setting, drafts, error, offered = [], onDrafts }: FieldProps) {
  const { name, is_fixed: isFixed, is_secret: isSecret, source, problem } = setting;
  const draft = drafts[name];
  const isDrafted = draft !== undefined;
  const isStored = source === "stored";
  const change = (text: string | null) => onDrafts(withDraft(drafts, setting, text));
  const told = `told-${name}`;
  const control = {
    id: `setting-${name}`,
    "aria-describedby": told,
    "aria-invalid": error !== undefined,
    disabled: isFixed,
  };
  return (
    <div class="setting">
      <label for={control.id}>
        {titleOf(name)} {isDrafted && <span class="tag waiting">{words.unsaved}</span>}
      </label>
      <div class="row">
        <Control
          setting={setting}
          control={control}
          text={isFixed ? (setting.value ?? "") : isDrafted ? (draft ?? "") : storedText(setting)}
          list={offered.length > 0 ? `offered-${name}` : undefined}
          onText={change}
        />
        {isStored && draft !== null && (isSecret || !isDrafted) && (
          <Button
            label={isSecret ? text.basics.remove : words.reset}
            class={isSecret ? "small danger" : "small"}
            aria-label={isSecret ? words.removeOf(titleOf(name)) : words.resetOf(titleOf(name))}
            onClick={() => change(null)}
          />
        )}
      </div>
      {isSecret && draft === null && <p class="soft">{words.removedOnSave}</p>}
      {offered.length > 0 && (
        <datalist id={`offered-${name}`}>
          {offered.map((value) => (
            <option key={value} value={value} />
          ))}
        </datalist>
      )}
      <div id={told} class="told">
        {error !== undefined && <p class="wrong">{words.wrong(titleOf(name), error)}</p>}
        {problem != null && <p class="wrong">{words.notUsed(problem)}</p>}
        <p class="soft">
          {helpOf(setting)} {isFixed && words.fixedIn[source === ".env" ? "env" : "environment"]}{" "}
          <code>{name}</code>
        </p>
      </div>
    </div>
  );
}

interface ControlProps {
  readonly setting: Setting;
  readonly control: {
    readonly id: string;
    readonly "aria-describedby": string;
    readonly "aria-invalid": boolean;
    readonly disabled: boolean;
  };
  readonly text: string;
  readonly list: string | undefined;
  onText(text: string): void;
}

function Control({ setting, control, text, list, onText }: ControlProps) {
  const { name, type, choices, default: usual, is_secret: isSecret, is_set: isSet, hint } = setting;
  const options = type === "boolean" ? ["true", "false"] : choices;
  if (options)
    return (
      <Select
        {...control}
        value={text}
        options={{
          "": words.default(choiceTitle(name, usual ?? "")),
          ...Object.fromEntries(options.map((choice) => [choice, choiceTitle(name, choice)])),
        }}
        onValue={onText}
      />
    );
  const onInput = ({ currentTarget }: { currentTarget: HTMLInputElement }) => onText(currentTarget.value);
  if (isSecret)
    return (
      <input
        {...control}
        type="password"
        autocomplete="new-password"
        placeholder={secretWords(isSet, hint)}
        value={control.disabled ? "" : text}
        onInput={onInput}
      />
    );
  // A text field, since a number field hides invalid input.
  return (
    <input
      {...control}
      inputMode={INPUT_MODES[type] ?? "text"}
      autocomplete="off"
      spellcheck={false}
      list={list}
      placeholder={usual || words.notSet}
      value={text}
      onInput={onInput}
    />
  );
}

const INPUT_MODES: Readonly<Record<string, "numeric" | "decimal" | "url">> = {
  integer: "numeric",
  number: "decimal",
  url: "url",
};

function secretWords(isSet: boolean, hint: string | undefined): string {
  if (!isSet) return words.notSet;
  return hint === undefined ? words.set : words.setEndsIn(hint);
}
