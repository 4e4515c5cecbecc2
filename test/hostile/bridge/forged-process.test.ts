import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountLimits } from '../../../shared/src/index.ts';
import { type ForgedEngine, startForgedEngine } from '../../support/forged-engine.ts';
import { hostile } from '../../support/hostile.ts';
import { sampleCases } from '../../support/long-run.ts';

// process: Processes that have been taken over, in a whole node with its database: frames of every
// wrong kind, floods, and silence.
describe('forged-process-in-an-engine', () => {
  const world = hostile();

  const fetchOf = (head: object) => `JSON.stringify(${JSON.stringify({ method: 'GET', redirect: 'error', ...head })})`;

  /** Frames of the run `run`, each with why its process is ended. */
  const BREAKS: Record<string, [frames: string, reason: string]> = {
    'a length of gigabytes': ['channel.write(Buffer.from([255, 255, 255, 127, 1, 2, 3]))', 'over the limit'],
    'a length below nothing': ['channel.write(Buffer.from([255, 255, 255, 255, 1, 2, 3]))', 'over the limit'],
    'a frame without a head': ['channel.write(Buffer.from([1, 0, 0, 0, 2]))', 'shorter than its head'],
    'parts that are none': ['channel.write(Buffer.from([6, 0, 0, 0, 2, 255, 1, 0, 0, 0]))', 'more parts than it holds'],
    'an unknown kind': ['send(99, run)', 'Unknown message 99'],
    'a word for the node': ['send(READY, 0)', 'ready again'],
    'an answer to no heartbeat': ['send(PONG, 0)', 'was not sent'],
    'an answer that nobody asked for': [`send(OUTCOME, run, '[1,1]', '{"options":[]}')`, 'without a question'],
    'a description of a run': [`send(DESCRIBED, run, '{}')`, 'A run was described'],
    'an outcome that is no JSON': [`send(OUTCOME, run, '[1,')`, 'A head that is not JSON'],
    'times that are none': [`send(OUTCOME, run, '[-1e300,1e300]')`, 'not a duration of a run'],
    'a code of others': [`send(OUTCOME, run, '[1,1,"RUN_ABANDONED",true]', 'm', '')`, 'a run cannot have'],
    'a fault of megabytes': [
      `send(OUTCOME, run, '[1,1,"COMPONENT_ERROR",false]', 'x'.repeat(15e6), '')`,
      'over its limit',
    ],
    'a line of megabytes': [`send(LOG, run, '1:1', 'x'.repeat(5e6))`, 'A log line over its limit'],
    'an event that no database takes': [`send(EMIT, run, '"\\0"', META)`, 'NUL'],
    'a value that no database takes': [`send(DB_SET, run, 'key', '"\\0"')`, 'NUL'],
    'outputs beyond the limits': [`for (let i = 0; i < 20_000; i++) send(EMIT, run, '"x"', META)`, 'went over a limit'],
    'an output of steps': [`send(STEP_EXPORT, run, 'a', '1')`, 'A message of a step'],
    'an answer of many headers': [
      `send(RESPOND, run, JSON.stringify({ status: 200, headers: Array(25e3).fill(['h', '']) }), '')`,
      'too many headers',
    ],
    'a smuggled header': [
      `send(FETCH, run, '1', ${fetchOf({ url: 'http://a.example/', headers: [['a', 'b\r\nhost: c']] })})`,
      'A header that would break its line',
    ],
    'requests of one number': [
      `for (let i = 0; i < 200; i++) send(FETCH, run, '1', ${fetchOf({ url: 'http://127.0.0.1:1/', headers: [] })})`,
      'same number',
    ],
    'heads of thousands of members': [
      `const members = Object.fromEntries(Array.from({ length: 20e3 }, (_, i) => ['m' + i, 0]));
     send(EMIT, run, '1', JSON.stringify({ emittedAtMs: 1, ...members }))`,
      'A head with more than it has',
    ],
    'a call on stores that is no JSON': [`send(DATA_STORE, run, '1', '{')`, 'A head that is not JSON'],
    'reads without end': [`for (let i = 1; i < 9_000; i++) send(DB_GET, run, String(i), 'key' + i)`, 'More open reads'],
    'words about other runs without end': [
      `channel.write(Buffer.concat(Array(30_000).fill(frame(EMIT, 4294967295, '1', META))))`,
      'messages about nothing',
    ],
  };

  /** Frames of attacks whose runs end well, with the events that the run itself emitted. */
  const WORDS = {
    'words about other runs': [
      `for (const other of [0, run + 1, 1000, 4294967295]) {
       send(EMIT, other, '"forged"', META); send(DB_SET, other, 'forged', '1'); send(OUTCOME, other, '[1,1]');
     }
     send(EMIT, run, '"own"', META); send(OUTCOME, run, '[1,1]')`,
      ['own'],
    ],
    'words after the end': [
      `send(EMIT, run, '1', META); send(OUTCOME, run, '[1,1]'); send(EMIT, run, '2', META); send(DB_SET, run, 'forged', '1');
     send(OUTCOME, run, '[1,1,"CPU_LIMIT",false]', 'm', ''); send(DESCRIBED, run, '{}')`,
      [1],
    ],
    'stores of the other tenant': [
      `send(DATA_STORE, run, '1', JSON.stringify({ storeId: store, op: 'clear' }));
     send(DATA_STORE, run, '2', JSON.stringify({ storeId: store, op: 'set', key: 'kept' }), '"forged"');
     setTimeout(() => send(OUTCOME, run, '[1,1]'), 100)`,
      [],
    ],
  } satisfies Record<string, [frames: string, emitted: unknown[]]>;

  const SILENCE = 'silence';

  let node: ForgedEngine;
  beforeAll(async () => {
    const said = Object.entries({ ...BREAKS, ...WORDS }).map(([name, [frames]]) => [name, frames]);
    node = await startForgedEngine({ ...Object.fromEntries(said), [SILENCE]: 'for (;;);' });
  });
  afterAll(() => node?.stop());

  type Ran = { name: string } & Awaited<ReturnType<ForgedEngine['attack']>>;

  /** Runs each attack in turn, and passes its outcome and the expected one to `judge`. */
  async function makeEach<T>(
    attacks: Readonly<Record<string, [frames: string, wanted: T]>>,
    judge: (ran: Ran, wanted: T) => void,
  ): Promise<void> {
    await world.unharmed(async () => {
      for (const [name, [, wanted]] of Object.entries(attacks)) judge({ name, ...(await node.attack(name)) }, wanted);
    });
  }

  it('frames that break the protocol end the run as SANDBOX_CRASHED, and other tenants notice nothing', () =>
    makeEach(Object.fromEntries(sampleCases(Object.entries(BREAKS), 3)), (ran, reason) => {
      const { name } = ran;
      expect(ran).toMatchObject({ name, stored: 'SANDBOX_CRASHED', answered: 'SANDBOX_CRASHED', keys: [] });
      expect(`${name}: ${ran.reasons.join()}`).toContain(reason);
      // A run keeps its earlier events, up to its own limit.
      expect(ran.events.length).toBeLessThanOrEqual(accountLimits().maxEmitsPerRun);
    }));

  it("messages about foreign things reach no tenant, and the process's own run ends well", () =>
    makeEach<unknown[]>(WORDS, (ran, events) => {
      const { name } = ran;
      expect({ ...ran, stored: ran.stored ?? null }).toEqual({
        name,
        stored: null,
        answered: undefined,
        events,
        keys: [],
        reasons: [],
      });
    }));

  it('silence ends the run at its limit of time', async () => {
    await node.limit({ timerRunWallMs: 2_000 });
    const ran = await world.unharmed(() => node.attack(SILENCE));
    expect(ran).toEqual({ stored: 'WALL_LIMIT', answered: 'WALL_LIMIT', events: [], keys: [], reasons: [] });
  });
});
