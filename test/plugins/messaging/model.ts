/** Random plans for the model, and what has to hold after every run of one, whatever happened in it. */
import { expect } from "vitest";
import { type Outcome, type Plan, random } from "../../support/services/chat-model.ts";

export const TELLINGS = ["keys", "lookUp", "nothing"] as const;

export function planOf(seed: number, telling: Plan["telling"], engine: "sqlite" | "postgres"): Plan {
  const chance = random(seed ^ 0x5eed);
  const isFleet = engine === "postgres" && chance() < 0.7;
  const messages = 3 + Math.floor(chance() * 8);
  return {
    seed,
    telling,
    messages,
    conversations: 1 + Math.floor(chance() * 3),
    nodes: isFleet ? 2 : 1,
    cuts: isFleet ? Math.floor(chance() * 3) : 0,
    trouble: chance() * 0.6,
    crashes: Array.from({ length: Math.floor(chance() * 5) }, () => ({
      write: 1 + Math.floor(chance() * messages * 14),
      isAfter: chance() < 0.5,
    })),
  };
}

/** Returns how many messages were sent more often than once. */
export function check(plan: Plan, { taken, written, dead, needless }: Outcome): number {
  const about = JSON.stringify(plan);
  const answers = written.map(({ conversation, text }) => ({ conversation, text: `answer to ${text}` }));
  // Every accepted message is answered, in its conversation, or is on the list of dead letters.
  for (const { conversation, text } of answers) {
    const sent = taken.filter((one) => one.text === text);
    expect(sent.length + dead.filter((one) => one === text).length, `${text}: ${about}`).toBeGreaterThan(0);
    expect(
      sent.every((one) => one.conversation === conversation),
      `${text}: ${about}`,
    ).toBe(true);
  }
  // Nothing else was said.
  expect(
    taken.filter(({ text }) => !answers.some((one) => one.text === text)),
    about,
  ).toEqual([]);
  // In each conversation, answers came in the order of the messages.
  const firsts = [...new Set(taken.map(({ text }) => text))];
  for (const conversation of new Set(written.map((one) => one.conversation))) {
    const asked = answers.filter((one) => one.conversation === conversation).map(({ text }) => text);
    expect(
      firsts.filter((text) => asked.includes(text)),
      about,
    ).toEqual(asked.filter((text) => firsts.includes(text)));
  }
  const repeats = taken.length - firsts.length;
  if (plan.telling === "nothing") expect(needless, about).toBe(0);
  else expect(repeats, about).toBe(0);
  return repeats;
}
