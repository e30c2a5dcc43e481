/** A list that is handed out in pages, as routes declare it. */
import type { TSchema } from "typebox";
import { named, nullable } from "../schema/declare.ts";
import { Type } from "../schema/type.ts";

/** Pass the `next` of a page as `before` for the following page; it is null at the end. */
export const pageFields = <const Name extends string, Item extends TSchema>(name: Name, item: Item) => ({
  items: named(name, Type.Array(item)),
  next: nullable(Type.String()),
});

export const pageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
  before: Type.Optional(Type.String({ description: "`next` of the page before" })),
};
