/** A parsed file of an MCP server. The file has snake_case names, the code uses these. */
export interface ServerFile {
  readonly target: ServerTarget;
  /** The tools by their names on the server; undefined for all. */
  readonly allow: readonly string[] | undefined;
  /** Undefined for those that the server marks read-only and the operator has approved. */
  readonly withoutAsking: readonly string[] | undefined;
  readonly rateLimit: { readonly perMinute: number; readonly perHour: number };
  readonly limits: { readonly timeoutSecs: number; readonly answerBytes: number };
}

export type ServerTarget =
  | {
      readonly type: "http";
      readonly url: string;
      /** The operator agreed that it is on this machine or the local network. */
      readonly isPrivate: boolean;
      readonly credential: ServerCredential;
    }
  /** `env` has names; the values are secrets of the server. */
  | { readonly type: "command"; readonly command: readonly string[]; readonly env: readonly string[] };

export interface ServerCredential {
  readonly secretName: string;
  /** False if the file names none: then it is used if it is set, and asked for if the server requires it. */
  readonly isNamed: boolean;
  readonly perUser: boolean;
  readonly location:
    | { readonly type: "bearer" }
    | { readonly type: "header"; readonly name: string; readonly prefix: string };
  readonly oauth: {
    readonly clientId: string | undefined;
    readonly clientSecretSecret: string | undefined;
    readonly scopes: readonly string[];
  };
}
