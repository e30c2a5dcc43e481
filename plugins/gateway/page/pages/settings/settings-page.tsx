import { useEffect, useState } from "preact/hooks";
import { attempt, update } from "../../state/app.ts";
import { useApp } from "../../state/use-app.ts";
import { ask, Refused, type Setting, type Status } from "../../state/wire.ts";
import { Page } from "../../widgets/bar.tsx";
import { ThemeChoice } from "../../widgets/theme.tsx";
import { type Drafts, useDrafts } from "./drafts.ts";
import { ModelCard } from "./model-card.tsx";
import { SettingField } from "./setting-field.tsx";
import { GROUPS, isOfModel } from "./titles.ts";

interface Listed {
  readonly settings: readonly Setting[];
}

type Errors = Readonly<Record<string, string>>;

/** Settings that the operator can change while the service runs; the theme is for everybody. */
export function SettingsPage() {
  const isOperator = useApp().user?.role === "operator";
  return (
    <Page title="Settings">
      {isOperator && <OperatorSettings />}
      <section class="card">
        <h2>Theme</h2>
        <div class="row">
          <ThemeChoice />
          <span class="soft">Of this browser alone.</span>
        </div>
      </section>
    </Page>
  );
}

function OperatorSettings() {
  const [settings, setSettings] = useState<readonly Setting[]>();
  const [drafts, setDrafts] = useDrafts();
  const [errors, setErrors] = useState<Errors>({});
  const [isSaving, setSaving] = useState(false);
  const count = Object.keys(drafts).length;

  useEffect(() => {
    void attempt(async () => setSettings((await ask<Listed>("GET", "/api/settings")).settings));
  }, []);
  useEffect(() => {
    if (count === 0) return;
    const onLeave = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", onLeave);
    return () => removeEventListener("beforeunload", onLeave);
  }, [count > 0]);
  if (settings === undefined) return null;

  const onDrafts = (next: Drafts) => {
    const changed = Object.keys({ ...drafts, ...next }).filter((name) => drafts[name] !== next[name]);
    setErrors(Object.fromEntries(Object.entries(errors).filter(([name]) => !changed.includes(name))));
    setDrafts(next);
  };
  const onErrors = ({ problems = [] }: Refused) => {
    setErrors(Object.fromEntries(problems.map(({ param, message }) => [param, message])));
    update({ announcement: `${problems.length} settings cannot be saved.` });
  };
  const save = async (event: Event) => {
    event.preventDefault();
    setSaving(true);
    await attempt(async () => {
      try {
        const { settings: now } = await ask<Listed>("PATCH", "/api/settings", { settings: drafts });
        setSettings(now);
        setDrafts({});
        setErrors({});
        update({ announcement: "Saved.", status: await ask<Status>("GET", "/api/status") });
      } catch (error) {
        if (!(error instanceof Refused) || error.problems === undefined) throw error;
        onErrors(error);
      }
    });
    setSaving(false);
  };
  const named = new Set(GROUPS.flatMap(({ names }) => names));
  const others = settings.filter(({ name }) => !isOfModel(name) && !named.has(name)).map(({ name }) => name);
  const groups = [...GROUPS, ...(others.length > 0 ? [{ title: "Others", names: others }] : [])];
  const shown = new Set(settings.map(({ name }) => name));
  const elsewhere = Object.entries(errors).filter(([name]) => !shown.has(name));
  return (
    <form class="settings" noValidate onSubmit={(event) => void save(event)}>
      <ModelCard {...{ settings, drafts, errors, onDrafts, onErrors }} />
      {groups.map(({ title, names }) => (
        <section class="card" key={title}>
          <h2>{title}</h2>
          {names
            .flatMap((name) => settings.find((setting) => setting.name === name) ?? [])
            .map((setting) => (
              <SettingField
                key={setting.name}
                {...{ setting, drafts, onDrafts }}
                error={errors[setting.name]}
              />
            ))}
        </section>
      ))}
      {elsewhere.map(([name, message]) => (
        <p class="wrong" key={name}>
          {name}: {message}
        </p>
      ))}
      <div class={`row save ${count > 0 ? "unsaved" : ""}`}>
        <button type="submit" class="primary" disabled={count === 0 || isSaving}>
          {isSaving ? "Saving…" : "Save"}
        </button>
        {count > 0 && (
          <button
            type="button"
            onClick={() => {
              setDrafts({});
              setErrors({});
            }}
          >
            Discard
          </button>
        )}
        <span class="soft">{stateWords(count, Object.keys(errors).length)}</span>
      </div>
    </form>
  );
}

function stateWords(unsaved: number, wrong: number): string {
  if (wrong > 0) return "Not saved: fix what is marked above.";
  if (unsaved === 0) return "A change holds from the next message on, on every node.";
  return unsaved === 1 ? "1 change is not saved." : `${unsaved} changes are not saved.`;
}
