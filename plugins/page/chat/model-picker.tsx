import { useEffect } from "preact/hooks";
import { visibleLine } from "../../../kernel/kit/text.ts";
import { chooseModel, loadModels } from "../state/threads.ts";
import { useApp } from "../state/use-app.ts";
import type { ModelName, ModelOption } from "../state/wire.ts";
import { text } from "../text/text.ts";

const keyOf = ({ provider, name }: ModelName): string => JSON.stringify([provider, name]);

/** Its name, window, price and retirement, as far as they are known. */
function describe({ name, window, price, retires }: ModelOption): string {
  const facts = [
    ...(window ? [text.start.window(window)] : []),
    ...(price ? [`$${price.input}/$${price.output}`] : []),
    ...(retires ? [text.start.retires(retires)] : []),
  ];
  return [visibleLine(name), ...facts].join(" · ");
}

/** The choice of the thread's model. The names come from model servers and are shown as plain text. */
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
      aria-label={text.start.model}
      value={chosen === null ? "" : keyOf(chosen)}
      onFocus={() => void loadModels()}
      onChange={(event) => choose(event.currentTarget.value)}
    >
      <option value="">{text.start.defaultModel(visibleLine(status.model.name))}</option>
      {!isListed && <option value={keyOf(chosen)}>{visibleLine(chosen.name)}</option>}
      {providers.map((provider) => (
        <optgroup key={provider} label={provider}>
          {options
            .filter((option) => option.provider === provider)
            .map((option) => (
              <option key={keyOf(option)} value={keyOf(option)}>
                {describe(option)}
              </option>
            ))}
        </optgroup>
      ))}
    </select>
  );
}
