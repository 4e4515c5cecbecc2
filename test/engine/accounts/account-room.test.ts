import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { ACCOUNT_LIMITS, type AccountLimitName, newId } from '../../../shared/src/index.ts';
import { createWebhook } from '../../../engine/src/outbox/webhooks/create-webhook.sql.ts';
import { action } from '../../support/executions.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';

let hw: Headwater;
/** For sources that need no code of their own. */
let componentId: string;
beforeAll(async () => {
  hw = await startHeadwater();
});
afterAll(() => hw.stop());

afterEach(async () => {
  await hw.limit(Object.fromEntries(Object.keys(ACCOUNT_LIMITS).map((name) => [name, null])));
  await hw.sql`delete from auto_subscriptions`;
  await hw.sql`delete from subscriptions`;
  await hw.sql`delete from webhooks`;
  await hw.sql`delete from emitters`;
  await hw.sql`delete from components`;
});

beforeEach(async () => {
  componentId = await idOf(hw.api('POST', '/components', { component_code: sourceCode() }));
});

type Answer = Awaited<ReturnType<Headwater['api']>>;

const limitOf = ({ text }: Answer) =>
  (JSON.parse(text) as { limit?: { name: AccountLimitName; value: number; used: number } }).limit;

function expectRefused(answer: Answer, name: AccountLimitName, value: number, used: number): void {
  expect({ status: answer.status, limit: limitOf(answer) }).toEqual({ status: 409, limit: { name, value, used } });
}

let made = 0;
/** Without a key: each save is a component of its own. */
const sourceCode = () => `export default { name: 'S${++made}', version: '1', run() {} };`;
const makeSource = (more?: object) => hw.api('POST', '/sources', { ...(more ?? { component_code: sourceCode() }) });
const makeWebhook = () => hw.api('POST', '/webhooks', { url: 'https://example.com/' });
const makeWorkflow = (more: Record<string, unknown> = {}) => hw.api('POST', '/workflows', more);
const steps = (body = `return ${++made};`) => [{ namespace: 'one', component_code: action(body) }];

async function countOf(table: string): Promise<number> {
  const [row] = await hw.sql<{ count: number }[]>`
    select count(*)::int as count from ${hw.sql(table)} where account_id = ${hw.accountId}`;
  return row?.count ?? 0;
}

async function idOf(answer: Promise<Answer>): Promise<string> {
  const { status, data, text } = await answer;
  if (status !== 200) throw new Error(text);
  return data.id as string;
}

const KINDS = [
  ['maxSources', 'sources', () => makeSource({ component_id: componentId })],
  ['maxWorkflows', 'workflows', () => makeWorkflow()],
  ['maxWebhooks', 'webhooks', makeWebhook],
] as const;

test.each(KINDS)('twenty creations at the same time make exactly as many as %s allows', async (name, kind, make) => {
  await hw.limit({ [name]: 3 });
  const answers = await Promise.all(Array.from({ length: 20 }, make));
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused).toHaveLength(17);
  for (const answer of refused) expectRefused(answer, name, 3, 4);
  expect(await countOf(kind === 'webhooks' ? kind : 'emitters')).toBe(3);
});

test('nodes that know nothing of each other make no more than there is room for', async () => {
  const [user] = await hw.sql<{ id: string }[]>`select id from users where account_id = ${hw.accountId}`;
  const rest = { url: 'https://example.com/', name: null, description: null, format: 'raw', secret: 'sealed' };
  const owner = { accountId: hw.accountId, userId: user?.id ?? '' };
  const request = {
    requestHeaders: null,
    retryScheduleSeconds: null,
    timeoutSeconds: null,
    disableAfterHours: null,
    disableFailuresOverHours: null,
    requestOptions: {},
    requestAuth: null,
    clientKey: null,
  };
  const pace = {
    ordering: 'none',
    orderingKey: null,
    ratePerSecond: null,
    maxInFlight: null,
    adaptiveRate: false,
    transformId: null,
  };
  const outcomes = await Promise.allSettled(
    Array.from({ length: 20 }, (_, n) =>
      createWebhook(hw.sql, { id: `wh_${n}`, ...owner, ...rest, ...request, ...pace }, { maxWebhooks: 3 }),
    ),
  );
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
  expect(await countOf('webhooks')).toBe(3);
});

test.each(KINDS)(
  'deleting one frees its place, and %s below what there is refuses only new ones',
  async (name, kind, make) => {
    const ids = [await idOf(make()), await idOf(make())];
    await hw.limit({ [name]: 1 });
    expectRefused(await make(), name, 1, 3);
    const [first, second] = ids as [string, string];
    expect((await hw.api('PUT', `/${kind}/${first}`, { name: 'Renamed' })).status).toBe(200);
    await hw.api('DELETE', `/${kind}/${first}`);
    expectRefused(await make(), name, 1, 2);
    await hw.api('DELETE', `/${kind}/${second}`);
    expect((await make()).status).toBe(200);
  },
);

test('a refused source or workflow leaves no components behind', async () => {
  await hw.limit({ maxSources: 1, maxWorkflows: 1 });
  await Promise.all(Array.from({ length: 4 }, () => makeSource()));
  await Promise.all(Array.from({ length: 4 }, () => makeWorkflow({ steps: steps() })));
  expect(await countOf('components')).toBe(3);
  const answer = await hw.api('PUT', `/workflows/${(await hw.api('GET', '/workflows')).data[0].id}`, {
    triggers: [{ component_code: sourceCode() }],
  });
  expectRefused(answer, 'maxSources', 1, 2);
  expect(await countOf('components')).toBe(3);
});

test('subscriptions and auto subscriptions are counted together, and what exists is answered at the limit', async () => {
  const [listener, emitter, other] = [
    await idOf(makeWebhook()),
    await idOf(makeSource({ component_id: componentId })),
    await idOf(makeSource({ component_id: componentId })),
  ];
  await hw.limit({ maxSubscriptions: 2 });
  const subscribe = (emitter_id: string, event_name = '') =>
    hw.api('POST', '/subscriptions', { emitter_id, listener_id: listener, event_name });
  const auto = (event_name: string) => hw.api('POST', '/auto_subscriptions', { listener_id: listener, event_name });
  expect((await subscribe(emitter)).status).toBe(200);
  expect((await auto('a')).status).toBe(200);
  expectRefused(await subscribe(other), 'maxSubscriptions', 2, 3);
  expectRefused(await auto('b'), 'maxSubscriptions', 2, 3);
  expect([(await subscribe(emitter)).status, (await auto('a')).status]).toEqual([200, 200]);
  expect((await hw.api('GET', '/users/me')).data.quotas.subscriptions).toEqual({ used: 2, limit: 2 });
  // Each new source would get one.
  expectRefused(await makeSource(), 'maxSubscriptions', 2, 3);
  expectRefused(await makeWorkflow(), 'maxSubscriptions', 2, 3);
  expect(await countOf('emitters')).toBe(2);
  await hw.api('DELETE', `/subscriptions?emitter_id=${emitter}&listener_id=${listener}`);
  expect((await makeSource()).status).toBe(200);
});

test('twenty subscriptions at the same time make exactly as many as the limit allows', async () => {
  const [listener, emitter] = [await idOf(makeWebhook()), await idOf(makeSource())];
  await hw.limit({ maxSubscriptions: 3 });
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      n % 2 === 0
        ? hw.api('POST', '/subscriptions', { emitter_id: emitter, listener_id: listener, event_name: `e${n}` })
        : hw.api('POST', '/auto_subscriptions', { listener_id: listener, event_name: `e${n}` }),
    ),
  );
  for (const answer of answers.filter(({ status }) => status !== 200)) expectRefused(answer, 'maxSubscriptions', 3, 4);
  expect((await countOf('subscriptions')) + (await countOf('auto_subscriptions'))).toBe(3);
});

test('a workflow at the limit of subscriptions is saved with those that it has, and refused with one more', async () => {
  const sources = [await idOf(makeSource()), await idOf(makeSource())];
  const triggers = (count: number) => sources.slice(0, count).map((source_id) => ({ type: 'source', source_id }));
  const id = await idOf(makeWorkflow({ triggers: triggers(1) }));
  await hw.limit({ maxSubscriptions: 1 });
  expect((await hw.api('PUT', `/workflows/${id}`, { triggers: triggers(1), steps: steps() })).status).toBe(200);
  expectRefused(await hw.api('PUT', `/workflows/${id}`, { triggers: triggers(2) }), 'maxSubscriptions', 1, 2);
  expect((await hw.api('GET', `/workflows/${id}`)).data.triggers).toHaveLength(1);
  expectRefused(await makeWorkflow({ triggers: triggers(1) }), 'maxSubscriptions', 1, 2);
});

test('keys that are not revoked are counted, and those that are do not pile up', async () => {
  await hw.limit({ maxApiKeys: 3 });
  const make = () => hw.api('POST', '/api_keys', { name: 'More' });
  const answers = await Promise.all(Array.from({ length: 20 }, make));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
  expectRefused(answers.find(({ status }) => status !== 200) as Answer, 'maxApiKeys', 3, 4);
  const ids = answers.flatMap(({ status, data }) => (status === 200 ? [data.id as string] : []));
  await hw.sql`
    insert into api_keys (id, account_id, user_id, name, key_hash, hint, revoked_at)
    select 'key_' || n, account_id, user_id, 'old', n::text::bytea, '', now() - interval '1 day'
    from api_keys, generate_series(1, 150) n where id = ${ids[0] ?? ''}`;
  for (const id of ids) await hw.api('DELETE', `/api_keys/${id}`);
  expect((await make()).status).toBe(200);
  const [kept] = await hw.sql<{ revoked: number }[]>`select count(revoked_at)::int as revoked from api_keys`;
  expect(kept?.revoked).toBe(100);
  // Those that were revoked just now are among them.
  expect(await hw.sql`select from api_keys where id = any(${ids}::text[])`).toHaveLength(2);
});

test('an id is counted for its own account alone', async () => {
  await makeWebhook();
  await hw.limit({ maxWebhooks: 1 });
  const { data } = await hw.admin('POST', '/accounts', { name: newId('account') });
  const other = hw.as(data.api_key as string);
  expect((await other('POST', '/webhooks', { url: 'https://example.com/' })).status).toBe(200);
  expectRefused(await makeWebhook(), 'maxWebhooks', 1, 2);
});
