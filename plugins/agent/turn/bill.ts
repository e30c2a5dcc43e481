/** What one turn costs: counted for its user, its tokens and its purses, and checked before each request to a model. */

import { countedUsd, NO_USAGE } from "../../../kernel/kit/turns.ts";
import { dollars } from "../../../kernel/kit/words.ts";
import { Fault, type ModelName, type Services, type Usage } from "../../../kernel/plugin.ts";
import type { Purse, TokenCount } from "../../models/services.ts";
import type { TurnObserver } from "../live/observer.ts";
import type { LedgerTurn } from "../threads/ledger.ts";
import type { RunningWriter } from "../threads/writing/writer.ts";

export type Bill = ReturnType<typeof createBill>;

export function createBill(
  models: Services["models"],
  { turn, scopes, writer }: Pick<LedgerTurn<RunningWriter>, "turn" | "scopes" | "writer">,
  observer: Pick<TurnObserver, "spent">,
) {
  /** US dollars the user may spend today. */
  let capUsd: number | undefined;
  let purses: readonly Purse[] = [];
  let own = NO_USAGE;
  /** What other turns used that worked for this one. */
  let others = NO_USAGE;
  /** Output tokens of its answers so far. */
  let spoken = 0;

  const total = (): Usage => (others === NO_USAGE ? own : models.addUsage(own, others));

  function count(model: ModelName, tokens: TokenCount): void {
    const spent = models.addCost(NO_USAGE, model, tokens);
    writer.add((tx) => {
      models.spend(tx, turn.user, spent, scopes);
      for (const purse of purses) purse.spend(tx, countedUsd(spent));
    });
    observer.spent(model, spent);
    own = models.addCost(own, model, tokens);
  }

  return {
    /** Before the turn does anything. */
    async open(): Promise<void> {
      const { task, job, budgetUsd } = turn.work ?? {};
      purses = await models.openPurses({ id: writer.id, thread: writer.thread, task, job, budgetUsd });
      for (const purse of purses) await purse.assertLeft(0);
      capUsd = await models.dailyCap();
    },
    own: (): Usage => own,
    total,
    addOthers(usage: Usage): void {
      others = models.addUsage(others, usage);
    },
    count,
    countAnswer(model: ModelName, tokens: TokenCount): void {
      spoken += tokens.outputTokens;
      count(model, tokens);
    },
    /** How many tokens the turn may still say. */
    left: (): number => (turn.answer?.generation?.maxOutputTokens ?? Number.POSITIVE_INFINITY) - spoken,
    /** Checked before each request, so that the last one may pass it. */
    async assertAffordable(): Promise<void> {
      for (const purse of purses) await purse.assertLeft(countedUsd(own));
      const spent = countedUsd(total());
      const budget = turn.work?.budgetUsd;
      if (budget !== undefined && spent >= budget) {
        const message = `This run has used ${dollars(spent)}, and its budget is ${dollars(budget)}, so it was stopped.`;
        throw new Fault("turn", "budget_spent", message);
      }
      await models.assertLeft(turn.user, capUsd, scopes);
    },
  };
}
