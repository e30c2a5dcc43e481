/** Keyv's SQLite adapter. The published package has this file bundled: installed, the adapter compiles another SQLite. */
export { default, type SqliteDriver } from "@keyv/sqlite";
