import { describe, expect, it } from 'vitest';
import { rawServer, response } from '../../support/hostile-egress.ts';
import { emitsOf } from '../../support/hostile-guest.ts';
import { runInForgedProcess } from '../../support/hostile-process.ts';
import { hostile } from '../../support/hostile.ts';
import type { ApiAnswer } from '../../support/server.ts';

// bridge: NUL characters and halves of surrogate pairs in events, ids, summaries, channels, keys,
// values and logs.
describe('control-characters', () => {
  const world = hostile();

  it('keys, ids and channels that cannot be told apart are refused, the run commits, and its events can be read', async () => {
    const ran = await world.unharmed(() =>
      world.attack(`
const odd = ['\\0', '\\ud800', '\\udfff\\ud800', '\\u2028', '\\x1b[2J', '\\uffff'];
let refused = 0;
const attempt = (act) => { try { act(); } catch (error) { if (!/NUL|surrogate/.test(error.message)) throw error; refused += 1; } };
for (const [i, text] of odd.entries()) {
  attempt(() => this.$emit({ [text]: text }, { id: text + 'id' }));
  attempt(() => this.$emit('on a channel', { id: i + 'channel', name: 'c' + text }));
  attempt(() => this.db.set('key' + text, 1));
  this.$emit({ [text]: text }, { id: 'event' + i, summary: text, name: undefined });
  this.db.set('key' + i, { [text]: text });
  console.log(text, { [text]: text });
}
this.$emit([refused, odd.map((text, i) => Object.keys(this.db.get('key' + i)).length)], { id: 'end' });
throw new Error('end' + odd.join(''));`),
    );
    expect(ran.error).toMatchObject({ code: 'COMPONENT_ERROR', message: expect.stringMatching(/^end/) as string });
    expect(ran.events).toContainEqual([9, [1, 1, 1, 1, 1, 1]]);
  });
});

// bridge: Emits, writes and reads from within the toJSON and the getters of what is being emitted.
describe('emits-within-emits', () => {
  const world = hostile();

  it('each is whole, in the order in which they were finished', async () => {
    const emitted = await emitsOf(
      world,
      `let depth = 0;
const inner = { toJSON: () => { depth += 1; if (depth < 5) this.$emit(inner); this.db.set('n', depth); return depth; } };
this.$emit({ get first() { return inner; }, get second() { return this.first === inner; } });
const { db: outer } = this;
this.$emit({ get stored() { return outer.get('n'); }, get none() { return outer.get('none') ?? null; } });
this.$emit(depth);`,
    );
    expect(emitted).toEqual([5, 5, 5, 5, { first: 5, second: true }, { stored: 5, none: null }, 5]);
  });
});

// ingress: Configured props of megabytes, of great depth, and of types that no prop has.
describe('props-of-megabytes', () => {
  const world = hostile();

  it('are refused before anything of them is stored', async () => {
    const component_code = `export default { name: 'Props', version: '1', props: { text: 'string', any: 'any' }, run() {} };`;
    const deep = JSON.parse('['.repeat(100) + ']'.repeat(100)) as unknown;
    const given = [{ text: 'x'.repeat(1_000_000) }, { text: { $: 1 } }, { text: ['x'] }, { any: deep, text: 5 }];
    const statuses = await world.unharmed(() =>
      Promise.all(
        given.map(async (configured_props) => {
          const answer = await world.attacker.api('POST', '/sources', { component_code, configured_props });
          return answer.status;
        }),
      ),
    );
    expect(statuses).toEqual([400, 400, 400, 400]);
  });
});

// bridge: Keys named `__proto__`, constructor and prototype: in events, in the store and as names
// of values.
describe('prototype-keys', () => {
  const world = hostile();

  it('are keys as any other, and no prototype is changed', async () => {
    const ran = await world.unharmed(async () => {
      const { id } = await world.attacker.deploy(`
export default { name: 'Keys', version: '1', props: { db: '$.service.db' }, run(event) {
  const evil = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":1}');
  for (const key of ['__proto__', 'constructor', 'hasOwnProperty', 'toString']) {
    const before = this.db.get(key);
    this.db.set(key, evil);
    this.$emit([key, typeof before, Object.keys(this.db.get(key))]);
  }
  this.$emit(event, { id: '__proto__', name: 'constructor', summary: '__proto__' });
  this.$emit([typeof {}.polluted, Object.keys(event), event instanceof Object]);
  this.$emit(evil);
} };`);
      const started = await fetch(`${world.server.url}/v1/sources/${id}/run`, {
        method: 'POST',
        headers: { authorization: `Bearer ${world.attacker.key}`, 'content-type': 'application/json' },
        body: '{"event":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}',
      });
      expect(started.status).toBe(200);
      await world.untilIdle();
      return world.attacker.api('GET', `/sources/${id}/event_summaries?limit=100&expand=event`);
    });
    const keys = ['__proto__', 'constructor', 'toString'];
    for (const key of ['__proto__', 'constructor', 'hasOwnProperty', 'toString'])
      expect(ran.text).toContain(JSON.stringify([key, 'undefined', keys]));
    expect(ran.text).toContain('["undefined",["__proto__","constructor"],true]');
    expect(ran.text).toContain('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":1}');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

// bridge: Props and methods named `__proto__`, constructor and $emit, with values of the
// attacker's.
describe('prototype-keys-in-props', () => {
  const world = hostile();

  const component = (props: string) => `export default { name: 'Props', version: '1', props: ${props},
  methods: { ['__proto__']() {}, hasOwnProperty() { return 'own'; } },
  run() { this.$emit([typeof {}.polluted, typeof this.polluted, this.toString, this.hasOwnProperty()]); } };`;

  /** `values` as JSON, of which an object with a member `__proto__` of its own is read. */
  const deploy = (props: string, values: string): Promise<ApiAnswer> =>
    world.attacker.api('POST', '/sources', { component_code: component(props), configured_props: JSON.parse(values) });

  it('props of such names are refused', async () => {
    const props = `{ ['__proto__']: { type: 'string' }, constructor: { type: 'string' }, $emit: { type: 'string' } }`;
    const { status, body } = await world.unharmed(() => deploy(props, '{"constructor":"c"}'));
    const message = 'this name is reserved';
    expect(status).toBe(400);
    expect(body.errors).toEqual(
      ['__proto__', 'constructor', '$emit'].map((name) => ({ path: `props.${name}`, message })),
    );
  });

  it('a value of such a name is refused', async () => {
    const { status, body } = await world.unharmed(() =>
      deploy(`{ toString: { type: 'string' } }`, '{"__proto__":{"polluted":1},"toString":"t"}'),
    );
    expect([status, body.errors]).toEqual([
      400,
      [{ path: 'configured_props.__proto__', message: 'is a reserved name' }],
    ]);
  });

  it("methods of such names are the component's own affair", async () => {
    const ran = await world.unharmed(async () => {
      const { status, body } = await deploy(`{ toString: { type: 'string' } }`, '{"toString":"t"}');
      expect([status, Object.keys(body.data.configured_props)]).toEqual([200, ['toString']]);
      return world.run(body.data.id as string);
    });
    expect(ran.error).toBeUndefined();
    expect(ran.events).toEqual([['undefined', 'undefined', 't', 'own']]);
  });
});

// bridge: Events and values a hundred thousand levels deep, and some thousand.
describe('values-of-any-depth', () => {
  const world = hostile();

  it('a value that JSON cannot hold is an error, and the rest is stored', async () => {
    // A second of it, and several times that on a machine that is full.
    await world.limit({ runCpuMs: 60_000 });
    const ran = await world.unharmed(() =>
      world.attack(`
const nest = (levels) => { let value = 1; for (let i = 0; i < levels; i++) value = [value]; return value; };
const attempt = (act) => { try { act(); return 'taken'; } catch (error) { return error.name; } };
const cycle = {}; cycle.self = cycle;
const answers = [
  attempt(() => this.$emit(nest(1e5))), attempt(() => this.db.set('deep', nest(1e5))),
  attempt(() => this.$emit(cycle)), attempt(() => this.$emit({ big: 1n })), attempt(() => this.$emit(() => {})),
  attempt(() => console.log(nest(1e5))),
];
this.$emit(nest(2000));
this.$emit(answers);`),
    );
    expect(ran.error).toBeUndefined();
    const [deep, answers] = ran.events as [unknown, string[]];
    expect(JSON.stringify(deep)).toBe(`${'['.repeat(2000)}1${']'.repeat(2000)}`);
    expect(answers).toEqual(['TypeError', 'TypeError', 'TypeError', 'TypeError', 'TypeError', 'taken']);
  });
});

// bridge: Headers of 300 kilobytes, header names and methods of 300 characters: more than the
// other side of the bridge takes.
describe('heads-beyond-their-bounds', () => {
  const world = hostile();

  const CODE = `
export default { name: 'Heads', version: '1', props: { http: '$.interface.http' }, async run() {
  const http = process.getBuiltinModule('http');
  const viaHttp = (options) => new Promise((resolve, reject) => http.request('http://127.0.0.1:1/', options).on('error', reject).end());
  const large = { a: 'x'.repeat(300_000) };
  const long = { ['n'.repeat(300)]: 'x' };
  const acts = [
    () => fetch('http://127.0.0.1:1/', { headers: large }), () => fetch('http://127.0.0.1:1/', { headers: long }),
    () => fetch('http://127.0.0.1:1/', { method: 'M'.repeat(300) }), () => viaHttp({ headers: large }), () => viaHttp({ headers: long }),
    () => viaHttp({ method: 'M'.repeat(300) }), () => this.http.respond({ status: 200, headers: large }),
    () => this.http.respond({ status: 200, headers: long }),
  ];
  const names = [];
  for (const act of acts) try { await act(); names.push('done'); } catch (error) { names.push(error.name); }
  this.$emit(names);
} };`;

  it('are errors of the run at its own line, and its process goes on', async () => {
    const ran = await world.unharmed(async () => {
      const { id } = await world.attacker.deploy(CODE);
      return world.run(id);
    });
    expect(ran.error).toBeUndefined();
    expect(ran.events).toEqual([[...Array(6).fill('TypeError'), 'RangeError', 'TypeError']]);
  });

  it('an answer of 25 000 headers, or a cookie of 250 000 attributes, ends a process that was taken over', async () => {
    await world.unharmed(async () => {
      for (const headers of [
        `Array(25000).fill(['h', ''])`,
        `Array(1001).fill(['set-cookie', 'a=1'])`,
        `[['set-cookie', ';'.repeat(250000)]]`,
        `Array(1000).fill(['set-cookie', 'x'.repeat(60)])`,
      ]) {
        const head = `JSON.stringify({ status: 200, headers: ${headers} })`;
        for (const answer of [`send(RESPOND, 1, ${head}, '')`, `send(STEP_RESPOND, 1, ${head}, '', 'now')`]) {
          const ran = await runInForgedProcess(`function attack() { ${answer}; send(OUTCOME, 1, '[1,1]'); }`);
          expect([answer, ran.outcome]).toMatchObject([answer, { ok: false, fault: { code: 'SANDBOX_CRASHED' } }]);
          expect(ran.host.responses).toEqual([]);
          expect(ran.problems.join()).toMatch(/An answer of too many headers|An answer whose headers are too large/);
          expect(ran.otherData).toEqual(['honest']);
        }
      }
      const head = `JSON.stringify({ status: 200, headers: Array(1000).fill(['x-a', 'x'.repeat(60)]) })`;
      const within = await runInForgedProcess(
        `function attack() { send(RESPOND, 1, ${head}, ''); send(OUTCOME, 1, '[1,1]'); }`,
      );
      expect(within.outcome.ok).toBe(true);
      expect(within.host.responses).toHaveLength(1);
    });
  });
});

// bridge: An answer of megabytes to a request, taken as text: it crosses at once and is handed
// over, not copied.
describe('huge-answers', () => {
  const world = hostile();
  const CHARS = 4_000_000;
  const body = Buffer.from('ö'.repeat(CHARS));
  const server = rawServer((socket) => socket.end(response(`content-length: ${body.length}\r\n`, body)));

  it('does not hold up the others', async () => {
    const read = 'const text = await (await fetch(event.url)).text(); this.$emit([text.length, text.at(-1)]);';
    const ran = await world.unharmed(() => world.attack(read, { event: { url: server.url } }));
    expect(ran.error).toBeUndefined();
    expect(ran.events).toEqual([[CHARS, 'ö']]);
  });
});
