/** A parsed capabilities file: everything a tool may do. The file has snake_case names, the code uses these. */
export interface Capabilities {
  readonly version: string;
  readonly witVersion: string;
  readonly http: HttpCapabilities | undefined;
  readonly limits: { readonly memoryMb: number; readonly timeoutSecs: number };
  readonly secretNames: readonly string[];
  readonly auth: AuthSetup | undefined;
  readonly requiredSecrets: readonly { readonly name: string; readonly prompt: string }[];
  /** The role of each param, by its name; the roles of others are guessed. */
  readonly params: Readonly<Record<string, ParamRole>>;
  readonly settings: readonly Setting[];
  /** Set if the tool may remember something for each user. */
  readonly state: { readonly maxMb: number } | undefined;
  /** Names of the tools that it may call; `ANY_TOOL` for all. */
  readonly agentTools: readonly string[];
  /** Folders of the user's workspace; none of them is there twice. */
  readonly files: readonly GrantedFolder[];
}

/** Everything below a path, such as `/reports`; `/` is the whole workspace. Who may write may read, too. */
export interface GrantedFolder {
  readonly path: string;
  readonly access: "read" | "write";
}

export type SettingFormat = "text" | "host" | "url" | "number" | "boolean";

/** A choice of the operator for one installation, such as the address of a server. Never a secret: the tool reads it. */
export interface Setting {
  readonly name: string;
  readonly description: string;
  readonly format: SettingFormat;
  readonly isRequired: boolean;
  readonly default: string | undefined;
  /** The operator's value, else the default; undefined if there is neither. */
  readonly value: string | undefined;
}

/** The operator's choices for one installation. */
export interface Choices {
  /** Values by the names of settings. */
  readonly settings: Readonly<Record<string, string>>;
  /** As `host:port`: hosts of settings that may be private, use another port or plain http, because the operator agreed. */
  readonly privateHosts: readonly string[];
}

/** A param says where a call goes, what it carries there, or which thing it is about. */
export type ParamRole = "destination" | "content" | "selector";

export interface HttpCapabilities {
  readonly allowlist: readonly AllowRule[];
  readonly rateLimit: { readonly perMinute: number; readonly perHour: number };
  readonly timeoutSecs: number;
  readonly credentials: readonly Credential[];
  /** Redirects are followed; each goes only where the rules allow a first request. */
  readonly redirects: boolean;
  /** The tool gets the text of a PDF document, which Postern reads, instead of the document. */
  readonly pdfAsText: boolean;
  /** As `host:port`: the operator's exceptions for this installation, beside those for all tools. */
  readonly privateHosts: readonly string[];
}

/** In place of a tool's name: whatever the conversation may use. Only for the shipped run-code. */
export const ANY_TOOL = "*";

/** In place of a host: any public web page. */
export const ANY_HOST = "*";

export interface AllowRule {
  /** A name, `*.suffix` or `ANY_HOST`; empty where it is that of a setting without a value, so that it allows nothing. */
  readonly host: string;
  /** The setting that the host comes from. */
  readonly setting?: string;
  readonly pathPrefix: string;
  readonly methods: readonly string[];
}

export interface Credential {
  /** The key in `http.credentials`. */
  readonly name: string;
  readonly secretName: string;
  /** The tool can be called without it. */
  readonly isOptional: boolean;
  readonly location: CredentialLocation;
  readonly hostPatterns: readonly string[];
}

export type CredentialLocation =
  | { readonly type: "bearer" }
  /** The name comes from `setting`, if there is one; it is empty while that setting has no value. */
  | { readonly type: "basic"; readonly username: string; readonly setting?: string }
  | { readonly type: "header"; readonly name: string; readonly prefix: string }
  | { readonly type: "query_param"; readonly name: string }
  | { readonly type: "url_path"; readonly placeholder: string };

export interface AuthSetup {
  readonly secretName: string;
  readonly displayName: string;
  readonly instructions: string;
  readonly setupUrl: string | undefined;
  readonly tokenHint: string | undefined;
  readonly envVar: string | undefined;
  readonly oauth: OAuthSetup | undefined;
}

export interface OAuthSetup {
  readonly authorizationUrl: string;
  readonly tokenUrl: string;
  readonly clientId: string | undefined;
  readonly clientIdSecret: string | undefined;
  readonly clientSecretSecret: string | undefined;
  readonly scopes: readonly string[];
}
