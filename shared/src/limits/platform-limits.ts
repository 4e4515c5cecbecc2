import { API_LIMITS } from './api.ts';
import { BUILD_LIMITS } from './builds.ts';
import { COMPONENT_LIMITS } from './components.ts';
import { CONNECTED_ACCOUNT_LIMITS } from './connected-accounts.ts';
import { CONNECTION_LIMITS } from './connections.ts';
import { defaultsOf } from './define-limits.ts';
import { DELIVERY_LIMITS } from './delivery.ts';
import { EGRESS_LIMITS } from './egress.ts';
import { EVENT_LIMITS } from './events.ts';
import { FILTER_LIMITS } from './filters.ts';
import { HISTORY_LIMITS } from './history.ts';
import { IDEMPOTENCY_LIMITS } from './idempotency.ts';
import { INGRESS_LIMITS } from './ingress.ts';
import { NODE_LIMITS } from './node.ts';
import { PEOPLE_LIMITS } from './people.ts';
import { PROP_LIMITS } from './props.ts';
import { REPLAY_LIMITS } from './replays.ts';
import { RUN_LIMITS } from './runs.ts';
import { SANDBOX_LIMITS } from './sandbox.ts';
import { SECRET_LIMITS } from './secrets.ts';
import { SEND_LIMITS } from './sends.ts';
import { STORE_LIMITS } from './stores.ts';
import { STREAM_LIMITS } from './streams.ts';
import { TRACE_LIMITS } from './traces.ts';
import { TUNNEL_LIMITS } from './tunnels.ts';
import { WEB_LIMITS } from './web.ts';
import { WORKFLOW_LIMITS } from './workflows.ts';

/**
 * The limits of the platform by area, under the headings of docs/configuration.md. Nothing sets
 * them from outside; limits of an account, which an operator sets, are in `account-limits.ts`. No
 * name is in two tables.
 */
export const PLATFORM_LIMITS = {
  'Requests as they arrive': INGRESS_LIMITS,
  'Connections of clients': CONNECTION_LIMITS,
  'The REST API': API_LIMITS,
  'Idempotency keys': IDEMPOTENCY_LIMITS,
  Components: COMPONENT_LIMITS,
  'Builds and packages': BUILD_LIMITS,
  Props: PROP_LIMITS,
  'Secrets and environment variables': SECRET_LIMITS,
  'Connected accounts': CONNECTED_ACCOUNT_LIMITS,
  '`$.service.db` and data stores': STORE_LIMITS,
  History: HISTORY_LIMITS,
  'Sandbox processes': SANDBOX_LIMITS,
  'Runs and timers': RUN_LIMITS,
  Workflows: WORKFLOW_LIMITS,
  Events: EVENT_LIMITS,
  Filters: FILTER_LIMITS,
  Traces: TRACE_LIMITS,
  Streams: STREAM_LIMITS,
  'Tunnels of `hw listen`': TUNNEL_LIMITS,
  'Requests to hosts outside': EGRESS_LIMITS,
  'Webhooks and deliveries': DELIVERY_LIMITS,
  Replays: REPLAY_LIMITS,
  'Sends of workflows': SEND_LIMITS,
  'Nodes and the database': NODE_LIMITS,
  'The web UI and the portal': WEB_LIMITS,
  'Members and sign-in': PEOPLE_LIMITS,
} as const;

/** The value of each of them. */
export const LIMITS = defaultsOf({
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
  ...PEOPLE_LIMITS,
});
