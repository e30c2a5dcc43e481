/** Makes a plan that breaks a rule as short as it gets: without what goes wrong, what is done and what is chosen in vain. */
import type { Outcome, Plan } from "./world.ts";

const MAX_PLAYS = 250;

export async function shrink(
  failing: Plan,
  first: Outcome,
  play: (plan: Plan) => Promise<Outcome>,
): Promise<Plan> {
  const rule = first.violations[0]?.rule;
  let plays = 0;
  let best: Plan = { ...failing, fates: first.fates };
  const tryPlan = async (plan: Plan): Promise<boolean> => {
    if (plays >= MAX_PLAYS) return false;
    plays++;
    const isStill = (await play(plan)).violations.some((one) => one.rule === rule);
    if (isStill) best = plan;
    return isStill;
  };

  /** Leaves out ever smaller pieces. */
  async function leaveOut(name: "fates" | "deeds"): Promise<void> {
    for (
      let size = Math.ceil((best[name]?.length ?? 0) / 2);
      size > 0;
      size = size === 1 ? 0 : Math.ceil(size / 2)
    )
      for (let at = 0; at < (best[name]?.length ?? 0); ) {
        const rest = [...(best[name] ?? [])];
        rest.splice(at, size);
        if (!(await tryPlan({ ...best, [name]: rest }))) at += size;
      }
  }

  for (let before = ""; before !== JSON.stringify(best) && plays < MAX_PLAYS; ) {
    before = JSON.stringify(best);
    await leaveOut("fates");
    await leaveOut("deeds");
    for (let nodes = 1; nodes < best.nodes; nodes++) if (await tryPlan({ ...best, nodes })) break;
    if (!(await tryPlan({ ...best, choices: 0 }))) {
      let [low, high] = [0, best.choices ?? first.choices];
      while (high - low > 1) {
        const choices = Math.floor((low + high) / 2);
        if (await tryPlan({ ...best, choices })) high = choices;
        else low = choices;
      }
    }
  }
  return best;
}

/** What is written all the time, also where there is nothing to do. */
const DULL =
  /^(?:select |transaction$|answer |insert (?:nodes|changes|repeated_work)$|update (?:messaging_channels|webhook_callbacks)$|in one transaction: update jobs(?:, update jobs)?$)/;

/** The steps of a run for people: what says nothing new is left out. */
export function stepsOf(trace: readonly string[]): readonly string[] {
  const last = new Map<string, string>();
  return trace.filter((line) => {
    const [, who = "", what = ""] = /^\S+ (.*?): (.*)$/s.exec(line) ?? [];
    if (DULL.test(what) || last.get(who) === what) return false;
    last.set(who, what);
    return true;
  });
}
