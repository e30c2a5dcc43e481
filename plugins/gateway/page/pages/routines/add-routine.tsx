import { useEffect, useState } from "preact/hooks";
import { attempt } from "../../state/app.ts";
import { ask, type Routine, type RoutinePreview } from "../../state/wire.ts";
import { localTime } from "./routine-words.ts";

const HERE = Intl.DateTimeFormat().resolvedOptions().timeZone;
/** The preview waits for a pause in typing. */
const TYPING_MILLIS = 300;

export function AddRoutine({ onAdded }: { onAdded(): void }) {
  const [schedule, setSchedule] = useState("");
  const [tz, setTz] = useState(HERE);
  const [preview, setPreview] = useState<RoutinePreview | string>();

  useEffect(() => {
    setPreview(undefined);
    if (schedule.trim() === "") return;
    const query = new URLSearchParams({ schedule, ...(tz && { tz }) });
    const look = () =>
      ask<RoutinePreview>("GET", `/api/routines/preview?${query}`).then(setPreview, (error: Error) =>
        setPreview(error.message),
      );
    const timer = setTimeout(() => void look(), TYPING_MILLIS);
    return () => clearTimeout(timer);
  }, [schedule, tz]);

  const add = async (event: Event) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const { text, budget, per } = Object.fromEntries(new FormData(form));
    const body = {
      schedule,
      text,
      tz: tz || undefined,
      budget: budget ? { usd: Number(budget), per } : undefined,
    };
    if (!(await attempt(() => ask<Routine>("POST", "/api/routines", body)))) return;
    form.reset();
    setSchedule("");
    onAdded();
  };

  return (
    <section class="card">
      <h2>Add a routine</h2>
      <form class="fields" onSubmit={(event) => void add(event)}>
        <label>
          When
          <input
            required
            value={schedule}
            placeholder="weekdays at 8:00"
            onInput={(event) => setSchedule(event.currentTarget.value)}
          />
        </label>
        <label>
          Time zone
          <input value={tz} placeholder={HERE} onInput={(event) => setTz(event.currentTarget.value)} />
        </label>
        {typeof preview === "string" && <p role="alert">{preview}</p>}
        {typeof preview === "object" && (
          <div role="status">
            <p>
              {preview.words} ({preview.tz})
            </p>
            <ul aria-label="Next runs">
              {preview.firings.map((at) => (
                <li key={at}>{localTime(at, preview.tz)}</li>
              ))}
            </ul>
          </div>
        )}
        <label>
          What to say to the agent
          <textarea name="text" required rows={3} dir="auto" placeholder="Summarise my open issues" />
        </label>
        <label>
          Budget in US dollars, if any
          <input name="budget" type="number" min="0.01" step="0.01" />
        </label>
        <label>
          Budget for
          <select name="per">
            <option value="run">each run</option>
            <option value="day">a day</option>
          </select>
        </label>
        <button type="submit" class="primary">
          Add routine
        </button>
      </form>
    </section>
  );
}
