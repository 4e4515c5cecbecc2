/** Members of the server's answers that the CLI reads; --json prints answers unchanged. */
export interface Source {
  id: string;
  component_id: string;
  name: string;
  name_slug: string;
  active: boolean;
  configured_props: Record<string, unknown>;
  configurable_props: ComponentProp[];
  preflight: 'allow' | 'run';
  durability: 'stored' | 'none';
  created_at: number;
  updated_at: number;
  last_event_at: number | null;
  last_error: { at: number; message: string | null } | null;
}

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

export interface Delivery {
  id: string;
  webhook_id: string;
  emitter_id: string;
  event_id: string;
  status: string;
  error_class: string | null;
  attempts: DeliveryAttempt[];
  next_attempt_at: number | null;
  created_at: number;
}

export interface DeliveryAttempt {
  id: string;
  at: string;
  trigger: string | null;
  status_code: number | null;
  error: string | null;
  error_class: string | null;
  duration_ms: number;
  phases: Record<`${'dns' | 'connect' | 'tls' | 'first_byte' | 'end'}_ms`, number | null> | null;
  reused: boolean;
  remote_address: string | null;
  location: string | null;
  request_headers: Record<string, string> | null;
  response_headers: Record<string, string> | null;
  response: string | null;
  next_attempt_at: string | null;
}

export interface Webhook {
  id: string;
  name: string | null;
  description: string | null;
  url: string;
  format: string;
  method?: string;
  auth?: { type: string } | null;
  transform_id: string | null;
  active: boolean;
  /** Why the server stopped it; null where its owner did. */
  disabled_reason: 'failing' | 'gone' | null;
  created_at: number;
  /** Null where receivers verify with `public_key`. */
  secret?: string | null;
  public_key?: string | null;
}

export interface ApiKey {
  id: string;
  name: string;
  hint: string;
  scopes: string[];
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
  resource: string | null;
  last_used_at: number | null;
}

export interface Replay {
  /** Null for a dry run. */
  id: string | null;
  status: string;
  error: string | null;
  emitter_id: string;
  listener_id: string;
  count: number;
  count_is_complete: boolean;
  delivered_before: number;
  sent: number;
  warning: string | null;
  /** Epoch milliseconds. */
  created_at: number;
}

export interface ConnectedAccount {
  id: string;
  name: string | null;
  app: { name_slug: string; name: string; auth_type: string };
  oauth_uid: string | null;
  healthy: boolean;
  dead: boolean;
  created_at: number;
}

/** With the provider's verdict on the keys. */
export interface CheckedAccount extends ConnectedAccount {
  check: { conclusive: boolean; detail: string };
}

export interface App {
  name_slug: string;
  name: string;
  auth_type: 'none' | 'keys' | 'oauth2';
  private: boolean;
  hides_catalogue: boolean;
  fields: { name: string; label: string; secret?: boolean; optional?: boolean }[];
}

export interface OAuthClient {
  app: { name_slug: string; name: string };
  client_id: string;
  has_secret: boolean;
}

export interface User {
  id: string;
  username: string;
  email: string | null;
  orgs: { id: string; name: string }[];
  quotas: Record<string, { used: number; limit: number | null }>;
}

export interface EnvironmentVariable {
  name: string;
  description: string | null;
  updated_at: number;
}

/** A record of `event_summaries`: an event, or a line of a log. */
export interface EventRecord {
  id: string;
  indexed_at_ms: number;
  event: unknown;
  event_truncated?: boolean;
  metadata: { emit_id: string; emitter_id: string; name: string; summary: string | null; ts: number | null };
}

export interface ImportProgress {
  id: string;
  status: 'running' | 'done';
  total: number;
  succeeded: number;
  failed: number;
  components: {
    path: string;
    status: 'ok' | 'failed';
    key: string | null;
    version: string | null;
    error: string | null;
  }[];
}
