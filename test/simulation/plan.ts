/** What a seed stands for. */
import { random } from "../support/services/chat-model.ts";
import { approvalsPart } from "./approvals.ts";
import { callbacksPart } from "./callbacks.ts";
import { jobsPart } from "./jobs.ts";
import { limitsPart } from "./limits.ts";
import { messagesPart } from "./messages.ts";
import { ownToolsPart } from "./own-tools.ts";
import { promptnessPart } from "./promptness.ts";
import { routinesPart, spendingPart } from "./routines.ts";
import { steeringPart } from "./steering.ts";
import { workspacePart } from "./workspace.ts";
import { type Part, type Plan, TROUBLE_MS } from "./world.ts";

export const parts = (): readonly Part[] => [
  jobsPart(),
  ownToolsPart(),
  routinesPart(),
  spendingPart(),
  limitsPart(),
  approvalsPart(),
  workspacePart(),
  callbacksPart(),
  messagesPart(),
  steeringPart(),
  promptnessPart(),
];

/** The more often a kind is here, the more of it happens. */
const KINDS = [
  ...["submit", "submit", "submit", "routine", "take", "take", "ask", "write", "write", "undo"],
  ...["call", "call", "chat", "chat", "chat"],
];
const MAX_DEEDS = 12;
/** How many worlds know few kinds, which then meet more often than in a world where everything happens once. */
const NARROW = 0.5;
const FEW_KINDS = 3;
/** In how many worlds people talk, up to three of them. */
const TALKS = 0.4;
/** In how many of those with one node, where things fail, they do nothing else: there a plugin may be unloaded while the disk is full. */
const ONLY_TALKS = 0.5;
const MAX_RATE = 0.15;
const QUIET = 0.2;
/** Those of a quiet world come close together, so that work has to wait for other work. */
const QUIET_HASTE = 0.1;

export function planOf(seed: number): Plan {
  const chance = random(seed ^ 0x9a1a);
  const isFleet = chance() < 0.75;
  const count = 2 + Math.floor(chance() * (MAX_DEEDS - 1));
  const isQuiet = random(seed ^ 0x5c11e7)() < QUIET;
  const narrow = random(seed ^ 0x3a770);
  const kindOf = () => KINDS[Math.floor(narrow() * KINDS.length)] as string;
  const kinds = narrow() < NARROW ? Array.from({ length: FEW_KINDS }, kindOf) : KINDS;
  const talk = random(seed ^ 0x7a1c);
  const talks = talk() < TALKS ? 1 + Math.floor(talk() * 3) : 0;
  const onlyTalks = talks > 0 && !isFleet && !isQuiet && talk() < ONLY_TALKS;
  const span = TROUBLE_MS * 0.7 * (isQuiet ? QUIET_HASTE : 1);
  return {
    seed,
    isFleet,
    isQuiet,
    nodes: isFleet ? 2 + Math.floor(chance() * 2) : 1,
    rate: isQuiet ? 0 : chance() ** 2 * MAX_RATE,
    deeds: [
      ...Array.from({ length: onlyTalks ? 0 : count }, (_, number) => ({
        at: Math.floor(chance() * span),
        kind: kinds[Math.floor(chance() * kinds.length)] as string,
        number,
      })),
      ...Array.from({ length: talks }, (_, at) => ({
        at: Math.floor(talk() * span),
        kind: "talk",
        number: count + at,
      })),
    ],
  };
}
