/** Services that the webhook channel offers to other plugins. */
import type { Integration } from "./integration.ts";

export interface NewIntegration {
  readonly name: string;
  readonly user: string;
  readonly message?: string;
}

export interface Integrations {
  /** The secret is the sender's to keep. */
  add(given: NewIntegration): Promise<{ readonly integration: Integration; readonly secret: string }>;
  list(): Promise<readonly Integration[]>;
  /** False where there was none. From then on its secret opens nothing. */
  remove(name: string): Promise<boolean>;
}

declare module "../../kernel/plugin.ts" {
  interface Services {
    integrations: Integrations;
  }
}
