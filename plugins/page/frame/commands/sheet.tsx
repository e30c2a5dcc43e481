import { useState } from "preact/hooks";
import { text } from "../../text/text.ts";
import { Form } from "../../widgets/controls.tsx";
import { showModal } from "../../widgets/modal.tsx";
import { type Command, hasSingleKeys, printedKeys, switchSingleKeys } from "./keys.ts";

export function openSheet(commands: readonly Command[]): void {
  showModal({
    title: text.frame.shortcuts,
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
                  <dd class="keys">
                    {printedKeys(keys).map((key) => (
                      <kbd key={key}>{key}</kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <Form onSubmit={onClose}>
        <span class="check">
          <input
            id="single-keys"
            type="checkbox"
            checked={isOn}
            onChange={(event) => choose(event.currentTarget.checked)}
          />
          <label for="single-keys">{text.frame.singleKeys}</label>
        </span>
        <span class="row">
          <button type="submit" class="primary" data-first>
            {text.basics.close}
          </button>
        </span>
      </Form>
    </>
  );
}
