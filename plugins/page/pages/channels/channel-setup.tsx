import { request } from "../../state/app.ts";
import { useHint, useLoaded } from "../../state/use-app.ts";
import { ask, type Routes, type ChannelSetup as Setup } from "../../state/wire.ts";
import { text } from "../../text/text.ts";
import { Button, type Fields, Form } from "../../widgets/controls.tsx";
import { confirmed } from "../../widgets/dialog.tsx";
import { Field } from "../../widgets/field.tsx";
import { toast } from "../../widgets/toast.tsx";

const words = text.channels.setup;

type Found = Routes["PUT /api/channels/{name}/setup"]["answer"];

interface ChannelSetupProps {
  readonly name: string;
  readonly title: string;
  readonly isSetUp: boolean;
  onChanged(found?: Found): unknown;
}

/** Asks for what a channel needs, which its service checks before it is kept. What is set is never shown. */
export function ChannelSetup({ name, title, isSetUp, onChanged }: ChannelSetupProps) {
  const path = `/api/channels/${name}/setup`;
  const [setup] = useLoaded<Setup>(path);
  const { hint, during } = useHint();
  if (!setup) return null;
  const open = setup.settings.filter(({ is_fixed: isFixed }) => !isFixed);
  const save = async (fields: Fields, form: HTMLFormElement) => {
    const given = Object.entries(fields).filter(([, value]) => value.trim() !== "");
    const settings = Object.fromEntries(given.map(([field, value]) => [field, value.trim()]));
    const found = await during(words.checking(title), ask<Found>("PUT", path, { settings }));
    form.reset();
    toast(words.saved(title, found.detail));
    await onChanged(found);
  };
  const remove = async () => {
    const question = { title: words.removeTitle(title), words: words.removeWords, yes: text.basics.remove };
    if (!(await confirmed({ ...question, danger: true }))) return;
    await request("DELETE", path);
    await onChanged();
  };
  return (
    <Form class="fields" aria-label={words.label(title)} onSubmit={save}>
      <p class="guide">{setup.guide}</p>
      {open.map(({ name: field, about, example, ...setting }) => (
        <Field key={field} name={field} label={about || field} help={field}>
          {(attributes) => (
            <input
              {...attributes}
              type={(setting.is_secret ? "password" : "text") as "password"}
              autocomplete="off"
              spellcheck={false}
              maxLength={4096}
              required={!setting.is_optional && !setting.is_set}
              placeholder={setting.is_set ? words.isSet : example}
            />
          )}
        </Field>
      ))}
      {open.length < setup.settings.length && <p class="soft">{words.fixed}</p>}
      <span class="row">
        {open.length > 0 && (
          <Button label={words.save} type="submit" class="primary" disabled={hint !== ""} />
        )}
        {isSetUp && open.some(({ is_set: isSet }) => isSet) && (
          <Button
            label={text.basics.remove}
            class="danger"
            aria-label={words.removeTitle(title)}
            onClick={remove}
          />
        )}
        <span role="status" class="soft">
          {hint}
        </span>
      </span>
    </Form>
  );
}
