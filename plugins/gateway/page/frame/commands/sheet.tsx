import { useState } from "preact/hooks";
import { showModal } from "../../widgets/modal.tsx";
import { type Command, hasSingleKeys, printedKeys, switchSingleKeys } from "./keys.ts";

export function openSheet(commands: readonly Command[]): void {
  showModal({
    title: "Keyboard shortcuts",
    class: "sheet",
    content: (end) => <Sheet commands={commands} onClose={() => end()} />,
  });
}

function Sheet({ commands, onClose }: { commands: readonly Command[]; onClose(): void }) {
  const [isOn, setOn] = useState(hasSingleKeys);
  const choose = (chosen: boolean) => {
    switchSingleKeys(chosen);
    setOn(chosen);
  };
  return (
    <>
      <div class="groups">
        {[...Map.groupBy(commands, ({ group }) => group)].map(([group, inIt]) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {inIt.map(({ title, keys = "" }) => (
                <div key={title}>
                  <dt>{title}</dt>
                  <dd>
                    <Keys keys={keys} />
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onClose();
        }}
      >
        <span class="check">
          <input
            id="single-keys"
            type="checkbox"
            checked={isOn}
            onChange={(event) => choose(event.currentTarget.checked)}
          />
          <label for="single-keys">Use keys without Ctrl, Alt or ⌘ while no field is focused</label>
        </span>
        <span class="row">
          <button type="submit" class="primary" data-first>
            Close
          </button>
        </span>
      </form>
    </>
  );
}

function Keys({ keys }: { keys: string }) {
  return (
    <span class="keys">
      {printedKeys(keys).map((key) => (
        <kbd key={key}>{key}</kbd>
      ))}
    </span>
  );
}
