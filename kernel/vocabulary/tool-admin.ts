/** What the tool host offers the operator's page: installing, setting up, signing in, receipts. */

import type { Declared } from "../schema/declare.ts";
import { Type } from "../schema/type.ts";
import { ToolOrigin } from "./tool-origin.ts";
import { type ToolInfo, type ToolReceipt, toolFacts } from "./tools.ts";
import type { Figures, FiguresQuery } from "./usage.ts";

/** A component with its capabilities file, as it was handed over. */
export interface ToolUpload {
  readonly component: Uint8Array;
  /** The text of the capabilities file. */
  readonly capabilities: string;
}

const proposed = {
  digest: Type.String({ description: "SHA-256 of the component" }),
  ...toolFacts,
  /** How it differs from the installed tool of that name. */
  replaces: Type.Optional(
    Type.Object({
      version: Type.String(),
      added: Type.Array(Type.String(), { description: "What the tool could not do until now, in words" }),
      removed: Type.Array(Type.String(), { description: "What it no longer may, in words" }),
    }),
  ),
};

/** What an upload would be once installed. */
export const ToolProposal = Type.Object(proposed, { $id: "ToolProposal" });
export type ToolProposal = Declared<typeof ToolProposal>;

/** What is at a reference, and what it would be once installed. */
export const ToolFinding = Type.Object(
  {
    name: Type.String(),
    ...proposed,
    origin: ToolOrigin,
    signature: Type.String({ description: "Who signed it, in words" }),
    signed: Type.Boolean({ description: "By a signer that a trust rule names" }),
  },
  { $id: "ToolFinding" },
);
export type ToolFinding = Declared<typeof ToolFinding>;

/** A tool that an index lists, to be installed by its name. */
export const ListedTool = Type.Object(
  {
    name: Type.String(),
    about: Type.String({ description: "One sentence" }),
    from: Type.String({ description: "Where it is" }),
    index: Type.String({ description: "Which index lists it; `shipped` is Postern's own" }),
    digest: Type.Optional(Type.String()),
    signer: Type.Optional(Type.String()),
  },
  { $id: "ListedTool" },
);
export type ListedTool = Declared<typeof ListedTool>;

/** What the person was shown, and agreed to. */
export interface FoundTool {
  readonly name: string;
  /** The digest of its origin, which must not have changed since. */
  readonly digest: string;
  readonly replace: boolean;
  /** Agreed to what nobody named has signed. */
  readonly allowUnsigned: boolean;
}

/** The tightest of a tool's rate limits, for one user. */
export const ToolLimits = Type.Object({
  limit: Type.Integer(),
  windowSecs: Type.Integer({ description: "What the limit is for: 60 for a minute, 3600 for an hour" }),
  remaining: Type.Integer(),
  resetSecs: Type.Integer({ description: "Until there is room again, or one place more" }),
});
export type ToolLimits = Declared<typeof ToolLimits>;

/** What a tool has to be given before it works. */
export const ToolSetup = Type.Object(
  {
    secrets: Type.Array(
      Type.Object({
        name: Type.String(),
        isSet: Type.Boolean(),
        question: Type.String({ description: "What to ask a person for" }),
        shares: Type.Optional(
          Type.String({
            description: "There is one, given to another tool, version or host: what to agree to",
          }),
        ),
        instructions: Type.Optional(Type.String({ description: "How and where to get it" })),
        url: Type.Optional(Type.String()),
      }),
    ),
    signsIn: Type.Boolean({ description: "The credential comes from signing in elsewhere" }),
  },
  { $id: "ToolSetup" },
);
export type ToolSetup = Declared<typeof ToolSetup>;

/** Where a browser brings the answer to a sign-in: whether the same one began it. A user's own is finished in no other. */
export interface SignInBrowser {
  readonly began: boolean;
}

/**
 * What the `tool` commands do, for a page: the caller is the operator, who has been shown the grants. A fault
 * of kind `invalid` says why something is refused, `missing` that there is no such tool.
 */
export interface ToolAdmin {
  /** Every check of an install under this name; changes nothing. */
  examine(name: string, upload: ToolUpload): Promise<ToolProposal>;
  /** Without `replace` a name that is taken is refused. */
  install(name: string, upload: ToolUpload, options: { readonly replace: boolean }): Promise<ToolInfo>;
  /** What the indexes list, the best match first; `problems` are sentences about what could not be read. */
  search?(words: string): Promise<{
    readonly tools: readonly ListedTool[];
    readonly problems: readonly string[];
  }>;
  /** Gets what a reference names (https://…, oci://…, npm:…, a name) and does every check of an install; changes nothing. */
  find?(reference: string, name?: string): Promise<ToolFinding>;
  /** Installs what was found, if it is still the same. */
  installFound?(reference: string, found: FoundTool): Promise<ToolInfo>;
  /** False where there is no such tool. */
  remove(name: string): Promise<boolean>;
  /** Switches a tool on again that was switched off because it kept crashing; false where it was on. */
  enable(name: string): Promise<boolean>;
  /** What this user has left of the tool's rate limit; nothing where the tool may not use the network. */
  limits(name: string, user: string): Promise<ToolLimits | undefined>;
  setup(name: string): Promise<ToolSetup>;
  /** `warning`: a sentence for the person, where the value is stored but too short to be hidden. */
  setSecret(name: string, secret: string, value: string): Promise<{ readonly warning?: string }>;
  /** Agrees to what `setup` asked in `shares`. */
  shareSecret(name: string, secret: string): Promise<void>;
  /** Where to send the browser; it comes back to `redirectUri`, which then goes to `finishSignIn`. */
  beginSignIn(name: string, redirectUri: string): Promise<{ readonly url: string }>;
  /** The tool that is signed in now; a fault where the address answers no sign-in that was begun here. */
  finishSignIn(redirected: URL, browser?: SignInBrowser): Promise<{ readonly tool: string }>;
  /** Lists the newest first. */
  receipts(query: {
    readonly tool?: string;
    readonly user?: string;
    readonly limit?: number;
  }): Promise<readonly ToolReceipt[]>;
  receipt(id: string): Promise<ToolReceipt | undefined>;
  /** Calls of tools, counted from the receipts that are kept. */
  usage(query: FiguresQuery): Promise<Figures>;
}
