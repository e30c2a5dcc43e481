/** Tables in the store, and lists in pages. */

export { badCursor, pageOf, pageSize, readNumber } from "../vocabulary/page.ts";
export type {
  AgingRows,
  Changes,
  KeptBytes,
  Keyring,
  LimitVerdict,
  Migration,
  Migrations,
  OwnedTables,
  SealedPlace,
  SqlValue,
} from "../vocabulary/store.ts";
export { defineTables } from "../vocabulary/tables.ts";
