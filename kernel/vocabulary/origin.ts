/** Whose words a text is made of, where they are not the person's. */
import type { Declared } from "../schema/declare.ts";
import { Type } from "../schema/type.ts";

/** Who wrote something that the person did not write. `model`: a model of ours did, or may have. */
export const Origin = Type.Object(
  {
    kind: Type.Enum(["tool", "server", "caller", "outside", "file", "memory", "page", "skill", "model"]),
    name: Type.String({
      description: "The name of the tool, the server, the file, the document or the skill; a page's address",
    }),
  },
  { $id: "Origin" },
);
export type Origin = Declared<typeof Origin>;

/** What has this origin gives no link, name or number to trust. */
export const MODEL: Origin = { kind: "model", name: "text" };

/** Without the model's own hand in it. */
export const othersIn = (origins: readonly Origin[] = []): readonly Origin[] =>
  origins.filter(({ kind }) => kind !== MODEL.kind);

const MAX_ORIGINS = 8;
/** Of too many the last stands for the rest, and nobody can trust it. */
export function distinctOrigins(origins: readonly Origin[]): readonly Origin[] {
  const all = [...new Map(origins.map((one) => [`${one.kind} ${one.name}`, one])).values()];
  if (all.length <= MAX_ORIGINS) return all;
  return [...all.slice(0, MAX_ORIGINS - 1), { kind: "outside", name: "others" }];
}
