import { useEffect } from "preact/hooks";
import { visibleLine } from "../../../../kernel/text/visible.ts";
import { chooseModel, loadModels } from "../state/threads.ts";
import { useApp } from "../state/use-app.ts";
import type { ModelName } from "../state/wire.ts";

const keyOf = ({ provider, name }: ModelName): string => JSON.stringify([provider, name]);

/** What answers on this thread. Names are what servers call their models: text, and nothing more. */
export function ModelPicker() {
  const { models, chosen, status } = useApp();
  useEffect(() => {
    if (models === undefined) void loadModels();
  }, []);
  if (status === undefined) return null;
  const choose = (key: string) => {
    const [provider, name] = key === "" ? [] : (JSON.parse(key) as [string, string]);
    void chooseModel(provider === undefined || name === undefined ? null : { provider, name });
  };
  const options = models ?? [];
  const isListed = chosen === null || options.some((option) => keyOf(option) === keyOf(chosen));
  const providers = [...new Set(options.map(({ provider }) => provider))];
  return (
    <select
      class="model"
      aria-label="Model of this thread"
      value={chosen === null ? "" : keyOf(chosen)}
      onFocus={() => void loadModels()}
      onChange={(event) => choose(event.currentTarget.value)}
    >
      <option value="">{visibleLine(status.model.name)} (default)</option>
      {!isListed && <option value={keyOf(chosen)}>{visibleLine(chosen.name)}</option>}
      {providers.map((provider) => (
        <optgroup key={provider} label={provider}>
          {options
            .filter((option) => option.provider === provider)
            .map((option) => (
              <option key={keyOf(option)} value={keyOf(option)}>
                {visibleLine(option.name)}
              </option>
            ))}
        </optgroup>
      ))}
    </select>
  );
}
