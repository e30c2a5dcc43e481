/** The bill of materials is what CycloneDX 1.6 asks for, as far as its required fields, names and references go. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { Ajv } from "ajv";
import { expect, test } from "vitest";
import { ROOT } from "../support/clone.ts";
import { temporaryFolder } from "../support/home.ts";

const text = { type: "string", minLength: 1 };
const PURL = { type: "string", pattern: "^pkg:npm/(?:%40[^/@]+/)?[^/@]+@\\S+$" };
const component = {
  type: "object",
  required: ["type", "name", "bom-ref", "version", "licenses", "purl"],
  additionalProperties: false,
  properties: {
    type: { enum: ["application", "library"] },
    "bom-ref": text,
    name: text,
    version: text,
    scope: { enum: ["required", "optional"] },
    purl: PURL,
    licenses: {
      type: "array",
      minItems: 1,
      // Only one expression, or any number of licences.
      maxItems: 1,
      items: {
        type: "object",
        required: ["expression"],
        additionalProperties: false,
        properties: { expression: text },
      },
    },
    hashes: {
      type: "array",
      items: {
        type: "object",
        required: ["alg", "content"],
        properties: { alg: { const: "SHA-512" }, content: { type: "string", pattern: "^[a-f0-9]{128}$" } },
      },
    },
    properties: { type: "array", items: { type: "object", required: ["name", "value"] } },
  },
};
const BOM = {
  type: "object",
  required: ["bomFormat", "specVersion", "serialNumber", "version", "metadata", "components", "dependencies"],
  additionalProperties: false,
  properties: {
    bomFormat: { const: "CycloneDX" },
    specVersion: { const: "1.6" },
    serialNumber: {
      type: "string",
      pattern: "^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
    },
    version: { type: "integer", minimum: 1 },
    metadata: {
      type: "object",
      required: ["timestamp", "component"],
      properties: { timestamp: { type: "string", pattern: "^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z$" }, component },
    },
    components: { type: "array", minItems: 1, uniqueItems: true, items: component },
    dependencies: {
      type: "array",
      uniqueItems: true,
      items: {
        type: "object",
        required: ["ref"],
        properties: { ref: text, dependsOn: { type: "array", uniqueItems: true, items: text } },
      },
    },
  },
};

test("has what CycloneDX 1.6 requires, each package once, and no reference to anything else", () => {
  const file = join(temporaryFolder(), "sbom.json");
  execFileSync(process.execPath, [".package/sbom.ts", relative(ROOT, file)], { cwd: ROOT, stdio: "pipe" });
  const bom = JSON.parse(readFileSync(file, "utf8"));
  const check = new Ajv({ allErrors: true }).compile(BOM);
  check(bom);
  expect(check.errors).toBe(null);
  const known = [bom.metadata.component, ...bom.components].map((one) => one["bom-ref"]);
  expect(new Set(known).size).toBe(known.length);
  const named = bom.dependencies.flatMap(({ ref, dependsOn = [] }: { ref: string; dependsOn?: string[] }) => [
    ref,
    ...dependsOn,
  ]);
  expect(new Set(named).difference(new Set(known))).toEqual(new Set());
});
