/** Brings `models.json` up to date: `node plugins/models/table/make.ts <models.dev's api.json>`. A person reads the difference before it is committed. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readModelsDev } from "./models-dev.ts";

const FILE = join(import.meta.dirname, "models.json");
const read = (file: string) => JSON.parse(readFileSync(file, "utf8"));

const [source = ""] = process.argv.slice(2);
const today = new Date().toISOString().slice(0, 10);
writeFileSync(FILE, JSON.stringify(readModelsDev(read(source), read(FILE), today)));
execFileSync("biome", ["format", "--write", FILE]);
