import ChevronDown from "lucide/dist/esm/icons/chevron-down.mjs";
import { useEffect, useState } from "preact/hooks";
import { visibleLine } from "../../../kernel/kit/text.ts";
import { chooseModel, loadModels } from "../state/threads.ts";
import { useApp } from "../state/use-app.ts";
import type { ModelName, ModelOption } from "../state/wire.ts";
import { text } from "../text/text.ts";
import { Icon } from "../widgets/icon.tsx";
import { showModal } from "../widgets/modal.tsx";
import { type Choice, fitsQuery, SearchList } from "../widgets/search-list.tsx";

const words = text.start;

interface ModelChoice extends Choice {
  /** Null for the configured one. */
  readonly model: ModelName | null;
}

/** The choice of the thread's model. The names come from model servers and are shown as plain text. */
export function ModelPicker() {
  const { models, chosen, status } = useApp();
  useEffect(() => {
    if (models === undefined) void loadModels();
  }, []);
  if (status === undefined) return null;
  const name = chosen ? visibleLine(chosen.name) : words.defaultModel(visibleLine(status.model.name));
  const open = () => {
    void loadModels();
    showModal({
      title: words.model,
      words: models?.some(({ price }) => price) ? words.prices : undefined,
      class: "palette models",
      content: (end) => <Models configured={status.model.name} onEnd={end} />,
    });
  };
  return (
    <button
      type="button"
      class="model"
      aria-label={`${words.model}: ${name}`}
      aria-haspopup="dialog"
      onClick={open}
    >
      <span>{name}</span>
      <Icon of={ChevronDown} />
    </button>
  );
}

function Models({ configured, onEnd }: { configured: string; onEnd(): void }) {
  const { models = [], chosen } = useApp();
  const [query, setQuery] = useState("");
  const all = choicesOf(models, chosen, configured);
  const current = all.findIndex(({ id }) => chosen !== null && id === keyOf(chosen));
  return (
    <SearchList
      label={words.searchModels}
      listLabel={words.models}
      query={query}
      choices={all.filter(({ title, detail }) => fitsQuery(query, title, detail))}
      start={Math.max(current, 0)}
      onQuery={setQuery}
      onChoose={({ model }) => {
        onEnd();
        void chooseModel(model);
      }}
    />
  );
}

function choicesOf(
  models: readonly ModelOption[],
  chosen: ModelName | null,
  configured: string,
): readonly ModelChoice[] {
  const title = words.defaultModel(visibleLine(configured));
  const own = models.find(({ role }) => role === "configured");
  // The first choice stands for the configured one.
  const listed = models.filter((model) => model !== own).map(choiceOf);
  const known = [...listed.map(({ id }) => id), ...(own ? [keyOf(own)] : [])];
  const isListed = chosen === null || known.includes(keyOf(chosen));
  const detail = detailOf(own);
  return [{ id: "", title, detail, model: null }, ...(isListed ? [] : [choiceOf(chosen)]), ...listed];
}

const keyOf = ({ provider, name }: ModelName): string => JSON.stringify([provider, name]);

const choiceOf = (option: ModelOption): ModelChoice => ({
  id: keyOf(option),
  title: visibleLine(option.name),
  detail: detailOf(option),
  model: { provider: option.provider, name: option.name },
});

/** Its provider, window, price and retirement, as far as they are known. */
function detailOf(option: ModelOption | undefined): string {
  if (option === undefined) return "";
  const { provider, window, price, retires } = option;
  const facts = [
    ...(window ? [words.window(window)] : []),
    ...(price ? [words.price(price.input, price.output)] : []),
    ...(retires ? [words.retires(retires)] : []),
  ];
  return [provider, ...facts].join(" · ");
}
