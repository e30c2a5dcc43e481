/** Message ids of ours: the same for every try, and with the conversation in them, so that an answer finds its way back. */
import { createHash } from "node:crypto";

const PREFIX = "postern";
const HASH_LENGTH = 22;

export type OwnIds = ReturnType<typeof createOwnIds>;

export function createOwnIds(address: string) {
  const domain = address.slice(address.lastIndexOf("@") + 1);
  const pattern = new RegExp(`^<${PREFIX}\\.[\\w-]{${HASH_LENGTH}}\\.([\\w-]{${HASH_LENGTH}})@`);
  const threadIn = (id: string) => (id.endsWith(`@${domain}>`) ? pattern.exec(id)?.[1] : undefined);
  return {
    of: (key: string, conversation: string) =>
      `<${PREFIX}.${digest(key)}.${threadOf(conversation)}@${domain}>`,
    isOwn: (id: string) => threadIn(id) !== undefined,
    /** Names the conversation of a person that a mail with these references belongs to, oldest first. */
    conversationOf(sender: string, references: readonly string[]) {
      const known = references.map(threadIn).findLast((thread) => thread !== undefined);
      return `${sender}/${known ?? digest(references[0] ?? "")}`;
    },
  };
}

/** The person that a conversation is with. */
export function addressIn(conversation: string): string {
  const at = conversation.lastIndexOf("/");
  return at < 0 ? conversation : conversation.slice(0, at);
}

/** Short enough for a header, long enough that nobody finds two that are the same. */
export function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, HASH_LENGTH);
}

function threadOf(conversation: string): string {
  const thread = conversation.slice(conversation.lastIndexOf("/") + 1);
  return /^[\w-]+$/.test(thread) && thread.length === HASH_LENGTH ? thread : digest(conversation);
}
