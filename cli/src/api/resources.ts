import type {
  apiKeySchema,
  AppField,
  appSchema,
  checkedAccountSchema,
  connectedAccountSchema,
  Delivery,
  environmentVariableSchema,
  importSchema,
  oauthClientSchema,
  Replay,
  Shown,
  sourceSchema,
  userSchema,
  webhookSchema,
  webhookSummarySchema,
} from '@headwater/shared/contract';

/*
 * The resources that the CLI reads. Most are types of the contract; no schema is loaded here. An
 * interface names less than the server answers: the members that the CLI reads, or that several
 * kinds have in common. `--json` prints answers unchanged.
 */

export type { Delivery, Replay };
export type DeliveryAttempt = Delivery['attempts'][number];
export type ApiKey = Shown<typeof apiKeySchema>;
/** With its fields, as `GET /v1/apps/{id}` shows it. */
export type App = Shown<typeof appSchema> & { fields: AppField[] };
export type CheckedAccount = Shown<typeof checkedAccountSchema>;
export type ConnectedAccount = Shown<typeof connectedAccountSchema>;
export type EnvironmentVariable = Shown<typeof environmentVariableSchema>;
export type ImportProgress = Shown<typeof importSchema>;
export type OAuthClient = Shown<typeof oauthClientSchema>;
export type Source = Omit<Shown<typeof sourceSchema>, 'configurable_props'> & { configurable_props: ComponentProp[] };
/** A list leaves out the members that only `GET /v1/webhooks/{id}` answers. */
export type Webhook = Shown<typeof webhookSummarySchema> & Partial<Shown<typeof webhookSchema>>;
export type User = Shown<typeof userSchema>;

export interface Workflow {
  id: string;
  name: string;
  name_slug?: string;
  active: boolean;
  deployment_id: string;
  version?: number;
  triggers: { id: string; type?: string; endpoint_url?: string; source_id?: string; [field: string]: unknown }[];
  steps: {
    id: string;
    namespace: string;
    component_id: string;
    props: Record<string, unknown>;
    configurable_props: ComponentProp[];
    retries: number | null;
    on_error: 'fail' | 'continue';
  }[];
  settings: Record<string, unknown>;
  created_at?: number;
  updated_at?: number;
}

export interface Execution {
  id: string;
  status: string;
  deployment_id: string | null;
  trace_id?: string;
  steps?: Record<string, ExecutionStep>;
  error?: { code: string; message: string; namespace?: string | null } | null;
  reason?: string | null;
  started_at?: number | string | null;
  ended_at?: number | string | null;
}

interface ExecutionStep {
  status?: string;
  props?: unknown;
  $return_value?: unknown;
  exports?: unknown;
  error?: { code: string; message: string } | null;
}

export interface Component {
  id: string;
  name: string;
  key: string | null;
  version: string;
  type: 'source' | 'action' | 'transform';
  description: string | null;
  published_at: number | null;
  created_at: number;
  dependencies: Record<string, string>;
  has_additional_props: boolean;
  code_url: string | null;
  /** Not in lists. */
  code?: string;
  configurable_props?: ComponentProp[];
}

/**
 * As its author wrote it, without functions: `options` is true where the component computes them.
 */
export interface ComponentProp {
  name: string;
  type: string;
  label?: string;
  description?: string;
  optional?: boolean;
  hidden?: boolean;
  options?: unknown;
  [field: string]: unknown;
}

/** A record of `event_summaries`: an event, or a line of a log. */
export interface EventRecord {
  id: string;
  indexed_at_ms: number;
  event: unknown;
  event_truncated?: boolean;
  metadata: { emit_id: string; emitter_id: string; name: string; summary: string | null; ts: number | null };
}
