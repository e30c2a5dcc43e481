import { useEffect, useRef, useState } from "preact/hooks";
import { ask, type RoutinePreview } from "../../state/wire.ts";
import { text } from "../../text/text.ts";
import { Card } from "../../widgets/card.tsx";
import { Button, type Fields, Form, Select } from "../../widgets/controls.tsx";
import { Field } from "../../widgets/field.tsx";
import { toast } from "../../widgets/toast.tsx";
import { localTime } from "./routine-words.ts";

const words = text.routines;
const HERE = Intl.DateTimeFormat().resolvedOptions().timeZone;
/** The preview waits for a pause in typing. */
const TYPING_MS = 300;

export function AddRoutine({ onAdded, onClose }: { onAdded(): void; onClose(): void }) {
  const [schedule, setSchedule] = useState("");
  const [tz, setTz] = useState(HERE);
  const [preview, setPreview] = useState<RoutinePreview | string>();
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), []);

  useEffect(() => {
    setPreview(undefined);
    if (schedule.trim() === "") return;
    const query = new URLSearchParams({ schedule, ...(tz && { tz }) });
    const look = () =>
      ask<RoutinePreview>("GET", `/api/routines/preview?${query}`).then(setPreview, (error: Error) =>
        setPreview(error.message),
      );
    const timer = setTimeout(() => void look(), TYPING_MS);
    return () => clearTimeout(timer);
  }, [schedule, tz]);

  const add = async ({ text: said, budget, per }: Fields) => {
    const spending = budget ? { usd: Number(budget), per } : undefined;
    await ask("POST", "/api/routines", { schedule, text: said, tz: tz || undefined, budget: spending });
    toast(words.added);
    onAdded();
  };

  return (
    <Card title={words.add}>
      <Form class="fields" onSubmit={add}>
        <Field label={words.what} name="text">
          {(field) => <textarea {...field} required rows={3} dir="auto" placeholder={words.whatExample} />}
        </Field>
        <div class="columns">
          <Field
            label={words.when}
            name="schedule"
            help={words.whenHelp}
            error={typeof preview === "string" ? preview : undefined}
          >
            {(field) => (
              <input
                {...field}
                ref={first}
                required
                autocomplete="off"
                value={schedule}
                onInput={(event) => setSchedule(event.currentTarget.value)}
              />
            )}
          </Field>
          <Field label={words.zone} name="tz">
            {(field) => (
              <input
                {...field}
                value={tz}
                placeholder={HERE}
                onInput={(event) => setTz(event.currentTarget.value)}
              />
            )}
          </Field>
        </div>
        {typeof preview === "object" && (
          <div role="status" class="soft">
            <p>{words.inZone(preview.words, preview.tz)}</p>
            <ul aria-label={words.nextRuns}>
              {preview.firings.map((at) => (
                <li key={at}>{localTime(at, preview.tz)}</li>
              ))}
            </ul>
          </div>
        )}
        <div class="columns">
          <Field label={words.budget} name="budget" help={words.budgetHelp}>
            {(field) => <input {...field} type="number" min="0.01" step="0.01" />}
          </Field>
          <Field label={words.budgetFor} name="per">
            {(field) => <Select {...field} options={words.per} />}
          </Field>
        </div>
        <span class="row">
          <Button label={words.addButton} type="submit" class="primary" />
          <Button label={text.basics.cancel} onClick={onClose} />
        </span>
      </Form>
    </Card>
  );
}
