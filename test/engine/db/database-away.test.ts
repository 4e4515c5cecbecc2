import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type CuttingProxy, startCuttingProxy } from '../../support/cutting-proxy.ts';
import { eventually } from '../../support/eventually.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';

const SOURCE = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' }, run(event) {
  this.$emit(event.body);
} };`;
/** Promised in docs/operations.md. */
const MAX_ANSWER_MS = 10_000;

let hw: Headwater;
let proxy: CuttingProxy;
let endpoint: string;
let id: string;

beforeAll(async () => {
  hw = await startHeadwater({}, async (url) => {
    proxy = await startCuttingProxy(url);
    // The database is not there when the node starts.
    await proxy.refuse();
    setTimeout(() => void proxy.accept(), 1_500);
    return proxy.url;
  });
  ({ id, endpoint } = await hw.deploy(SOURCE));
});
afterAll(async () => {
  await hw.stop();
  await proxy.stop();
});
beforeEach(async () => {
  proxy.pass();
  await proxy.accept();
  await hw.sql`drop trigger if exists failing on invocations`;
});

async function readyz(): Promise<{ status: number; problems: string[] }> {
  const answer = await fetch(`${hw.url}/readyz`);
  const { problems = [] } = (await answer.json()) as { problems?: string[] };
  return { status: answer.status, problems };
}

interface Refusal {
  status: number;
  retryAfter: number;
  type: string;
  detail: string;
}

async function refusalOf(answering: Promise<Response>): Promise<Refusal> {
  const answer = await answering;
  const { type = '', detail = '' } = (await answer.json()) as { type?: string; detail?: string };
  return { status: answer.status, retryAfter: Number(answer.headers.get('retry-after') ?? 0), type, detail };
}

const postEvent = (body: string) => fetch(endpoint, { method: 'POST', body });
const getSources = () => fetch(`${hw.url}/v1/sources`, { headers: { authorization: `Bearer ${hw.apiKey}` } });
/** Nothing of it is in memory. */
const getAnother = () => fetch(`${hw.url}/e/${'x'.repeat(20)}`, { method: 'POST' });

/** Each is refused in time, and says why. */
async function expectRefusals(reason: string): Promise<void> {
  const beganAtMs = performance.now();
  const refusals = await Promise.all([postEvent('refused'), getAnother(), getSources()].map(refusalOf));
  expect(performance.now() - beganAtMs).toBeLessThan(MAX_ANSWER_MS);
  const refused = { status: 503, type: 'urn:headwater:error:database-away' };
  expect(refusals).toMatchObject([refused, refused, refused]);
  expect(await refusalOf(getSources())).toMatchObject({ ...refused, detail: `${reason}; try again` });
  for (const { retryAfter } of refusals) expect(retryAfter).toBeGreaterThan(0);
}

async function expectToGoOn(body: string): Promise<void> {
  await eventually(async () => (await readyz()).status === 200, { timeoutMs: 15_000 });
  expect((await postEvent(body)).status).toBe(200);
  await eventually(async () => {
    const rows = await hw.sql<{ data: string }[]>`select data from events where emitter_id = ${id}`;
    return rows.some(({ data }) => data.includes(body));
  });
}

test('a node that is up says so', async () => {
  expect(await readyz()).toEqual({ status: 200, problems: [] });
  expect((await fetch(`${hw.url}/livez`)).status).toBe(200);
  expect((await fetch(`${hw.url}/healthz`)).status).toBe(200);
});

test('while the database is gone everything is refused in time, and the node goes on by itself', async () => {
  await proxy.refuse();
  await expectRefusals('No server listens at the address of the database');
  await eventually(async () => (await readyz()).problems.some((text) => /the database \(for \d+ s\)$/.test(text)));
  expect((await readyz()).status).toBe(503);
  expect((await fetch(`${hw.url}/healthz`)).status).toBe(503);
  expect((await fetch(`${hw.url}/livez`)).status).toBe(200);
  // From now on no request waits.
  await eventually(async () => {
    const beganAtMs = performance.now();
    await refusalOf(postEvent('refused'));
    return performance.now() - beganAtMs < 500;
  });
  await proxy.accept();
  await expectToGoOn('back');
});

test('while the database says nothing everything is refused in time, and the node goes on by itself', async () => {
  proxy.mute();
  await expectRefusals('The database does not answer');
  expect(await readyz()).toMatchObject({ status: 503, problems: [expect.stringContaining('does not answer')] });
  proxy.pass();
  await expectToGoOn('heard');
});

/** The next `times` inserts of invocations fail with the SQL state `state`. */
async function failInserts(state: string, times: number): Promise<void> {
  await hw.sql`drop sequence if exists failures`;
  await hw.sql`create sequence failures`;
  await hw.sql.unsafe(`
    create or replace function fail_insert() returns trigger language plpgsql as $$ begin
      if nextval('failures') <= ${times} then raise exception 'made up' using errcode = '${state}'; end if;
      return new;
    end $$;
    create or replace trigger failing before insert on invocations for each row execute function fail_insert()`);
}

test.each(['40P01', '40001'])('%s is retried, and the client does not notice', async (state) => {
  await failInserts(state, 2);
  expect((await postEvent(`after ${state}`)).status).toBe(200);
});

test.each([
  ['40P01', 'The database is too busy'],
  ['57014', 'The database is too busy'],
  ['55P03', 'The database is too busy'],
  ['53100', 'The disk of the database is full'],
  ['53200', 'The database has no memory, disk or connections left'],
  ['25006', 'The database is read-only'],
])('%s that does not pass is no fault of the request', async (state, reason) => {
  await failInserts(state, 1_000);
  const refusal = await refusalOf(postEvent('refused'));
  expect(refusal).toMatchObject({ status: 503, detail: `${reason}; try again` });
  expect(refusal.retryAfter).toBeGreaterThan(0);
});

test('a disk that is full is told by /readyz, until nothing fails for it any more', async () => {
  await failInserts('53100', 1);
  expect((await postEvent('refused')).status).toBe(503);
  expect(await readyz()).toMatchObject({
    status: 503,
    problems: [expect.stringMatching(/^The disk of the database is full \(\d+ s ago\)$/)],
  });
  await expectToGoOn('stored');
});
