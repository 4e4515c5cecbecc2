import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DeployedSource, type Headwater, sharedHeadwater } from '../../support/headwater.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());

/** Runs the text that it is sent, with `db`, and emits what that answers. */
const SCRIPT = `export default { name: 'Script', version: '1', props: { http: '$.interface.http', db: '$.service.db' },
  methods: { count() { const n = (this.db.get('n') ?? 0) + 1; this.db.set('n', n); return n; } },
  hooks: { deploy() { this.db.set('by', ['deploy']); }, activate() { this.db.set('by', [...this.db.get('by'), 'activate']); } },
  async run({ body }) { this.$emit({ answer: (await SCRIPTS[body].call(this)) ?? 'nothing' }); } };
`;

function scripted(scripts: Record<string, string>): string {
  const entries = Object.entries(scripts).map(([name, code]) => `${name}: async function () { ${code} }`);
  return `${SCRIPT}\nconst SCRIPTS = { ${entries.join(', ')} };`;
}

/** Answers of the scripts, one run after the other. */
async function answers(source: DeployedSource, names: readonly string[]): Promise<unknown[]> {
  for (const name of names) {
    await fetch(source.endpoint, { method: 'POST', headers: { 'content-type': 'text/plain' }, body: name });
    await hw.untilIdle();
  }
  const { data } = await hw.api('GET', `/sources/${source.id}/events`, { limit: 100, expand: 'event' });
  return data.map(({ event }: { event: { answer: unknown } }) => event.answer).toReversed();
}

test('get returns the JSON form of a value that was set, in later runs as in the same one', async () => {
  const source = await hw.deploy(
    scripted({
      set: `const values = [null, 0, false, '', [1, undefined], { a: undefined, d: new Date(0), n: NaN }, 'é\\u0000'];
        values.forEach((value, i) => this.db.set('v' + i, value));
        return values.map((_, i) => this.db.get('v' + i));`,
      get: `return [0, 1, 2, 3, 4, 5, 6].map((i) => this.db.get('v' + i));`,
    }),
  );
  const expected = [null, 0, false, '', [1, null], { d: '1970-01-01T00:00:00.000Z', n: null }, 'é\u0000'];
  expect(await answers(source, ['set', 'get'])).toEqual([expected, expected]);
});

test('a key that was never set is undefined, one that is set to undefined is deleted, one set to null is null', async () => {
  const source = await hw.deploy(
    scripted({
      read: `return [typeof this.db.get('k'), typeof this.db.get('other'), this.db.get('nil') === null];`,
      set: `this.db.set('k', 1); this.db.set('nil', null);`,
      drop: `this.db.set('k', undefined); this.db.set('other', undefined); return typeof this.db.get('k');`,
    }),
  );
  expect(await answers(source, ['read', 'set', 'read', 'drop', 'read'])).toEqual([
    ['undefined', 'undefined', false],
    'nothing',
    ['number', 'undefined', true],
    'undefined',
    ['undefined', 'undefined', true],
  ]);
});

test('deleted values make room: a full store takes as much again', async () => {
  await hw.limit({ maxDbBytes: 65_536 });
  const source = await hw.deploy(
    scripted({
      fill: `this.db.set('a', 'x'.repeat(60000)); return 'filled';`,
      more: `this.db.set('b', 'x'.repeat(60000)); return 'more';`,
      swap: `this.db.set('a', undefined); this.db.set('b', 'x'.repeat(60000)); return 'swapped';`,
      look: `return [this.db.get('a')?.length ?? 0, this.db.get('b')?.length ?? 0];`,
    }),
  );
  const told = await answers(source, ['fill', 'more', 'look', 'swap', 'look']);
  expect([told[2], told[4]]).toEqual([
    [60_000, 0],
    [0, 60_000],
  ]);
  const { data: runs } = await hw.api('GET', `/sources/${source.id}/runs`);
  expect(runs.map((run: { error: { limit: object } }) => run.error.limit)).toMatchObject([{ name: 'maxDbBytes' }]);
  await hw.limit({ maxDbBytes: null });
});

test('hooks, methods and run share one store, and each source has its own', async () => {
  const code = scripted({ read: `return [this.db.get('by'), this.count(), this.count()];` });
  const [one, other] = [await hw.deploy(code), await hw.deploy(code)];
  expect(await answers(one, ['read', 'read'])).toEqual([
    [['deploy', 'activate'], 1, 2],
    [['deploy', 'activate'], 3, 4],
  ]);
  expect(await answers(other, ['read'])).toEqual([[['deploy', 'activate'], 1, 2]]);
});

test('it outlives an update of the code, and ends with its source', async () => {
  const source = await hw.deploy(scripted({ count: `return this.count();` }));
  await answers(source, ['count']);
  const code = scripted({ count: `return 'new ' + this.count();` }).replace('activate() {', 'activate() { return;');
  expect((await hw.api('PUT', `/sources/${source.id}`, { component_code: code })).status).toBe(200);
  expect(await answers(source, ['count'])).toEqual([1, 'new 2']);
  await hw.api('DELETE', `/sources/${source.id}`);
});

test('a value that JSON cannot hold is refused at its line with the key, and the rest of the run is kept', async () => {
  const source = await hw.deploy(
    scripted({
      bad: `const told = [];
        const ring = {}; ring.ring = ring;
        for (const value of [() => 1, Symbol('s'), 10n, ring]) {
          try { this.db.set('bad', value); } catch (error) { told.push(error.name + ': ' + error.message.split('\\n')[0]); }
        }
        for (const key of [undefined, null, {}, 'k'.repeat(1025)]) {
          try { this.db.set(key, 1); } catch (error) { told.push(error.message); }
        }
        this.db.set('good', 1); this.db.set(7, 'seven');
        return told;`,
      read: `return [typeof this.db.get('bad'), this.db.get('good'), this.db.get('7')];`,
    }),
  );
  const [told, kept] = await answers(source, ['bad', 'read']);
  expect(told).toEqual([
    "TypeError: The value for 'bad' cannot be turned into JSON: it is a function",
    "TypeError: The value for 'bad' cannot be turned into JSON: it is a symbol",
    expect.stringContaining("TypeError: The value for 'bad' cannot be turned into JSON: "),
    expect.stringContaining("TypeError: The value for 'bad' cannot be turned into JSON: "),
    'A key of the store must be a string, not undefined',
    'A key of the store must be a string, not object',
    'A key of the store must be a string, not object',
    'A key of $.service.db has 1 025 bytes; the limit maxDbKeyBytes is 1 024 bytes',
  ]);
  expect(kept).toEqual(['undefined', 1, 'seven']);
});
