import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { withinMemory } from '../../support/hostile-ingress.ts';
import { hostile } from '../../support/hostile.ts';

// ingress: Bytes that are no UTF-8, lone surrogates and NULs in bodies, which databases and JSON
// do not take.
describe('broken-utf8', () => {
  const world = hostile();
  const BIN = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' }, run(event) { this.$emit(event); } };`;
  const BODIES = [
    Buffer.from([0xff, 0xfe, 0xc0, 0x80, 0xed, 0xa0, 0x80]),
    Buffer.from('{"a":"\\ud800\\u0000"}'),
    Buffer.alloc(10_000, 0x80),
    Buffer.from('\0'.repeat(1_000)),
  ];

  it('each is an event like any other, or a 400 of the API', async () => {
    const { attacker, server } = world;
    const { id, endpoint } = await attacker.deploy(BIN);
    await world.unharmed(async () => {
      for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded']) {
        for (const body of BODIES) {
          const headers = { 'content-type': type, authorization: `Bearer ${attacker.key}` };
          const sent = await fetch(endpoint, { method: 'POST', headers, body });
          const api = await fetch(`${server.url}/v1/webhooks`, { method: 'POST', headers, body });
          expect([type, sent.status, api.status]).toEqual([type, 200, 400]);
        }
      }
      await world.untilIdle();
    });
    const stored = () => attacker.api('GET', `/sources/${id}/event_summaries?limit=100`);
    await eventually(async () => (await stored()).body.data.length >= 12);
  });
});

// ingress: JSON objects of a hundred thousand keys chosen to be slow: array indexes, one prefix,
// equal lengths, repeats.
describe('colliding-keys', () => {
  const world = hostile();
  const BIN = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' }, run(event) { this.$emit(event); } };`;
  const COUNT = 30_000;
  const KEYS: ((n: number) => string)[] = [
    (n) => String(4_294_967_294 - n * 7),
    (n) => 'k'.repeat(4) + String(n).padStart(8, '0'),
    () => 'same',
    (n) => String.fromCodePoint(0x4e00 + (n % 20_000)) + String(n % 7),
  ];

  it('cost what their bytes cost', async () => {
    const { attacker, server } = world;
    const { endpoint } = await attacker.deploy(BIN);
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${attacker.key}` };
    await world.unharmed(() =>
      withinMemory(server, async () => {
        for (const key of KEYS) {
          const object = `{${Array.from({ length: COUNT }, (_, n) => `"${key(n)}":0`).join()}}`;
          expect((await fetch(endpoint, { method: 'POST', headers, body: object })).status).toBe(200);
          const api = await fetch(`${server.url}/v1/sources`, {
            method: 'POST',
            headers,
            body: `{"configured_props":${object}}`,
          });
          expect(api.status).toBe(400);
        }
        await world.untilIdle();
      }),
    );
  });
});

// ingress: JSON nested fifty thousand levels deep, to an endpoint whose run fails, to the API and
// as a run's event.
describe('deep-json', () => {
  const world = hostile();
  const LEVELS = 50_000;
  const FAILING = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' },
  run(event) { throw new Error('Not this'); } };`;
  const DEEP = ['['.repeat(LEVELS) + ']'.repeat(LEVELS), '{"a":'.repeat(LEVELS) + '1' + '}'.repeat(LEVELS)];

  it('the API refuses it by its depth; at an endpoint its run is recorded like any other', async () => {
    const { attacker, server } = world;
    const { id, endpoint } = await attacker.deploy(FAILING);
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${attacker.key}` };
    await world.unharmed(() =>
      withinMemory(server, async () => {
        for (const text of DEEP) {
          const body = `{"event":${text},"configured_props":${text}}`;
          for (const path of ['/sources', `/sources/${id}/run`]) {
            const answer = await fetch(`${server.url}/v1${path}`, { method: 'POST', headers, body });
            expect([path, answer.status]).toEqual([path, 400]);
          }
          const sent = await fetch(endpoint, { method: 'POST', headers, body: text });
          expect([text.length, sent.status]).toEqual([text.length, 200]);
        }
        await world.untilIdle();
      }),
    );
    const runs = (await attacker.api('GET', `/sources/${id}/runs`)).body.data as { error: { code: string } }[];
    expect(runs.slice(0, 2).map(({ error }) => error.code)).toEqual(['COMPONENT_ERROR', 'COMPONENT_ERROR']);
  });
});

// ingress: Dynamic props, values, keys and channels with NUL characters and halves of surrogate
// pairs, which Postgres refuses.
describe('definitions-that-cannot-be-stored', () => {
  const world = hostile();

  const TEXTS = [String.raw`\0`, String.raw`\ud800`, String.raw`\udc00x`];

  it('each is a clear refusal or is stored, and never a failure of the server', async () => {
    const { attacker } = world;
    const store = (await attacker.api('POST', '/data_stores', { name: 'Own' })).body.data.id as string;
    await world.unharmed(async () => {
      for (const text of TEXTS) {
        for (const definition of [
          `{ x: { type: 'string', label: '${text}' } }`,
          `{ ['x${text}']: { type: 'string' } }`,
        ]) {
          const code = `export default { name: 'Odd', version: '1', props: { on: { type: 'string', reloadProps: true } },
          additionalProps() { return ${definition}; }, run() {} };`;
          const { body } = await attacker.api('POST', '/components', { component_code: code });
          const asked = await attacker.api('POST', `/components/${body.data.id}/props`, {});
          expect([text, asked.status]).toEqual([text, 422]);
          const made = await attacker.api('POST', '/sources', {
            component_id: body.data.id,
            configured_props: { on: 'x' },
          });
          expect([text, made.status]).toEqual([text, 422]);
        }
        for (const definition of [
          `name: 'a${text}', props: {}`,
          `name: 'Odd', description: '${text}', props: {}`,
          `name: 'Odd', props: { x: { type: 'string', label: '${text}' } }`,
          `name: 'Odd', props: { ['x${text}']: { type: 'string' } }`,
        ]) {
          const code = `export default { version: '1', ${definition}, run() {} };`;
          const { status, body } = await attacker.api('POST', '/components', { component_code: code });
          expect([definition, status, body.detail]).toEqual([
            definition,
            400,
            expect.stringContaining('cannot be stored'),
          ]);
        }
        const trigger = {
          source_id: 'dc_any',
          event_name: JSON.parse(`"${text.replace(String.raw`\0`, String.raw`\u0000`)}"`),
        };
        const flow = await attacker.api('POST', '/workflows', { name: 'Odd', triggers: [trigger] });
        expect([text, flow.status, flow.body.errors[0].path]).toEqual([text, 400, 'triggers.0.event_name']);
        const record = await world.attack(
          `export default { name: 'Writer', version: '1', props: { store: 'data_store' }, async run() {
          await this.store.set('value', '${text}');
          this.$emit({ same: (await this.store.get('value')) === '${text}', key: await this.store.set('k${text}', 1).catch((error) => error.message) });
        } };`,
          { props: { store } },
        );
        expect(record.events).toEqual([{ same: true, key: expect.stringContaining('cannot be stored') }]);
      }
    });
  });
});

// fairness: Hundreds of bodies of JSON at once to an endpoint, each of which takes the thread a
// while to be read as what it is.
describe('long-json-at-once', () => {
  const world = hostile();
  const BIN = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' }, run() {} };`;
  const REQUESTS = 120;
  const BODY = `[${'[],'.repeat(23_000)}0]`;

  it('are read two at a time, and all are accepted or told to come later', async () => {
    const { attacker, server } = world;
    const { endpoint } = await attacker.deploy(BIN);
    const headers = { 'content-type': 'application/json' };
    const send = async () => (await fetch(endpoint, { method: 'POST', body: BODY, headers })).status;
    await world.unharmed(async () => {
      const all = Promise.all(Array.from({ length: REQUESTS }, send));
      expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
      for (const status of await all) expect([200, 429]).toContain(status);
      await world.untilIdle(60_000);
    });
  });
});

// ingress: `__proto__`, `constructor` and `prototype` as names in JSON, forms, multipart, query
// strings and headers.
describe('prototype-keys', () => {
  const world = hostile();
  const CODE = `export default { name: 'Proto', version: '1', props: { http: '$.interface.http' },
  run(event) { this.$emit({ polluted: [({}).polluted, [].polluted, event.polluted, event.body?.polluted], keys: Object.keys(event.body ?? {}) }); } };`;

  it('are names of own properties, in the run and in the server', async () => {
    const { attacker } = world;
    const { id, endpoint } = await attacker.deploy(CODE);
    const form = '__proto__[polluted]=1&__proto__.polluted=1&constructor[prototype][polluted]=1&__proto__=1';
    const multipart = new FormData();
    multipart.append('__proto__', 'polluted');
    multipart.append('constructor', new Blob(['polluted']), '__proto__');
    const requests: RequestInit[] = [
      {
        body: '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
        headers: { 'content-type': 'application/json' },
      },
      { body: form, headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      { body: multipart },
      { body: '', headers: { __proto__polluted: '1' } },
    ];
    await world.unharmed(async () => {
      for (const request of requests) {
        expect((await fetch(`${endpoint}?${form}`, { method: 'POST', ...request })).status).toBe(200);
      }
      await world.untilIdle();
      const sources = await attacker.api(
        'POST',
        '/sources?__proto__[polluted]=1',
        JSON.parse('{"__proto__":{"component_code":"export default {}"}}'),
      );
      expect(sources.status).toBe(400);
    });
    const events = await eventually(async () => {
      const { data } = (await attacker.api('GET', `/sources/${id}/event_summaries?expand=event`)).body as {
        data: { event: { polluted: unknown[] } }[];
      };
      return data.length >= requests.length && data;
    });
    for (const { event } of events) expect(event.polluted).toEqual([null, null, null, null]);
  });
});
