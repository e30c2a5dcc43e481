/** Who the agent is and whom it serves: files of the operator, and documents of the user in memory. */
import type { Services } from "../../kernel/plugin.ts";
import type { Preface } from "../agent/services.ts";

const MAX_LENGTH = 16_000;

/** The sections of the prompt; none where nobody wrote any. */
export async function identitySections(
  files: Pick<Services["homeFiles"], "identity" | "read">,
  memory: Pick<Services["memory"], "read"> | undefined,
  user: string,
): Promise<Preface["sections"]> {
  const sections = await Promise.all(
    files.identity.map(async ({ name, about }) => {
      const [shared = "", own] = await Promise.all([
        files.read(name, MAX_LENGTH * 4),
        memory?.read(user, name),
      ]);
      return [
        { text: shared, whose: "from the operator", isMemory: false },
        { text: own?.text ?? "", whose: "from this user's memory", isMemory: true },
      ].flatMap(({ text, whose, isMemory }) =>
        text.trim() === ""
          ? []
          : [
              {
                text: `## ${name} (${about}, ${whose})\n${cap(text.trim())}`,
                isPersons: true as const,
                isMemory,
                ...(isMemory && { topic: name }),
              },
            ],
      );
    }),
  );
  return sections.flat();
}

function cap(text: string): string {
  return text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH)}\n[… truncated …]`.toWellFormed();
}
