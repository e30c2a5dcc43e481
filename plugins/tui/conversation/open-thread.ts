/** What is known of the open thread besides its turns: its title and model, how full that model's window is, and what was spent. */
import { isDeepStrictEqual } from "node:util";
import type { ModelName, Usage } from "../../../kernel/plugin.ts";
import type { Terminal } from "../services.ts";

export type OpenThread = ReturnType<typeof createOpenThread>;

/** Calls `changed` after every change. */
export function createOpenThread(threads: Terminal["threads"], changed: () => void) {
  let id: string | undefined;
  let title: string | undefined;
  let model: ModelName | undefined;
  let spent = { tokens: 0, cost: 0 };
  let fill: number | undefined;

  async function lookUpContext(): Promise<void> {
    const asked = id;
    const found = asked && (await threads.contextOf(asked));
    if (!found || asked !== id) return;
    fill = found.total / found.window;
    changed();
  }

  return {
    /** Undefined if the next message starts a new thread. */
    get id() {
      return id;
    },
    get title() {
      return title;
    },
    /** The model chosen for the thread, or for the one that the next message starts. */
    get model() {
      return model;
    },
    get spent() {
      return spent;
    },
    /** The part of the model's window that the thread takes; undefined where it is not known. */
    get fill() {
      return fill;
    },
    open(next: string | undefined): void {
      id = next;
      title = undefined;
      model = undefined;
      spent = { tokens: 0, cost: 0 };
      fill = undefined;
    },
    /** The first message was sent: the thread has an id now, and the model that was chosen before. */
    begin(next: string): void {
      id = next;
    },
    describe(found: { readonly title: string; readonly model?: ModelName | undefined } | undefined): void {
      title = found?.title;
      model = found?.model;
    },
    count({ inputTokens, outputTokens, totalCost }: Usage): void {
      spent = { tokens: spent.tokens + inputTokens + outputTokens, cost: spent.cost + Number(totalCost) };
      changed();
    },
    /** `undefined` goes back to the configured model. */
    async setModel(wanted: ModelName | undefined): Promise<void> {
      if (id !== undefined) await threads.setModel(id, wanted);
      model = wanted;
      lookUpContext().catch(() => {});
      changed();
    },
    /** Looks up the title again, which another channel may have changed. */
    async lookUpTitle(): Promise<void> {
      const asked = id;
      const found = asked === undefined ? undefined : await threads.find(asked);
      if (asked !== id || found === undefined) return;
      const isSame = found.title === title && isDeepStrictEqual(found.model, model);
      ({ title, model } = found);
      if (!isSame) changed();
    },
    lookUpContext,
  };
}
