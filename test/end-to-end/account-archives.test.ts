import { once } from 'node:events';
import { request } from 'node:http';
import { LIMITS } from '@headwater/shared';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deriveKeys } from '../../engine/src/cluster/archive/archive-keys.ts';
import { ARCHIVED, LEFT_OUT } from '../../engine/src/cluster/archive/archived-tables.ts';
import { exportAs, importAs, PASSPHRASE } from '../support/archives.ts';
import { eventually } from '../support/eventually.ts';
import { type Headwater, startHeadwater } from '../support/headwater.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';

let from: Headwater;
let into: Headwater;
let receiver: Receiver;
beforeAll(async () => {
  from = await startHeadwater();
  into = await startHeadwater({ encryptionKey: '6'.repeat(64) });
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.stop();
  await Promise.all([from.stop(), into.stop()]);
});

const SOURCE = `export default { name: 'Moved', version: '1',
  props: { http: '$.interface.http', db: '$.service.db', token: { type: 'string', secret: true } },
  async run(event) {
    const n = (this.db.get('n') ?? 0) + 1;
    this.db.set('n', n);
    this.$emit({ n, token: this.token.length }, { id: n });
  } };`;
const STEP = `export default { props: { token: { type: 'string' } }, run({ $ }) {
  $.send.http({ method: 'POST', url: 'http://127.0.0.1:2/' });
  return this.token.length;
} };`;

/** Tables of counts, and of when a key was used. */
const CHANGING = ['api_keys', 'usage_days', 'stats', 'account_histories', 'history_parts', 'emitter_state'];

/** The rows that name an account. */
async function rowsOf(hw: Headwater, accountId: string): Promise<string[]> {
  const found: string[] = [];
  for (const { table } of ARCHIVED.filter((one) => !CHANGING.includes(one.table))) {
    const rows = await hw.sql<{ row: string }[]>`
      select t::text as row from ${hw.sql(table)} t where position(${accountId} in t::text) > 0`;
    found.push(...rows.map(({ row }) => `${table} ${row}`));
  }
  return found.toSorted();
}

test('every table of the schema is archived, or is left out for a reason', async () => {
  const tables = await from.sql<{ name: string }[]>`
    select c.relname::text as name from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'`;
  const known = [...ARCHIVED.map(({ table }) => table), ...Object.keys(LEFT_OUT)];
  expect(known.toSorted()).toEqual(tables.map(({ name }) => name).toSorted());
});

test('an account that was imported elsewhere goes on there, with its secrets and its history', async () => {
  const [hw, neighbour] = [await from.newAccount(), await into.newAccount()];
  await hw.api('PUT', '/environment_variables/TOKEN', { value: 'of-the-environment' });
  // The app has another id in each instance.
  const client = { client_id: 'own', client_secret: 'of-the-client' };
  expect((await hw.api('PUT', '/users/me/oauth_clients/github', client)).status).toBe(200);
  const source = await hw.deploy(SOURCE, { token: 'of-the-source' });
  const { data: webhook } = await hw.api('POST', '/webhooks', { url: receiver.url, headers: { 'x-secret': 'shown' } });
  await hw.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: webhook.id });
  const steps = [{ namespace: 'a', component_code: STEP, props: { token: '{{env.TOKEN}}' } }];
  const { data: workflow } = await hw.api('POST', '/workflows', { name: 'W', triggers: [{ type: 'http' }], steps });
  const { data: store } = await hw.api('POST', '/data_stores', { name: 'S' });
  await hw.api('PUT', `/data_stores/${store.id}/record`, { key: 'k', value: '12345678901234567' });
  await fetch(source.endpoint, { method: 'POST' });
  await fetch(workflow.triggers[0].endpoint_url, { method: 'POST' });
  await hw.untilEvents(source.id, 1);
  await receiver.until(1);
  await eventually(async () => (await hw.sql`select from executions where ended_at is not null`).length);
  await hw.untilIdle();
  await from.admin('POST', `/tenants/${hw.accountId}/suspend`);

  const exported = await exportAs(from, hw.accountId);
  const archive = await exported.text();
  expect([exported.status, exported.headers.get('content-type')]).toEqual([200, 'application/x-ndjson']);
  for (const line of archive.trimEnd().split('\n')) JSON.parse(line);
  expect(archive).not.toMatch(/of-the-environment|of-the-source|of-the-client/);
  expect(archive).not.toContain(webhook.secret);
  // The export is in the log of the account, and not in its archive.
  expect(archive).not.toContain('exportAccount');
  expect((await from.admin('GET', '/audit', { action: 'exportAccount', thing: hw.accountId })).data).toMatchObject([
    { account_id: hw.accountId, outcome: 'made' },
  ]);

  const next = await neighbour.deploy(SOURCE, { token: 'next' });
  const others = await rowsOf(into, neighbour.accountId);
  const { status, text } = await importAs(into, archive);
  expect([status, text]).toEqual([200, expect.stringContaining(`"id":"${hw.accountId}"`)]);
  expect(JSON.parse(text).data).toMatchObject({ state: 'suspended', sources: 1, workflows: 1, webhooks: 1 });
  expect(await rowsOf(into, neighbour.accountId)).toEqual(others);
  await fetch(next.endpoint, { method: 'POST' });
  await neighbour.untilEvents(next.id, 1);

  const moved = into.as(hw.apiKey);
  await into.admin('POST', `/tenants/${hw.accountId}/resume`);
  const past = await moved('GET', `/sources/${source.id}/event_summaries`, { expand: 'event' });
  expect(past.data.map(({ event }: { event: unknown }) => event)).toEqual([{ n: 1, token: 13 }]);
  expect((await moved('GET', `/workflows/${workflow.id}/executions`)).data).toHaveLength(1);
  expect((await moved('GET', `/webhooks/${webhook.id}/deliveries`)).data).toHaveLength(1);
  expect((await moved('GET', `/data_stores/${store.id}/records`)).text).toContain('12345678901234567');
  expect((await moved('GET', `/webhooks/${webhook.id}`)).data.secret).toBe(webhook.secret);
  expect((await moved('GET', '/users/me/oauth_clients')).data).toMatchObject([
    { app: { name_slug: 'github' }, client_id: 'own', has_secret: true },
  ]);

  const endpoint = new URL(source.endpoint);
  const key = endpoint.pathname;
  await eventually(async () => (await fetch(`${into.url}${key}`, { method: 'POST' })).status === 200);
  const requests = await receiver.until(2);
  const { body = '', headers = {} } = { ...requests[1] };
  expect(JSON.parse(body)).toEqual({ n: 2, token: 13 });
  expect((headers as Record<string, string>)['x-secret']).toBe('shown');
  new Webhook(webhook.secret).verify(body, headers as Record<string, string>);

  const trigger = new URL(workflow.triggers[0].endpoint_url).pathname;
  await eventually(async () => (await fetch(into.url + trigger, { method: 'POST' })).status === 200);
  await eventually(async () => {
    const ran = await into.sql`select from execution_steps where account_id = ${hw.accountId} and value = '18'`;
    return ran.length === 2;
  });

  const again = await importAs(into, archive);
  expect([again.status, again.text]).toEqual([409, expect.stringContaining(`${hw.accountId} is here already`)]);
  const entries = await into.admin('GET', '/audit', { action: 'importAccount' });
  expect(entries.data).toMatchObject([{ thing: hw.accountId, actor_id: 'operator' }]);
  expect((await moved('GET', '/audit')).data.map(({ action }: { action: string }) => action)).toContain(
    'createWorkflow',
  );
});

test('a component of an archive is published once it was built here', async () => {
  const hw = await from.newAccount();
  const code = SOURCE.replace("name: 'Moved'", "key: 'moved-source', name: 'Moved'").replace(
    "version: '1'",
    "version: '1.0.0'",
  );
  const { data: component } = await hw.api('POST', '/components', { component_code: code });
  expect(await importAs(into, await (await exportAs(from, hw.accountId)).text())).toMatchObject({ status: 200 });
  await into.admin('POST', `/tenants/${hw.accountId}/resume`);
  const moved = into.as(hw.apiKey);
  const publish = () => moved('POST', `/components/${component.id}/publish`, { scope: 'registry' });
  await into.admin('PUT', `/accounts/${hw.accountId}/limits`, { maxRegistryVersions: 1 });
  const refused = await publish();
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('Save its code again')]);
  const saved = await moved('POST', '/components', { component_code: code });
  expect(saved.data.id).toBe(component.id);
  expect(await publish()).toMatchObject({ status: 200 });
});

test('an archive that shows other code than it runs never comes into the registry', async () => {
  const hw = await from.newAccount();
  const code = SOURCE.replace("name: 'Moved'", "key: 'shown-source', name: 'Moved', description: 'Honest'").replace(
    "version: '1'",
    "version: '1.0.0'",
  );
  const { data: component } = await hw.api('POST', '/components', { component_code: code });
  const neighbour = await into.newAccount();
  await into.admin('PUT', `/accounts/${neighbour.accountId}/limits`, { maxRegistryVersions: 1 });
  const other = code.replace('shown-source', 'other-source');
  const { data: saved } = await neighbour.api('POST', '/components', { component_code: other });
  const { data: known } = await neighbour.api('POST', `/components/${saved.id}/publish`, { scope: 'registry' });
  const lines = (await (await exportAs(from, hw.accountId)).text()).trimEnd().split('\n');
  const row = lines.findIndex((line) => line.startsWith('{"components"'));
  const { components: stored } = JSON.parse(lines[row] ?? '') as { components: Record<string, unknown> };
  const forged = {
    ...stored,
    registry_id: known.id,
    code: 'export default {}',
    description: 'Forged',
    source_map: '',
  };
  lines[row] = JSON.stringify({ components: forged });
  const ofRegistry = await signAnew(lines);
  expect(await importAs(into, ofRegistry)).toMatchObject({ status: 200 });
  await into.admin('POST', `/tenants/${hw.accountId}/resume`);
  await into.admin('PUT', `/accounts/${hw.accountId}/limits`, { maxRegistryVersions: 1 });
  const moved = into.as(hw.apiKey);
  const publish = () => moved('POST', `/components/${component.id}/publish`, { scope: 'registry' });
  const copies = await into.sql`select from components where id = ${component.id} and registry_id = ${known.id}`;
  expect(copies).toHaveLength(1);
  expect((await publish()).status).toBe(409);
  // As an archive without a version of the registry has it.
  await into.sql`update components set registry_id = null where id = ${component.id}`;
  expect((await publish()).status).toBe(409);
  const again = await moved('POST', '/components', { component_code: code });
  expect(again.data).toMatchObject({ id: component.id, code, description: 'Honest' });
  expect(await publish()).toMatchObject({ status: 200 });
  expect((await moved('GET', '/components/registry/shown-source')).data).toMatchObject({ code, description: 'Honest' });
});

test('an archive without history has all that an account needs to begin anew, and nothing that was', async () => {
  const hw = await from.newAccount();
  await hw.api('PUT', '/environment_variables/TOKEN', { value: 'of-the-environment' });
  const source = await hw.deploy(SOURCE, { token: 'of-the-source' });
  const { data: webhook } = await hw.api('POST', '/webhooks', { url: receiver.url });
  await hw.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: webhook.id });
  const steps = [{ namespace: 'a', component_code: STEP, props: { token: '{{env.TOKEN}}' } }];
  const { data: workflow } = await hw.api('POST', '/workflows', { name: 'W', triggers: [{ type: 'http' }], steps });
  await fetch(source.endpoint, { method: 'POST' });
  await fetch(workflow.triggers[0].endpoint_url, { method: 'POST' });
  await hw.untilEvents(source.id, 1);
  await eventually(async () => (await hw.sql`select from sends where account_id = ${hw.accountId}`).length);
  await hw.untilIdle();
  const archive = await (await exportAs(from, hw.accountId, {}, '?without_history=true')).text();
  const tables = new Set(archive.split('\n').map((line) => /^\{"(\w+)":\{/.exec(line)?.[1]));
  for (const { table } of ARCHIVED.filter(({ isHistory }) => isHistory)) expect(tables).not.toContain(table);
  expect(await importAs(into, archive)).toMatchObject({ status: 200 });
  await into.admin('POST', `/tenants/${hw.accountId}/resume`);
  const moved = into.as(hw.apiKey);
  expect((await moved('GET', `/sources/${source.id}/event_summaries`)).data).toEqual([]);
  expect((await moved('GET', `/workflows/${workflow.id}/executions`)).data).toEqual([]);
  const key = new URL(source.endpoint).pathname;
  await eventually(async () => (await fetch(`${into.url}${key}`, { method: 'POST' })).status === 200);
  // The values that the component has stored went along: it goes on counting.
  await eventually(async () => {
    const { data } = await moved('GET', `/sources/${source.id}/event_summaries`, { expand: 'event' });
    return data[0]?.event.n === 2;
  });
});

const derived = new Map<string, ReturnType<typeof deriveKeys>>();
/** As somebody who knows the passphrase would change an archive. */
async function signAnew(lines: readonly string[]): Promise<string> {
  const { key } = JSON.parse(lines[0] ?? '');
  const keys = derived.get(key.salt) ?? deriveKeys(PASSPHRASE, key);
  derived.set(key.salt, keys);
  const mac = (await keys).mac();
  const end = JSON.parse(lines.at(-1) ?? '').$end;
  const rows = lines.slice(0, -1);
  for (const line of rows) mac.update(`${line}\n`);
  return `${rows.join('\n')}\n${JSON.stringify({ $end: { ...end, mac: mac.digest('hex') } })}\n`;
}

test('an archive that is not whole, is changed, or reaches for a neighbour leaves nothing', async () => {
  const [hw, neighbour] = [await from.newAccount(), await into.newAccount()];
  await hw.api('POST', '/apps', {
    name_slug: 'own',
    name: 'Own',
    auth_type: 'keys',
    fields: [{ name: 'k', label: 'K' }],
  });
  const source = await hw.deploy(SOURCE, { token: 'x' });
  const foreign = await neighbour.deploy(SOURCE, { token: 'y' });
  await hw.api('POST', `/sources/${source.id}/events`, { data: { n: 1 } });
  await hw.untilEvents(source.id, 1);
  const archive = await (await exportAs(from, hw.accountId)).text();
  const lines = archive.trimEnd().split('\n');
  const [theirs] = await into.sql<
    { component_id: string }[]
  >`select component_id from emitters where id = ${foreign.id}`;
  const [own] = await from.sql<{ component_id: string }[]>`select component_id from emitters where id = ${source.id}`;
  const swap = (a: string, b: string, tables: RegExp) =>
    lines.map((line) => (tables.test(line) ? line.replaceAll(a, b) : line));
  const cases: [string, Promise<string> | string, number, RegExp, Record<string, string>?][] = [
    ['no passphrase', archive, 400, /passphrase/, { 'x-headwater-passphrase': '' }],
    ['another passphrase', archive, 400, /passphrase is not that/, { 'x-headwater-passphrase': 'another passphrase' }],
    ['cut off', archive.slice(0, -200), 400, /truncated/],
    ['a line less', [...lines.slice(0, 5), ...lines.slice(6)].join('\n') + '\n', 400, /was changed/],
    ['not one', 'hello\n', 400, /not an archive/],
    [
      'of another version',
      signAnew(lines.map((line, at) => (at === 0 ? line.replace(/"0001_init.sql",/, '') : line))),
      409,
      /another version/,
    ],
    [
      'with the code of a neighbour',
      signAnew(swap(own?.component_id ?? '', theirs?.component_id ?? '', /^\{"emitters"/)),
      400,
      /emitters that are not/,
    ],
    ['with events of a neighbour', signAnew(swap(source.id, foreign.id, /^\{"events"/)), 400, /events that are not/],
    [
      'with rows of a neighbour',
      signAnew(swap(hw.accountId, neighbour.accountId, /^\{"(endpoints)"/)),
      400,
      /endpoints that are not/,
    ],
    ['with a source that is there', signAnew(swap(source.id, foreign.id, /./)), 409, /here already, in emitters/],
    [
      'with more than it may have',
      signAnew(
        lines.map((line) =>
          line.startsWith('{"accounts"') ? line.replace('"limits":{}', '"limits":{"maxSources":0}') : line,
        ),
      ),
      409,
      /maxSources is 0/,
    ],
    ...['instance', '', "o_x' or true --"].map((id): (typeof cases)[number] => [
      `of the account “${id}”`,
      signAnew(lines.map((line) => line.replaceAll(hw.accountId, id))),
      400,
      /without a valid id/,
    ]),
    [
      'with an app under a name of the catalogue',
      signAnew(swap(`"slug":"${hw.accountId}:own"`, '"slug":"own"', /^\{"all_apps"/)),
      400,
      /all_apps that are not/,
    ],
    [
      'with a count below 0',
      signAnew(lines.map((line) => line.replace(/"db_bytes":\d+/, '"db_bytes":-1'))),
      400,
      /count below 0/,
    ],
    [
      'with a secret of no kind',
      signAnew(lines.map((line) => line.replace('{"$secret":{"kind":"source"', '{"$secret":{"kind":"none"'))),
      400,
      /secret of a kind/,
    ],
    [
      'that is nested without end',
      signAnew(
        lines.map((line) =>
          line.startsWith('{"accounts"')
            ? line.replace('"limits":{}', `"limits":${'['.repeat(60_000)}${']'.repeat(60_000)}`)
            : line,
        ),
      ),
      400,
      /cannot be stored/,
    ],
    [
      'without a secret',
      signAnew(lines.filter((line) => !line.startsWith('{"$secret"'))),
      400,
      /lines that it tells of|lacks/,
    ],
    [
      'with nonsense',
      signAnew(
        lines.map((line) =>
          line.startsWith('{"users"') ? line.replace(/"created_at":"[^"]*"/, '"created_at":"x"') : line,
        ),
      ),
      400,
      /cannot be stored/,
    ],
  ];
  const before = await rowsOf(into, neighbour.accountId);
  for (const [name, body, status, message, headers = {}] of cases) {
    const answer = await importAs(into, await body, headers);
    expect([name, answer.status, answer.text]).toEqual([name, status, expect.stringMatching(message)]);
    expect([name, (await into.admin('GET', `/tenants/${hw.accountId}`)).status]).toEqual([name, 404]);
  }
  expect(await rowsOf(into, neighbour.accountId)).toEqual(before);
  // The hash of its code is that of the code, whatever the file says.
  const hashes = (instance: Headwater) =>
    instance.sql`select bundle_hash from components where id = ${own?.component_id ?? ''}`;
  const wrong = await signAnew(lines.map((line) => line.replace(/"bundle_hash":"\w+"/, '"bundle_hash":"of-another"')));
  // A node takes one at a time.
  const both = await Promise.all([importAs(into, wrong), importAs(into, wrong)]);
  expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 429]);
  expect(await hashes(into)).toEqual(await hashes(from));
});

test('a client that asks before it sends an archive may send it, and a larger body elsewhere not', async () => {
  const ask = async (path: string) => {
    const asking = request(`${from.url}${path}`, {
      method: 'POST',
      headers: { expect: '100-continue', 'content-length': LIMITS.maxApiBodyBytes + 1 },
    });
    asking.on('error', () => undefined);
    asking.flushHeaders();
    const answer = await Promise.race([
      once(asking, 'continue').then(() => 100),
      once(asking, 'response').then(([{ statusCode }]) => statusCode as number),
    ]);
    asking.destroy();
    return answer;
  };
  expect([await ask('/v1/accounts/import'), await ask('/v1/sources')]).toEqual([100, 413]);
});

test('archives are the operator’s alone', async () => {
  const hw = await from.newAccount();
  const own = { authorization: `Bearer ${hw.apiKey}` };
  expect((await exportAs(from, hw.accountId, own)).status).toBe(403);
  expect((await importAs(from, 'x', own)).status).toBe(403);
  expect((await exportAs(from, 'o_nobody')).status).toBe(404);
  const weak = await exportAs(from, hw.accountId, { 'x-headwater-passphrase': 'short' });
  expect([weak.status, await weak.text()]).toEqual([400, expect.stringContaining('12 to 256 characters')]);
});
