import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from './support/eventually.ts';
import { type Headwater, startHeadwater } from './support/headwater.ts';
import { type Receiver, startReceiver } from './support/receiver.ts';
import { post } from './support/server.ts';

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
  // Its code ran once: what is tried again is its end alone.
  expect(receiver.requests).toHaveLength(1);
  const ofRuns = lines.map(({ msg }) => msg).filter((msg) => !msg.startsWith('Sandbox'));
  expect(ofRuns).toEqual([
    'what a run brought could not be stored',
    'a commit failed and is tried again',
    'a commit failed and is tried again',
  ]);
});
