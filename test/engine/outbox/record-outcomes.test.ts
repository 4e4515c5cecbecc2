import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createOutcomeRecorder } from '../../../engine/src/outbox/record-outcomes.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  // Refuses one attempt for ever, with the state that its text names.
  await database.db.sql.unsafe(`
    create table outcomes (id text primary key);
    create function refuse() returns trigger language plpgsql as $$ begin
      if new.id like 'bad%' then raise exception 'refused' using errcode = split_part(new.id, ' ', 2); end if;
      return new;
    end $$;
    create trigger refuse before insert on outcomes for each row execute function refuse();`);
});
afterAll(() => database.drop());
beforeEach(async () => void (await database.db.sql`truncate outcomes`));

interface Attempt {
  id: string;
  status: 'delivered';
}

const attempt = (id: string): Attempt => ({ id, status: 'delivered' });

async function store(attempts: readonly Attempt[]): Promise<boolean[]> {
  await database.db.sql`insert into outcomes select * from unnest(${attempts.map(({ id }) => id)}::text[])`;
  return attempts.map(() => true);
}

function startRecorder(record: (attempts: readonly Attempt[]) => Promise<boolean[]> = store) {
  const lines: { level: number; delivery?: string }[] = [];
  const log = pino(
    { level: 'debug' },
    { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[number]) },
  );
  const unrecorded: string[] = [];
  const recorder = createOutcomeRecorder<Attempt>({
    record,
    withoutTexts: (one) => one,
    describe: ({ id }) => ({ delivery: id }),
    onUnrecorded: (error) => unrecorded.push((error as { code: string }).code),
    log,
  });
  const givenUp = () => lines.filter(({ level, delivery }) => level === 50 && delivery !== undefined);
  return { recorder, unrecorded, givenUp };
}

const stored = async () =>
  (await database.db.sql`select id from outcomes order by id`).map((row) => row['id'] as string);

test('an attempt that no statement can record is given up alone, and told', async () => {
  const { recorder, unrecorded, givenUp } = startRecorder();
  const good = [recorder.record(attempt('a')), recorder.record(attempt('c'))];
  const bad = recorder.record(attempt('bad 42P01'));
  await Promise.all(good);
  expect(await stored()).toEqual(['a', 'c']);
  await eventually(() => expect(unrecorded).toEqual(['42P01']));
  expect(givenUp()).toMatchObject([{ delivery: 'bad 42P01' }]);
  // It takes no room from others, and is not tried again here.
  expect(recorder.stats()).toMatchObject({ recording: 0, delivered: 2 });
  await recorder.stop();
  await bad;
});

test('an attempt with refused data fails no other attempt, and takes no node out of service', async () => {
  const { recorder, unrecorded, givenUp } = startRecorder();
  const bad = recorder.record(attempt('bad 22P05'));
  await recorder.record(attempt('b'));
  await eventually(() => expect(givenUp()).toHaveLength(1));
  expect([await stored(), unrecorded]).toEqual([['b'], []]);
  await recorder.stop();
  await bad;
});

test.each(['40001', '40P01', '53300', '55P03', '57014', '57P01', 'CONNECTION_CLOSED', 'ECONNRESET'])(
  'an attempt is recorded once the database takes it again, after %s',
  async (code) => {
    let failures = 2;
    const { recorder, unrecorded, givenUp } = startRecorder((attempts) => {
      if (failures === 0) return store(attempts);
      failures -= 1;
      return Promise.reject(Object.assign(new Error('not now'), { code }));
    });
    await recorder.record(attempt('a'));
    expect([await stored(), unrecorded, givenUp()]).toEqual([['a'], [], []]);
    await recorder.stop();
  },
);
