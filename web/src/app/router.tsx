import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { BASE_PATH } from '../api/base-url.ts';
import { currentSession } from '../api/session.ts';
import { whenBack } from '../api/when-back.ts';
import { SignIn } from '../features/sign-in/sign-in.tsx';
import { Crash, NotFound } from './faults.tsx';
import { portal } from './portal.ts';
import { PortalEnded, PortalShell } from './portal-shell.tsx';
import { Shell } from './shell.tsx';

/** Search parameters are text; what is missing or of another type is left out. */
function texts<const N extends string>(...names: N[]) {
  return (search: Record<string, unknown>): { [K in N]?: string | undefined } => {
    const found = names.flatMap((name) => {
      const value = search[name];
      const isText = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
      return isText && value !== '' ? [[name, String(value)] as const] : [];
    });
    return Object.fromEntries(found) as { [K in N]?: string | undefined };
  };
}

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound, errorComponent: Crash });

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  component: portal === undefined ? SignIn : PortalEnded,
  validateSearch: ({ from, ended }: Record<string, unknown>): { from?: string; ended?: boolean } => ({
    // A path of this UI and nothing else: a link must not lead elsewhere after sign-in.
    ...(typeof from === 'string' && /^\/(?![/\\])/.test(from) ? { from } : {}),
    ...(ended === true ? { ended } : {}),
  }),
});

const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitation',
  component: lazyRouteComponent(
    whenBack(() => import('../features/sign-in/invitation.tsx')),
    'Invitation',
  ),
});

const apiReference = createRoute({
  getParentRoute: () => root,
  path: '/docs',
  component: lazyRouteComponent(
    whenBack(() => import('../features/reference/api-reference.tsx')),
    'ApiReference',
  ),
});

const passwordPages = whenBack(() => import('../features/sign-in/password-reset.tsx'));

const forgottenPassword = createRoute({
  getParentRoute: () => root,
  path: '/forgotten-password',
  component: lazyRouteComponent(passwordPages, 'ForgottenPassword'),
});

const newPassword = createRoute({
  getParentRoute: () => root,
  path: '/password',
  component: lazyRouteComponent(passwordPages, 'NewPassword'),
});

const oauthReturn = createRoute({
  getParentRoute: () => root,
  path: '/connected',
  component: lazyRouteComponent(
    whenBack(() => import('../features/connections/oauth-return.tsx')),
    'OAuthReturn',
  ),
});

const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: portal === undefined ? Shell : PortalShell,
  beforeLoad: ({ location }) => {
    if (portal !== undefined) return;
    const session = currentSession();
    // The admin key has no account: its requests for one's pages would end the session.
    if (session?.role === 'operator' && !location.pathname.endsWith('/operator')) throw redirect({ to: '/operator' });
    if (session !== undefined) return;
    throw redirect({ to: '/sign-in', search: { from: location.href } });
  },
});

const overview = createRoute({
  getParentRoute: () => shell,
  path: '/',
  validateSearch: texts('range'),
  component: lazyRouteComponent(
    whenBack(() => import('../features/overview/overview.tsx')),
    'Overview',
  ),
});

const firstRun = createRoute({
  getParentRoute: () => shell,
  path: '/first-run',
  validateSearch: texts('source', 'webhook'),
  component: lazyRouteComponent(
    whenBack(() => import('../features/onboarding/first-run.tsx')),
    'FirstRun',
  ),
});

const sampleReceiver = createRoute({
  getParentRoute: () => shell,
  path: '/sample-receiver',
  validateSearch: texts('request'),
  component: lazyRouteComponent(
    whenBack(() => import('../features/onboarding/sample-receiver.tsx')),
    'SampleReceiver',
  ),
});

/** Page for the URL of the sample receiver in a browser. */
const sampleReceiverUrl = createRoute({
  getParentRoute: () => shell,
  path: '/sample-receiver/$key',
  validateSearch: texts('request'),
  component: lazyRouteComponent(
    whenBack(() => import('../features/onboarding/sample-receiver.tsx')),
    'SampleReceiver',
  ),
});

const sources = createRoute({
  getParentRoute: () => shell,
  path: '/sources',
  validateSearch: texts('action', 'key', 'url', 'q', 'owner'),
  component: lazyRouteComponent(
    whenBack(() => import('../features/sources/source-list.tsx')),
    'SourceList',
  ),
});

const source = createRoute({
  getParentRoute: () => shell,
  path: '/sources/$id',
  validateSearch: texts('tab', 'event', 'compare', 'level', 'run'),
  component: lazyRouteComponent(
    whenBack(() => import('../features/sources/source-page.tsx')),
    'SourcePage',
  ),
});

const workflows = createRoute({
  getParentRoute: () => shell,
  path: '/workflows',
  validateSearch: texts('action', 'q'),
  component: lazyRouteComponent(
    whenBack(() => import('../features/workflows/workflow-list.tsx')),
    'WorkflowList',
  ),
});

const newWorkflow = createRoute({
  getParentRoute: () => shell,
  path: '/workflows/new',
  validateSearch: texts('step', 'event'),
  component: lazyRouteComponent(
    whenBack(() => import('../features/workflows/build/new-workflow.tsx')),
    'NewWorkflow',
  ),
});

const workflow = createRoute({
  getParentRoute: () => shell,
  path: '/workflows/$id',
  validateSearch: texts('tab', 'status', 'range', 'time', 'since', 'until', 'step', 'event', 'version'),
  component: lazyRouteComponent(
    whenBack(() => import('../features/workflows/workflow-page.tsx')),
    'WorkflowPage',
  ),
});

const execution = createRoute({
  getParentRoute: () => shell,
  path: '/executions/$id',
  validateSearch: texts('step'),
  component: lazyRouteComponent(
    whenBack(() => import('../features/workflows/execution-page.tsx')),
    'ExecutionPage',
  ),
});

const webhooks = createRoute({
  getParentRoute: () => shell,
  path: '/webhooks',
  validateSearch: texts('action', 'url', 'q'),
  component: lazyRouteComponent(
    whenBack(() => import('../features/webhooks/webhook-list.tsx')),
    'WebhookList',
  ),
});

const webhook = createRoute({
  getParentRoute: () => shell,
  path: '/webhooks/$id',
  validateSearch: texts('tab', 'delivery', 'status', 'failure', 'text', 'range', 'since', 'until'),
  component: lazyRouteComponent(
    whenBack(() => import('../features/webhooks/webhook-page.tsx')),
    'WebhookPage',
  ),
});

const replays = createRoute({
  getParentRoute: () => shell,
  path: '/replays',
  component: lazyRouteComponent(
    whenBack(() => import('../features/webhooks/replays-page.tsx')),
    'ReplaysPage',
  ),
});

const subscriptions = createRoute({
  getParentRoute: () => shell,
  path: '/subscriptions',
  validateSearch: texts('q', 'of'),
  component: lazyRouteComponent(
    whenBack(() => import('../features/webhooks/subscriptions-page.tsx')),
    'SubscriptionsPage',
  ),
});

const runs = createRoute({
  getParentRoute: () => shell,
  path: '/runs',
  validateSearch: texts('source', 'range', 'since', 'until', 'run'),
  component: lazyRouteComponent(
    whenBack(() => import('../features/runs/runs-page.tsx')),
    'RunsPage',
  ),
});

const delivery = createRoute({
  getParentRoute: () => shell,
  path: '/deliveries/$id',
  component: lazyRouteComponent(
    whenBack(() => import('../features/webhooks/delivery-page.tsx')),
    'DeliveryPage',
  ),
});

const events = createRoute({
  getParentRoute: () => shell,
  path: '/events',
  validateSearch: texts('text', 'filter', 'emitter', 'channel', 'id', 'range', 'since', 'until', 'event', 'compare'),
  component: lazyRouteComponent(
    whenBack(() => import('../features/events/events-page.tsx')),
    'EventsPage',
  ),
});

const registry = createRoute({
  getParentRoute: () => shell,
  path: '/registry',
  validateSearch: texts('q', 'key', 'version'),
  component: lazyRouteComponent(
    whenBack(() => import('../features/registry/registry-page.tsx')),
    'RegistryPage',
  ),
});

const connections = createRoute({
  getParentRoute: () => shell,
  path: '/connections',
  component: lazyRouteComponent(
    whenBack(() => import('../features/connections/connections-page.tsx')),
    'ConnectionsPage',
  ),
});

const data = createRoute({
  getParentRoute: () => shell,
  path: '/data',
  validateSearch: texts('store'),
  component: lazyRouteComponent(
    whenBack(() => import('../features/data/data-page.tsx')),
    'DataPage',
  ),
});

const settings = createRoute({
  getParentRoute: () => shell,
  path: '/settings',
  validateSearch: texts('tab'),
  component: lazyRouteComponent(
    whenBack(() => import('../features/settings/settings-page.tsx')),
    'SettingsPage',
  ),
});

const operator = createRoute({
  getParentRoute: () => shell,
  path: '/operator',
  validateSearch: texts('account'),
  component: lazyRouteComponent(
    whenBack(() => import('../features/operator/operator-page.tsx')),
    'OperatorPage',
  ),
});

/** Any other address: the navigation stays beside the note. */
const unknown = createRoute({ getParentRoute: () => shell, path: '/$', component: NotFound });

const traces = createRoute({
  getParentRoute: () => shell,
  path: '/traces',
  validateSearch: texts('id'),
  component: lazyRouteComponent(
    whenBack(() => import('../features/traces/trace-page.tsx')),
    'TraceSearch',
  ),
});

const trace = createRoute({
  getParentRoute: () => shell,
  path: '/traces/$id',
  validateSearch: texts('node'),
  component: lazyRouteComponent(
    whenBack(() => import('../features/traces/trace-page.tsx')),
    'TracePage',
  ),
});

export const router = createRouter({
  routeTree: root.addChildren([
    signIn,
    invitation,
    apiReference,
    forgottenPassword,
    newPassword,
    oauthReturn,
    shell.addChildren([
      overview,
      firstRun,
      sampleReceiver,
      sampleReceiverUrl,
      sources,
      source,
      workflows,
      newWorkflow,
      workflow,
      execution,
      events,
      webhooks,
      webhook,
      delivery,
      replays,
      subscriptions,
      runs,
      traces,
      trace,
      registry,
      connections,
      data,
      settings,
      operator,
      unknown,
    ]),
  ]),
  // The link to a portal stays where it is: what is shown is no address.
  ...(portal === undefined
    ? { basepath: BASE_PATH }
    : { history: createMemoryHistory({ initialEntries: ['/webhooks'] }) }),
  defaultPreload: 'intent',
  defaultNotFoundComponent: NotFound,
  defaultErrorComponent: Crash,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
