import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIMITS } from '../shared/src/index.ts';
import { childProcesses } from './support/child-processes.ts';
import { eventually } from './support/eventually.ts';
import { type Headwater, startHeadwater } from './support/headwater.ts';
import { type Receiver, startReceiver } from './support/receiver.ts';
import { post } from './support/server.ts';

/** Before its run ends it asks the test, which may end its sandbox process instead of an answer. */
const ASKING = `export default { name: 'Asking', version: '1', props: { http: '$.interface.http', asked: 'string' },
  async run(event) {
    this.$emit({ begun: event.body.id });
    console.log('asks');
    await fetch(this.asked + '/' + event.body.id);
    this.$emit({ ended: event.body.id });
  } };`;

let hw: Headwater;
let receiver: Receiver;
/** How many of the next requests of a run end its process, by the id in its event. */
const kills = new Map<string, number>();
const spared = new Set<number>();

beforeAll(async () => {
  [hw, receiver] = await Promise.all([startHeadwater(), startReceiver()]);
  receiver.answer = ({ url }) => {
    const id = url.slice(1);
    const left = kills.get(id) ?? 0;
    if (left > 0) endSandboxes();
    kills.set(id, left - 1);
    return {};
  };
});
afterAll(async () => {
  await hw?.stop();
  await receiver?.stop();
});

function endSandboxes(): void {
  for (const { pid } of childProcesses()) if (!spared.has(pid)) process.kill(pid, 'SIGKILL');
}

const askedBy = (id: string) => receiver.requests.filter(({ url }) => url === `/${id}`).length;

test('a run whose sandbox process is killed from outside, less often than the limit, ends well and emits once', async () => {
  const source = await hw.deploy(ASKING, { asked: receiver.url });
  kills.set('unlucky', LIMITS.maxInvocationAttempts - 1);
  await post(source.endpoint, { id: 'unlucky' });
  const events = await hw.untilEvents(source.id, 2);
  expect(events.map(({ event }) => event)).toEqual([{ begun: 'unlucky' }, { ended: 'unlucky' }]);
  expect(askedBy('unlucky')).toBe(LIMITS.maxInvocationAttempts);
  await hw.untilIdle();
  expect(await hw.sql`select from abandoned_runs where source_id = ${source.id}`).toHaveLength(0);
});

test('runs beside one that ends their process end well, and no crash of it is theirs', async () => {
  const source = await hw.deploy(ASKING, { asked: receiver.url });
  kills.set('poison', Number.POSITIVE_INFINITY);
  const ids = ['a', 'b', 'c', 'poison', 'd', 'e'];
  await Promise.all(ids.map((id) => post(source.endpoint, { id })));
  const abandoned = await eventually(
    async () => {
      const rows = await hw.sql<{ id: string; event: string; kind: string }[]>`
        select * from abandoned_runs where source_id = ${source.id}`;
      return rows.length > 0 && rows;
    },
    { timeoutMs: 60_000 },
  );
  expect(abandoned).toMatchObject([{ kind: 'http', account_id: hw.accountId }]);
  expect(JSON.parse(abandoned[0]!.event)).toMatchObject({ body: { id: 'poison' } });
  await hw.untilIdle();
  const events = await hw.untilEvents(source.id, 10);
  expect(events.map(({ event }) => JSON.stringify(event)).toSorted()).toEqual(
    ids
      .filter((id) => id !== 'poison')
      .flatMap((id) => [`{"begun":"${id}"}`, `{"ended":"${id}"}`])
      .toSorted(),
  );
  const { data: runs } = await hw.api('GET', `/sources/${source.id}/runs`);
  const failed = runs.filter((run: { error: object | null }) => run.error !== null);
  expect(failed).toMatchObject([{ id: abandoned[0]!.id, error: { code: 'RUN_ABANDONED' } }]);
});

test('a crash is stored before the run begins again', async () => {
  const source = await hw.deploy(ASKING, { asked: receiver.url });
  // The first process may have served others.
  kills.set('counted', 2);
  await post(source.endpoint, { id: 'counted' });
  await eventually(async () => {
    const [row] = await hw.sql`select crashes from invocations where source_id = ${source.id}`;
    return askedBy('counted') === 2 && Number(row?.['crashes']) > 0;
  });
  const events = await hw.untilEvents(source.id, 2);
  expect(events.map(({ event }) => event)).toEqual([{ begun: 'counted' }, { ended: 'counted' }]);
});
