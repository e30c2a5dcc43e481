/** From two files to what can be installed. Finds every reason against it and writes nothing. */
import { ANY_TOOL, type Capabilities, type Choices } from "../../capabilities/capabilities.ts";
import { describeCapabilities } from "../../capabilities/describe.ts";
import { CapabilitiesError } from "../../capabilities/parse.ts";
import type { PrivateHosts } from "../../kernel/kit/outbound.ts";
import { isRecord } from "../../kernel/kit/text.ts";
import { isAgentsName, reservedPrefix } from "../../kernel/kit/tools.ts";
import { Fault, type JsonSchema, reason } from "../../kernel/plugin.ts";
import { assertAsked, type ComponentInfo, inspect, readOutline, WIT_VERSION } from "../compile/component.ts";
import {
  type ComponentSource,
  createComponent,
  introductionOf,
  knownOutline,
  prepare,
} from "../compile/transpile.ts";
import type { Description, Pool } from "../sandbox/pool.ts";
import { type Candidate, digestOf, parseCapabilities } from "./catalog.ts";
import type { CodeCache } from "./code-cache.ts";

/** Loads a component far enough to know that it would run; throws a fault with the reason where it would not. */
export type Introduce = (
  component: Uint8Array,
  digest: string,
  capabilities: Capabilities,
) => Promise<Introduction>;

export interface Introduction extends Description {
  /** Imports that it asks for and does not get. */
  readonly denied?: readonly string[];
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
// Common clients bring tools of these names themselves.
const RESERVED_NAMES = ["get_weather", "exec_command", "write_stdin", "view_image", "request_user_input"];
const MAX_DESCRIPTION = 4096;
const MAX_SCHEMA = 64 * 1024;

export function checkName(name: string): void {
  const refuse = (why: string) => {
    throw new Fault("invalid", "tool_name", `"${name}" is not a valid tool name: ${why}`, {
      param: "name",
      usage: true,
    });
  };
  if (!NAME.test(name)) refuse("use 1 to 64 letters, digits, underscores and hyphens");
  const lower = name.toLowerCase();
  const prefix = reservedPrefix(lower);
  if (prefix !== undefined) refuse(`names starting with ${prefix} are reserved for the agent`);
  if (isAgentsName(lower)) refuse("it is reserved for the agent");
  if (isReservedName(name)) refuse("common clients use that name for their own tool");
}

export function isReservedName(name: string): boolean {
  return RESERVED_NAMES.includes(name.toLowerCase());
}

export async function examine(
  component: Uint8Array,
  capabilitiesText: string,
  introduce: Introduce,
  privateHosts: PrivateHosts,
  choices: Choices = { settings: {}, privateHosts: [] },
): Promise<Candidate> {
  const capabilities = readCapabilities(capabilitiesText, choices);
  const digest = digestOf(component);
  const { description, schema, problem, denied = [] } = await introduce(component, digest, capabilities);
  if (description.trim() === "" || description.length > MAX_DESCRIPTION)
    throw refusal(
      "tool_description",
      `description() returned ${description.length} characters; it must be 1 to ${MAX_DESCRIPTION}, because the model reads it`,
    );
  return {
    component,
    capabilitiesText,
    capabilities,
    choices,
    digest,
    description,
    schema: readSchema(schema, problem),
    grants: [
      ...describeCapabilities(capabilities, privateHosts),
      ...denied.map((what) => `asks for ${what}; gets none`),
    ],
  };
}

export function readCapabilities(text: string, choices?: Choices): Capabilities {
  let capabilities: Capabilities;
  try {
    capabilities = parseCapabilities(text, choices);
  } catch (error) {
    if (!(error instanceof CapabilitiesError)) throw error;
    throw refusal("tool_capabilities", error.message, error);
  }
  if (capabilities.witVersion !== WIT_VERSION)
    throw refusal(
      "tool_wit_version",
      `wit_version is "${capabilities.witVersion}", but this Postern uses ${WIT_VERSION}: build the tool against this version's wit/tool.wit and write "${WIT_VERSION}"`,
    );
  return capabilities;
}

function readSchema(text: string, problem: string | undefined): JsonSchema {
  const refuse = (why: string, cause?: unknown) => refusal("tool_schema", `schema() ${why}`, cause);
  if (text.length > MAX_SCHEMA)
    throw refuse(`returned ${text.length} characters; at most ${MAX_SCHEMA} are allowed`);
  let schema: unknown;
  try {
    schema = JSON.parse(text);
  } catch (error) {
    throw refuse(`did not return JSON: ${reason(error)}`, error);
  }
  if (!isRecord(schema)) throw refuse("must return a JSON object");
  const { type } = schema;
  // Model providers take nothing else for a function's parameters.
  if (type !== "object")
    throw refuse(`must have "type": "object" at the top, got ${JSON.stringify(type) ?? "nothing"}`);
  if (problem !== undefined) throw refuse(`did not return a usable JSON Schema: ${problem}`);
  return schema;
}

function refusal(code: string, message: string, cause?: unknown): Fault {
  return new Fault("invalid", code, message, { cause });
}

/** Every check of an install; installs nothing, and where it throws leaves nothing behind. */
export type Examine = (
  component: Uint8Array,
  capabilitiesText: string,
  progress?: (line: string) => void,
  choices?: Choices,
) => Promise<Candidate>;

/** `mayCallAny`: whether the component with this digest is ours, and may call every tool. */
export function createExamination(
  code: CodeCache,
  pool: Pool,
  privateHosts: PrivateHosts,
  mayCallAny: (digest: string) => Promise<boolean>,
  hasWorkspace: boolean,
): Examine {
  const deniedTo = ({ denied }: ComponentInfo, { files }: Capabilities) =>
    hasWorkspace || files.length === 0 ? denied : [...denied, "files of the workspace, which is off"];
  return async (component, capabilitiesText, progress = () => {}, choices) => {
    try {
      const introduce: Introduce = async (bytes, sha256, granted) => {
        const source: ComponentSource = {
          sha256,
          read: async () => bytes,
          cache: code.folder,
          memoryMb: granted.limits.memoryMb,
          onProgress: progress,
        };
        const outline = (await knownOutline(source)) ?? (await readOutline(bytes));
        const info = await inspect(bytes, outline);
        assertAsked(info, granted);
        if (granted.agentTools.includes(ANY_TOOL) && !(await mayCallAny(sha256)))
          throw refusal(
            "tool_capabilities",
            `agent_tools may be ["${ANY_TOOL}"] only for the run-code that comes with Postern: name the tools that this one calls`,
          );
        const known = (await introductionOf(sha256))?.description;
        const denied = deniedTo(info, granted);
        if (known !== undefined) return { ...known, denied };
        // Beforehand, since a slow machine may transpile for longer than a component may describe itself.
        await prepare({ ...source, outline });
        return { ...(await pool.describe(createComponent(source))), denied };
      };
      return await examine(component, capabilitiesText, introduce, privateHosts, choices);
    } catch (error) {
      await code.drop(digestOf(component));
      throw error;
    }
  };
}
