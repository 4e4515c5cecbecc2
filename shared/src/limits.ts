import { API_LIMITS } from './limits/api.ts';
import { BUILD_LIMITS } from './limits/builds.ts';
import { COMPONENT_LIMITS } from './limits/components.ts';
import { CONNECTED_ACCOUNT_LIMITS } from './limits/connected-accounts.ts';
import { CONNECTION_LIMITS } from './limits/connections.ts';
import { DELIVERY_LIMITS } from './limits/delivery.ts';
import { EGRESS_LIMITS } from './limits/egress.ts';
import { EVENT_LIMITS } from './limits/events.ts';
import { FILTER_LIMITS } from './limits/filters.ts';
import { HISTORY_LIMITS } from './limits/history.ts';
import { IDEMPOTENCY_LIMITS } from './limits/idempotency.ts';
import { INGRESS_LIMITS } from './limits/ingress.ts';
import { NODE_LIMITS } from './limits/node.ts';
import { PROP_LIMITS } from './limits/props.ts';
import { REPLAY_LIMITS } from './limits/replays.ts';
import { RUN_LIMITS } from './limits/runs.ts';
import { SANDBOX_LIMITS } from './limits/sandbox.ts';
import { SECRET_LIMITS } from './limits/secrets.ts';
import { SEND_LIMITS } from './limits/sends.ts';
import { STORE_LIMITS } from './limits/stores.ts';
import { STREAM_LIMITS } from './limits/streams.ts';
import { TRACE_LIMITS } from './limits/traces.ts';
import { TUNNEL_LIMITS } from './limits/tunnels.ts';
import { WEB_LIMITS } from './limits/web.ts';
import { WORKFLOW_LIMITS } from './limits/workflows.ts';

/**
 * Limits of the platform, with the unit in the name; those that hold for one account and can be set
 * are in `account-limits.ts`. None of these is set from outside. Each is in the group of what it
 * bounds, and no name is in two of them. docs/configuration.md lists them all, and a test holds the
 * two together.
 */
export const LIMITS = {
  ...INGRESS_LIMITS,
  ...CONNECTION_LIMITS,
  ...API_LIMITS,
  ...IDEMPOTENCY_LIMITS,
  ...COMPONENT_LIMITS,
  ...BUILD_LIMITS,
  ...PROP_LIMITS,
  ...SECRET_LIMITS,
  ...CONNECTED_ACCOUNT_LIMITS,
  ...STORE_LIMITS,
  ...HISTORY_LIMITS,
  ...SANDBOX_LIMITS,
  ...RUN_LIMITS,
  ...WORKFLOW_LIMITS,
  ...EVENT_LIMITS,
  ...FILTER_LIMITS,
  ...TRACE_LIMITS,
  ...STREAM_LIMITS,
  ...TUNNEL_LIMITS,
  ...EGRESS_LIMITS,
  ...DELIVERY_LIMITS,
  ...REPLAY_LIMITS,
  ...SEND_LIMITS,
  ...NODE_LIMITS,
  ...WEB_LIMITS,
} as const;
