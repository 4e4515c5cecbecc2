import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunEntry } from '../../../sandbox-runtime/src/sandbox-types.ts';
import { type HostilePosts, startHostilePosts } from '../../support/hostile-posts.ts';
import { hostile } from '../../support/hostile.ts';
import { stepInput } from '../../support/step-kit.ts';

// bridge: Posts out of an isolate with values of other types, out of range, too long, told twice
// or of no kind, for each kind there is.
describe('posts-of-any-shape', () => {
  const world = hostile();
  let posts: HostilePosts;
  beforeAll(async () => {
    posts = await startHostilePosts();
  });
  afterAll(() => posts.stop());

  const META = `'{"emittedAtMs":1}'`;
  const RUN: RunEntry = { kind: 'run', event: '{}' };
  const STEP: RunEntry = { kind: 'step', input: stepInput() };
  const OPTIONS: RunEntry = { kind: 'options', prop: 'city', page: 0 };
  const FETCH = `'{"url":"http://a/","method":"GET","redirect":"follow","headers":[]}'`;
  const STORE = `{ storeId: 'ds_a', op: 'get', key: 'k' }`;

  const emit = (meta: string) => `post(POST.emit, run, '1', ${meta})`;
  const meta = (members: string) => emit(`JSON.stringify({ emittedAtMs: 1, ${members} })`);
  const respond = (head: string) => `post(POST.respond, run, JSON.stringify(${head}), '')`;
  const fetching = (head: string) =>
    `post(POST.fetch, run, 1, JSON.stringify({ url: 'http://a/', method: 'GET', redirect: 'follow', headers: [], ${head} }))`;
  const fetchingAs = (call: string) => `post(POST.fetch, run, ${call}, ${FETCH})`;
  const asking = (members: string) =>
    `post(POST.dataStore, run, 1, JSON.stringify({ storeId: 'ds_a', op: 'set', ${members} }), '1')`;
  const stepFlow = (action: string) => `post(POST.stepFlow, run, JSON.stringify(${action}))`;
  const log = (head: string, text = `''`) => `post(POST.log, run, ${head}, ${text})`;

  const OF_RUNS = {
    'an event that is no text': `post(POST.emit, run, 1, ${META})`,
    'an event with a NUL': `post(POST.emit, run, '"\\0"', ${META})`,
    'an event without a head': `post(POST.emit, run, '1')`,
    'a head that is no JSON': emit(`'{'`),
    'a head that is no object': emit(`'1'`),
    'a head of half a megabyte': emit(`JSON.stringify({ emittedAtMs: 1, summary: 'x'.repeat(500000) })`),
    'a head with more than it has': meta(`extra: 1`),
    'an id of null': meta(`id: null`),
    'an id that is an object': meta(`id: {}`),
    'an id of a thousand characters': meta(`id: 'x'.repeat(1000)`),
    'a channel that is no text': meta(`name: 1`),
    'a channel of a thousand characters': meta(`name: 'x'.repeat(1000)`),
    'a summary that is no text': meta(`summary: {}`),
    'a summary without end': meta(`summary: 'x'.repeat(100000)`),
    'a time that is a part of one': meta(`ts: 1.5`),
    'a time that is text': meta(`ts: '1'`),
    'a time after the last': meta(`ts: 1e300`),
    'no time of the emit': emit(`'{}'`),
    'an answer without a status': respond(`{ headers: [] }`),
    'a status that is none': respond(`{ status: 99, headers: [] }`),
    'a status that is text': respond(`{ status: '200', headers: [] }`),
    'headers that are no list': respond(`{ status: 200, headers: {} }`),
    'a header that is no pair': respond(`{ status: 200, headers: [['a']] }`),
    'a header that breaks its line': respond(`{ status: 200, headers: [['a', 'b\\r\\nc: d']] }`),
    'a header that is no text': respond(`{ status: 200, headers: [['a', 1]] }`),
    'headers without end': respond(`{ status: 200, headers: Array(5000).fill(['a', 'b']) }`),
    'two answers': `${respond(`{ status: 200, headers: [] }`)}; ${respond(`{ status: 200, headers: [] }`)}`,
    'an answer whose body is a number': `post(POST.respond, run, '{"status":200,"headers":[]}', 5)`,
    'a key that is no text': `post(POST.dbSet, run, {}, '1')`,
    'a value that is no text': `post(POST.dbSet, run, 'k', 1)`,
    'a value with a NUL': `post(POST.dbSet, run, 'k', '\\0')`,
    'a key to read of kilobytes': `read(run, 'x'.repeat(5000))`,
    'a key to read that is no text': `read(run, 5)`,
    'a request without a head': `post(POST.fetch, run, 1)`,
    'a request whose number is none': fetchingAs(`NaN`),
    'a request whose number is a part of one': fetchingAs(`1.5`),
    'a request whose number is below zero': fetchingAs(`-1`),
    'a request whose number is text': fetchingAs(`'1'`),
    'two requests of one number': `${fetchingAs('1')}; ${fetchingAs('1')}`,
    'two requests of one number, the first aborted': `${fetchingAs('1')}; post(POST.fetchAbort, run, 1); ${fetchingAs('1')}`,
    'more requests than a run makes': `for (let i = 0; i < 1001; i++) ${fetchingAs('i')}`,
    'a URL that is no text': fetching(`url: 1`),
    'a method that is none': fetching(`method: 'G E T'`),
    'a method that is no text': fetching(`method: {}`),
    'an unknown redirect mode': fetching(`redirect: 'toString'`),
    'a request with a smuggled header': fetching(`headers: [['a', 'b\\r\\nc: d']]`),
    'a body that is an object': `post(POST.fetch, run, 1, ${FETCH}, {})`,
    'a body over its limit': `post(POST.fetch, run, 1, ${FETCH}, 'x'.repeat(7000000))`,
    'a call of a store of another kind': `post(POST.dataStore, run, 1, JSON.stringify({ ...${STORE}, op: 'drop' }))`,
    'a call of a store whose number is none': `post(POST.dataStore, run, Infinity, JSON.stringify(${STORE}))`,
    'a call of a store without an id': `post(POST.dataStore, run, 1, '{"op":"get"}')`,
    'a call of a store with a key that is no text': asking(`key: 5`),
    'a call of a store with a key of kilobytes': asking(`key: '€'.repeat(500)`),
    'a call of a store with a ttl that is text': asking(`key: 'k', ttlSeconds: '5'`),
    'a call of a store with a value over its limit': `post(POST.dataStore, run, 1, JSON.stringify(${STORE}), 'x'.repeat(2000000))`,
    'a hundred calls of stores at once': `for (let i = 0; i < 100; i++) post(POST.dataStore, run, i, JSON.stringify(${STORE}))`,
    'two calls of stores of one number': `for (let i = 0; i < 2; i++) post(POST.dataStore, run, 1, JSON.stringify(${STORE}))`,
    'a log line of a level that is none': log(`'7:1'`),
    'a log line with another limit': log(`'1:1:maxLogLineBytes:1:2'`),
    'a log line that is longer than one': log(`'1:1'`, `'x'.repeat(100000)`),
    'a log line whose bytes are more than its characters': log(`'1:1'`, `'€'.repeat(10000)`),
    'a log line that is no text': log(`'1:1'`, `5`),
    'a timer of no time': `post(POST.timerSet, run, 1, NaN)`,
    'a timer whose number is an object': `post(POST.timerSet, run, {}, 1)`,
    'a call of crypto.subtle without bytes': `post(POST.webCrypto, run, 1, '{}')`,
    'an answer that nobody asked for': `post(POST.done, run, '1')`,
    'an answer that is no text': `post(POST.done, run, {})`,
    'a failure that is no text': `post(POST.failed, run, {})`,
    'a failure of megabytes': `post(POST.failed, run, JSON.stringify({ message: 'x'.repeat(5000000) }))`,
    'a failure whose message is an object': `post(POST.failed, run, '{"message":{},"stack":[]}')`,
    'an export of a run that is no step': `post(POST.stepExport, run, 'a', '1')`,
    'a post of no kind': `post(99, run, 'a', 'b')`,
    'a post whose kind is text': `post('toString', run, 'a', 'b')`,
  };
  const OF_STEPS = {
    'an export under what the step returns': `post(POST.stepExport, run, '$return_value', '1')`,
    'an export without a name': `post(POST.stepExport, run, '', '1')`,
    'an export with a name of kilobytes': `post(POST.stepExport, run, 'x'.repeat(10000), '1')`,
    'an export whose name is a number': `post(POST.stepExport, run, 1, '1')`,
    'an export that is no JSON': `post(POST.stepExport, run, 'a', '1,"b":2')`,
    'an export without a value': `post(POST.stepExport, run, 'a')`,
    'a send of another kind': `post(POST.stepSend, run, 'toString', '{}')`,
    'a send that is no JSON': `post(POST.stepSend, run, 'emit', '{')`,
    'an unknown end': stepFlow(`{ kind: 'valueOf' }`),
    'a delay that is a part of a millisecond': stepFlow(`{ kind: 'delay', ms: 0.5 }`),
    'a delay of a thousand years': stepFlow(`{ kind: 'delay', ms: 1e15 }`),
    'a million reruns': stepFlow(`{ kind: 'rerun', ms: 1, maxRetries: 1e6 }`),
    'a reason without end': stepFlow(`{ kind: 'exit', reason: 'x'.repeat(10000) }`),
    'a rerun with a context that is no JSON': `post(POST.stepFlow, run, '{"kind":"rerun","ms":0,"maxRetries":1}', '{')`,
    'props that are no object': `post(POST.stepProps, run, '[1]', '[]')`,
    'props that are no JSON': `post(POST.stepProps, run, '{"a":1,', '[]')`,
    'props of megabytes': `post(POST.stepProps, run, JSON.stringify({ a: 'x'.repeat(5000000) }), '[]')`,
    'cut props that are no names': `post(POST.stepProps, run, '{}', '[1]')`,
    'cut props that are no list': `post(POST.stepProps, run, '{}', '{"length":1}')`,
    'props for a second time': `for (let i = 0; i < 2; i++) post(POST.stepProps, run, '{}', '[]')`,
    'two ends': `for (let i = 0; i < 2; i++) ${stepFlow(`{ kind: 'exit' }`)}`,
    'two answers': `for (let i = 0; i < 2; i++) post(POST.stepRespond, run, '{"status":200,"headers":[]}', '', 'now')`,
    'a status that is none': `post(POST.stepRespond, run, '{"status":1000,"headers":[]}', '', 'now')`,
  };
  const OF_FORMS = {
    'an emit': emit(META),
    'an answer of HTTP': respond(`{ status: 200, headers: [] }`),
    'a value': `post(POST.dbSet, run, 'k', '1')`,
    'no answer': `post(POST.done, run)`,
  };

  const COMPONENT_ERROR = { ok: false, innocent: false, fault: { code: 'COMPONENT_ERROR' } };

  it.each([
    ['a run', RUN, OF_RUNS],
    ['a step', STEP, OF_STEPS],
    ['a form', OPTIONS, OF_FORMS],
  ] as const)(
    'each of them ends %s alone, and the process goes on with the other of the account',
    async (_, entry, attacks) => {
      await world.unharmed(async () => {
        for (const [name, code] of Object.entries(attacks))
          expect([name, await posts.run(code, entry)]).toMatchObject([name, COMPONENT_ERROR]);
      });
    },
  );

  const wholeRun = `
post(POST.emit, run, '1', '{"emittedAtMs":1,"id":"a","name":"c","summary":"s","ts":5}');
post(POST.log, run, '1:1', 'line'); post(POST.dbSet, run, 'k', ''); post(POST.respond, run, '{"status":200,"headers":[]}', '');
post(POST.done, run);`;
  it('a message of a guest that is unchanged is taken', async () => {
    expect(await posts.run(wholeRun)).toMatchObject({ ok: true });
  });

  it.each([
    ['is no text', `globalThis.outline = () => 5`],
    ['is nothing', `globalThis.outline = () => undefined`],
    ['is twenty megabytes', `globalThis.outline = () => 'x'.repeat(20e6)`],
    ['is an error of twenty megabytes', `globalThis.failure = JSON.stringify({ message: 'x'.repeat(20e6) })`],
    ['is an error that is no JSON', `globalThis.failure = '{'`],
  ])('an outline that %s refuses the component, and the process goes on', async (_, code) => {
    const loaded = await world.unharmed(() => posts.describe(`${code}; export default {}`));
    expect(loaded).toMatchObject({ kind: 'looked-at', outcome: { ok: false } });
  });
});

// bridge: Calls to the process beside the isolate: lists that are small only in an isolate, and
// salts that each block hashes again.
describe('arguments-without-end', () => {
  const world = hostile();

  const ASKS = `
  const crypto = process.getBuiltinModule('crypto');
  const zlib = process.getBuiltinModule('zlib');
  const row = new Array(1000).fill({}), all = new Array(4000).fill(row);
  const asks = [
    () => crypto.pbkdf2Sync('p', 's', all, 20, 'sha1'),
    () => zlib.deflateSync('p', { params: { 1: all } }),
    () => crypto.pbkdf2Sync('p', new Uint8Array(4e6), 1, 40000, 'sha1'),
    () => crypto.scryptSync('p', new Uint8Array(8e6), 32, { N: 2, r: 256, p: 1 }),
    () => crypto.scryptSync('p', 's', 1e6, { N: 2, r: 2 ** 18, p: 1, maxmem: 2 ** 30 }),
    () => crypto.subtle.importKey('raw', new Uint8Array(8), 'PBKDF2', false, ['deriveBits']).then((key) =>
      crypto.subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-256', salt: new Uint8Array(2e6), iterations: 1 }, key, 65536)),
  ];
  const refused = [];
  for (const ask of asks) try { await ask(); refused.push('done') } catch (error) { refused.push(error.message) }
  this.$emit(refused);`;

  it('is refused before it takes the process, which goes on', async () => {
    // To write the lists takes the isolate seconds of its own.
    await world.limit({ runCpuMs: 60_000 });
    const ran = await world.unharmed(() => world.attack(ASKS, { timeoutMs: 60_000 }));
    expect(ran.error).toBeUndefined();
    expect(ran.events).toEqual([
      [
        expect.stringContaining('too many'),
        expect.stringContaining('must be of type number'),
        expect.stringContaining('salt'),
        expect.stringContaining('salt'),
        expect.stringContaining('too long'),
        expect.stringContaining('salt'),
      ],
    ]);
  });
});
