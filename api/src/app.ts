import { OpenAPIHono } from '@hono/zod-openapi';
import type { App, AppOptions } from './app-options.ts';
import { findBefore } from './audit.ts';
import type { Endpoint } from './endpoint.ts';
import type { ApiContext, ApiEnv } from './environment.ts';
import { cors } from './middleware/cors.ts';
import { answerProblem, answerUnknownRoute, type AllowedMethods } from './middleware/errors.ts';
import { requestLog } from './middleware/request-log.ts';
import { mountEndpoint, routingPaths } from './mount-endpoint.ts';
import { createOpenExports } from './export-lines.ts';
import { createQueryTurns } from './query-turns.ts';
import { accountLimitEndpoints } from './routes/account-limits.ts';
import { accountSettingsEndpoints } from './routes/account-settings.ts';
import { accountEndpoints } from './routes/accounts.ts';
import { apiKeyEndpoints } from './routes/api-keys.ts';
import { appEndpoints } from './routes/apps.ts';
import { ARCHIVE_METHODS, mountArchives } from './routes/archives.ts';
import { auditEndpoints } from './routes/audit.ts';
import { autoSubscriptionEndpoints } from './routes/auto-subscriptions.ts';
import { componentPropEndpoints } from './routes/component-props.ts';
import { componentEndpoints } from './routes/components.ts';
import { dataStoreEndpoints } from './routes/data-stores.ts';
import { connectedAccountEndpoints } from './routes/connected-accounts.ts';
import { environmentEndpoints } from './routes/environment.ts';
import { stackEndpoints } from './routes/stacks.ts';
import { eventEndpoints } from './routes/events.ts';
import { executionEndpoints } from './routes/executions.ts';
import { executionActionEndpoints } from './routes/execution-actions.ts';
import { listEndpoints } from './routes/lists.ts';
import { memberEndpoints } from './routes/members.ts';
import { mountOAuth, OAUTH_CALLBACK_PATH } from './routes/oauth.ts';
import { passkeyEndpoints } from './routes/passkeys.ts';
import { portalLinkEndpoints } from './routes/portal-links.ts';
import { mountProbes, probeMethods } from './routes/probes.ts';
import { publishEndpoints } from './routes/publish.ts';
import { registryEndpoints } from './routes/registry.ts';
import { replayEndpoints } from './routes/replays.ts';
import { runEndpoints } from './routes/runs.ts';
import { sampleReceiverEndpoints } from './routes/sample-receiver.ts';
import { sendEndpoints } from './routes/sends.ts';
import { mountSession, SESSION_METHODS } from './routes/session.ts';
import { sourceEndpoints } from './routes/sources.ts';
import { statEndpoints } from './routes/stats.ts';
import { streamEndpoints } from './routes/streams.ts';
import { subscriptionEndpoints } from './routes/subscriptions.ts';
import { workflowTestEndpoints } from './routes/test-workflow.ts';
import { tunnelEndpoints } from './routes/tunnels.ts';
import { traceEndpoints } from './routes/traces.ts';
import { usageEndpoints } from './routes/usage.ts';
import { userEndpoints } from './routes/users.ts';
import { mountWaitUrls, WAIT_URL_METHODS } from './routes/wait-urls.ts';
import { webhookEndpoints } from './routes/webhooks.ts';
import { workflowEndpoints } from './routes/workflows.ts';
import { createUnfinishedBodies } from './unfinished-bodies.ts';
import { createUnreadAnswers } from './unread-answers.ts';
import { answerWeb } from './web/mount-web.ts';

/**
 * The REST API, /openapi.json, /healthz and /metrics as a plain request → response function
 * (`app.fetch`, `app.request`). Endpoints of sources (`/e/<key>`) are not in it: see
 * createIngestHandler.
 */
export function createApp(options: AppOptions): App {
  const { log } = options;
  const app: App = new OpenAPIHono<ApiEnv>({ strict: false });
  const endpoints = options.probesOnly === true ? [] : allEndpoints(options.publicUrl);
  app.use(requestLog(log, options.metrics, options.engine.tracing));
  if (options.corsOrigins?.length) app.use(cors(options.corsOrigins));
  const queries = createQueryTurns({ hasOthers: options.turns.hasOthers });
  const { unread = createUnreadAnswers(), unfinished = createUnfinishedBodies() } = options;
  const exports = createOpenExports();
  app.onError((thrown, c) => answerProblem(c, thrown, log, unread));
  for (const endpoint of endpoints) {
    const shownBy = readOf(endpoint, endpoints);
    const before = findBefore(endpoint, endpoints);
    mountEndpoint(app, endpoint, { ...options, queries, unread, unfinished, exports, shownBy, before });
  }
  if (options.probesOnly !== true) mountOAuth(app, options);
  if (options.probesOnly !== true) mountWaitUrls(app, { ...options, unfinished });
  if (options.probesOnly !== true) mountSession(app, options);
  if (options.probesOnly !== true) mountArchives(app, { ...options, exports });
  mountProbes(app, endpoints, { ...options, unread });
  const allowedMethods = methodFinder(endpoints);
  const page = (c: ApiContext) =>
    options.probesOnly === true ? undefined : answerWeb(c, options.web, options.portalFrameOrigins);
  app.notFound((c) => page(c) ?? answerUnknownRoute(c, allowedMethods, log));
  return app;
}

/**
 * The read that shows what an endpoint changes, for the same callers, and without being told more.
 */
function readOf(endpoint: Endpoint, endpoints: readonly Endpoint[]): Endpoint | undefined {
  if (endpoint.method === 'get') return undefined;
  const path = endpoint.method === 'put' ? endpoint.path : endpoint.changesLike;
  return endpoints.find(
    (one) =>
      one.method === 'get' &&
      one.path === path &&
      (one.access === endpoint.access || (one.access === 'key' && endpoint.access === 'either')) &&
      one.parameters.safeParse({}).success,
  );
}

/** `publicUrl`: as in AppOptions. */
export function allEndpoints(publicUrl = ''): Endpoint[] {
  return [
    ...accountEndpoints(),
    ...accountLimitEndpoints(),
    ...accountSettingsEndpoints(),
    ...portalLinkEndpoints(publicUrl),
    ...userEndpoints(),
    ...passkeyEndpoints(publicUrl),
    ...memberEndpoints(),
    ...apiKeyEndpoints(),
    ...auditEndpoints(),
    ...appEndpoints(),
    ...connectedAccountEndpoints(),
    ...registryEndpoints(),
    ...componentEndpoints(),
    ...componentPropEndpoints(),
    ...sourceEndpoints(),
    ...workflowEndpoints(),
    ...environmentEndpoints(),
    ...stackEndpoints(),
    ...dataStoreEndpoints(),
    ...eventEndpoints(),
    ...publishEndpoints(),
    ...streamEndpoints(),
    ...traceEndpoints(),
    ...statEndpoints(),
    ...usageEndpoints(),
    ...sampleReceiverEndpoints(),
    ...executionEndpoints(),
    ...webhookEndpoints(),
    ...tunnelEndpoints(),
    ...sendEndpoints(),
    ...subscriptionEndpoints(),
    ...autoSubscriptionEndpoints(),
    ...replayEndpoints(),
    ...workflowTestEndpoints(),
    ...executionActionEndpoints(),
    ...runEndpoints(),
    ...listEndpoints(),
  ];
}

function methodFinder(endpoints: readonly Endpoint[]): AllowedMethods {
  const methodsByPattern = new Map<string, string[]>([
    ...probeMethods(),
    [`^${OAUTH_CALLBACK_PATH}$`, ['GET']],
    ...SESSION_METHODS,
    ...ARCHIVE_METHODS,
    ...WAIT_URL_METHODS,
  ]);
  for (const endpoint of endpoints) {
    for (const path of routingPaths(endpoint.path)) {
      const pattern = `^${path.replaceAll('$', String.raw`\$`).replaceAll(/:\w+/g, '[^/]+')}/?$`;
      methodsByPattern.set(pattern, [...(methodsByPattern.get(pattern) ?? []), endpoint.method.toUpperCase()]);
    }
  }
  const compiled = [...methodsByPattern].map(([pattern, methods]) => ({ pattern: new RegExp(pattern), methods }));
  return (path) => compiled.flatMap(({ pattern, methods }) => (pattern.test(path) ? methods : []));
}
