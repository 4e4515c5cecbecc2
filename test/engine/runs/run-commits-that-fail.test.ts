import { LIMITS } from '@headwater/shared';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { post } from '../../support/server.ts';

const lines: { msg: string }[] = [];
const log = pino({ level: 'warn' }, { write: (line) => void lines.push(JSON.parse(line)) });
let hw: Headwater;
let receiver: Receiver;
beforeAll(async () => {
  [hw, receiver] = await Promise.all([startHeadwater({ log }), startReceiver()]);
});
afterAll(() => Promise.all([hw.stop(), receiver.stop()]));

test('a run whose events cannot be stored ends as failed, also where the database fails as that is written', async () => {
  await hw.sql.unsafe(`
    create sequence failures;
    create function refuse_event() returns trigger language plpgsql as $$ begin
      raise 'no text' using errcode = '22P05';
    end $$;
    create trigger refuse_event before insert on events for each row when (new.data like '%spoiled%')
      execute function refuse_event();
    create function fail_twice() returns trigger language plpgsql as $$ begin
      if nextval('failures') <= 2 then raise 'try again' using errcode = '40001'; end if;
      return new;
    end $$;
    create trigger fail_twice before insert on runs for each row when (new.error_code = 'INTERNAL')
      execute function fail_twice();`);
  const source = await hw.deploy(
    `export default { name: 'Spoils', version: '1', props: { http: '$.interface.http', counter: 'string' },
       async run(event) { await fetch(this.counter); this.$emit('spoiled'); } };`,
    { counter: receiver.url },
  );
  expect((await post(source.endpoint, {})).status).toBe(200);
  await eventually(async () => (await hw.sql`select from runs where source_id = ${source.id}`).length > 0);
  await hw.untilIdle();
  const { data } = await hw.api('GET', `/sources/${source.id}/runs`);
  expect(data.map((run: { error: { code: string } }) => run.error.code)).toEqual(['INTERNAL']);
  expect(await hw.sql`select from events where emitter_id = ${source.id} and channel = ''`).toHaveLength(0);
  // The code ran once: only its commit is retried.
  expect(receiver.requests).toHaveLength(1);
  const ofRuns = lines.map(({ msg }) => msg).filter((msg) => !msg.startsWith('Sandbox'));
  expect(ofRuns).toEqual([
    'the outputs of a run could not be stored',
    // One line for failures within seconds.
    'a commit failed and is tried again',
  ]);
  expect(await triesOf('failures')).toBe(3);
});

/** Two inserts of such an event end as a transaction does that another one has to go past. */
async function deadlockTwice(text: string): Promise<void> {
  await hw.sql.unsafe(`
    create sequence deadlocks_${text};
    create function deadlock_${text}() returns trigger language plpgsql as $$ begin
      if nextval('deadlocks_${text}') <= 2 then raise 'deadlock detected' using errcode = '40P01'; end if;
      return new;
    end $$;
    create trigger deadlock_${text} before insert on events for each row when (new.data like '%${text}%')
      execute function deadlock_${text}();`);
}

/** As often as the trigger with this sequence was asked. */
async function triesOf(sequence: string): Promise<number> {
  const [row] = await hw.sql.unsafe<{ tries: number }[]>(`select last_value::int4 as tries from ${sequence}`);
  return Number(row?.tries);
}

test('a part of a run that the database rolled back is committed again, once', async () => {
  await deadlockTwice('piece');
  const count = LIMITS.partialCommitEmits + 1;
  const source = await hw.deploy(
    `export default { name: 'Pieces', version: '1', props: { http: '$.interface.http' },
       run(event) {
         this.$emit('piece');
         for (let n = 1; n < ${count}; n++) this.$emit(n);
       } };`,
  );
  expect((await post(source.endpoint, {})).status).toBe(200);
  const stored = () => hw.sql<{ data: string }[]>`
    select data from events where emitter_id = ${source.id} and channel = '' order by indexed_at_ms, seq`;
  await eventually(async () => (await stored()).length >= count);
  await hw.untilIdle();
  const expected = ['piece', ...Array.from({ length: count - 1 }, (_, n) => n + 1)];
  expect((await stored()).map(({ data }) => JSON.parse(data))).toEqual(expected);
  expect(await triesOf('deadlocks_piece')).toBe(3);
});

test('so are the outputs of a hook', async () => {
  await deadlockTwice('hooked');
  const source = await hw.deploy(
    `export default { name: 'Hooked', version: '1', hooks: { activate() { this.$emit('hooked'); } }, run() {} };`,
  );
  expect(await triesOf('deadlocks_hooked')).toBe(3);
  const events = await hw.untilEvents(source.id, 1);
  expect(events.map(({ event }) => event)).toEqual(['hooked']);
});
