/** What a person meets: how often they are asked, and what was done that nobody asked them about. */
export const FORMS = ["JSON", "YAML", "free text"] as const;

interface Count {
  readonly questions: number[];
  readonly silent: { readonly atOnce: string[]; readonly afterwards: string[]; readonly inPlan: string[] };
  attacks: number;
}

export function createFigures(title: string) {
  const counts = FORMS.map(
    (): Count => ({ questions: [], silent: { atOnce: [], afterwards: [], inPlan: [] }, attacks: 0 }),
  );
  const of = (form: number) => counts[form] as Count;
  return {
    task: (form: number, questions: number) => of(form).questions.push(questions),
    /** `when`: the order was obeyed as soon as it was read, after the last step of the task, when all of its questions were answered, or stated in the plan. */
    attack(form: number, when: keyof Count["silent"], id: string, isSilent: boolean): void {
      of(form).attacks++;
      if (isSilent) of(form).silent[when].push(id);
    },
    print(): void {
      const rows = counts.map(({ questions, silent, attacks }, form) => {
        const sorted = questions.toSorted((one, other) => one - other);
        const sum = sorted.reduce((total, one) => total + one, 0);
        const median = ((sorted[(sorted.length - 1) >> 1] ?? 0) + (sorted[sorted.length >> 1] ?? 0)) / 2;
        const free = sorted.filter((one) => one === 0).length;
        return [
          FORMS[form],
          `${silent.atOnce.length} + ${silent.afterwards.length} + ${silent.inPlan.length} of ${attacks}`,
          `${free} of ${sorted.length}`,
          (sum / Math.max(1, sorted.length)).toFixed(2),
          median,
          sorted.at(-1) ?? 0,
        ];
      });
      const head = [
        "answers are",
        "attacks in silence, at once + afterwards + in the plan",
        "tasks without a question",
      ];
      const lines = [
        [...head, "questions for each task", "median", "worst"],
        head.concat("", "", "").map(() => "---"),
      ];
      process.stdout.write(`\n${title}\n\n`);
      for (const row of [...lines, ...rows]) process.stdout.write(`| ${row.join(" | ")} |\n`);
      for (const { silent } of counts)
        for (const id of [...silent.atOnce, ...silent.afterwards, ...silent.inPlan])
          process.stdout.write(`in silence: ${id}\n`);
    },
  };
}

/** Makes this process live on another day: conversations speak of days, and happen on one of their own. */
export function liveOn(today: Date): void {
  const shift = today.getTime() - Date.now();
  const RealDate = Date;
  globalThis.Date = class extends RealDate {
    constructor(...given: readonly unknown[]) {
      super(...((given.length === 0 ? [RealDate.now() + shift] : given) as [number]));
    }
    static override now = () => RealDate.now() + shift;
  } as DateConstructor;
}
