import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../../shared/src/index.ts';
import { withinMemory } from '../../support/hostile-ingress.ts';
import { hostile } from '../../support/hostile.ts';

// ingress: A form of ten thousand files under a content type whose boundary is not the one that a
// quick look finds.
describe('boundary-in-another-parameter', () => {
  const world = hostile();
  const BIN = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' }, run({ body }) { this.$emit({ kind: typeof body }); } };`;

  const PART = (boundary: string) => `--${boundary}\r\ncontent-disposition:form-data;name="a";filename="b"\r\n\r\n\r\n`;
  const form = (boundary: string) => PART(boundary).repeat(7_500) + `--${boundary}--`;
  const FORMS: [type: string, body: string][] = [
    ['multipart/form-data; a="; boundary=y"; boundary=x', form('x')],
    ['multipart/form-data; boundary="x\\"y"', form('x"y')],
    ['multipart/form-data; boundary="x\\\\y"', form('x\\y')],
    ['multipart/form-data; boundary=x"y', form('x')],
    ['multipart/form-data; boundary = y; boundary=x', form('x')],
  ];

  it('is counted by the boundary that it is read with, and arrives as text', async () => {
    const { attacker } = world;
    const { id, endpoint } = await attacker.deploy(BIN);
    await world.unharmed(async () => {
      for (const [type, body] of FORMS) {
        const answer = await fetch(endpoint, { method: 'POST', headers: { 'content-type': type }, body });
        expect([type, answer.status]).toEqual([type, 200]);
      }
      await world.untilIdle();
    });
    const { body } = await attacker.api('GET', `/sources/${id}/event_summaries?limit=100&expand=event`);
    const kinds = body.data.map(({ event }: { event: { kind: string } }) => event.kind);
    expect(new Set(kinds)).toEqual(new Set(['string']));
  });
});

// ingress: A hundred thousand fields in a form, in the query string of an endpoint, and in that of
// the API.
describe('form-of-many-fields', () => {
  const world = hostile();
  const BIN = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' }, run({ body, query }) {
  this.$emit({ body: typeof body, fields: Object.keys(body ?? {}).length, query: Object.keys(query).length });
} };`;
  const fieldsOf = (count: number) => Array.from({ length: count }, (_, n) => n.toString(36)).join('&');
  const FIELDS = fieldsOf(90_000);

  it('a form is bounded in fields, a query in bytes', async () => {
    const { attacker, server } = world;
    const { id, endpoint } = await attacker.deploy(BIN);
    const headers = { 'content-type': 'application/x-www-form-urlencoded', authorization: `Bearer ${attacker.key}` };
    const query = fieldsOf(7_000);
    await world.unharmed(() =>
      withinMemory(server, async () => {
        for (const body of [FIELDS, fieldsOf(LIMITS.maxFormFields + 1), fieldsOf(LIMITS.maxFormFields)]) {
          expect((await fetch(endpoint, { method: 'POST', headers, body })).status).toBe(200);
        }
        expect((await fetch(`${endpoint}?${query}`, { method: 'POST', headers })).status).toBe(200);
        const api = await fetch(`${server.url}/v1/webhooks`, { method: 'POST', headers, body: FIELDS });
        expect([api.status, await api.text()]).toEqual([
          400,
          expect.stringContaining('body has more than 2000 fields'),
        ]);
        expect((await fetch(`${server.url}/v1/sources?${query}`, { headers })).status).toBe(400);
        expect((await fetch(`${server.url}/v1/sources?${FIELDS}`, { headers })).status).toBe(431);
        await world.untilIdle();
      }),
    );
    const { body } = await attacker.api('GET', `/sources/${id}/event_summaries?limit=100&expand=event`);
    const arrived = body.data.map(({ event }: { event: object }) => event).toReversed();
    // Events of the last round. A form with too many fields arrives as text.
    expect(arrived.slice(-4)).toMatchObject([
      { body: 'string' },
      { body: 'string' },
      { body: 'object', fields: LIMITS.maxFormFields },
      { query: 7_000 },
    ]);
  });
});

// ingress: Multipart bodies of a hundred thousand parts, or header lines in one, without a
// boundary, with huge part headers, or a huge boundary, never ended.
describe('multipart-bombs', () => {
  const world = hostile();
  const BIN = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' }, run({ body }) { this.$emit({ kind: typeof body, chars: body.length }); } };`;
  const TYPE = 'multipart/form-data; boundary=x';
  const BODIES: [string, string][] = [
    [TYPE, '--x\r\n'.repeat(100_000) + '--x--'],
    [TYPE, '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n\r\n'.repeat(9_000) + '--x--'],
    ['multipart/form-data', '--x\r\n\r\n--x--'],
    ['multipart/form-data; boundary=', '--\r\n\r\n----'],
    [`multipart/form-data; boundary=${'b'.repeat(20_000)}`, 'x'],
    [TYPE, `--x\r\n${'y'.repeat(400_000)}: z\r\n\r\n\r\n--x--`],
    [TYPE, `--x\r\ncontent-disposition: form-data; name="${'n'.repeat(400_000)}"\r\n\r\n1\r\n--x--`],
    [TYPE, '--x\r\ncontent-disposition: form-data; name="a"; filename="../../etc/passwd\0"\r\n\r\nendless'],
    [TYPE, `--x\r\n${'a:\r\n'.repeat(120_000)}content-disposition: form-data; name="a"\r\n\r\n1\r\n--x--`],
    [TYPE, `--x\r\ncontent-disposition: form-data; name="a"${';a=b'.repeat(120_000)}\r\n\r\n1\r\n--x--`],
    ['multipart/form-data; boundary="\\"', '--\\\r\n\r\n'],
    [`multipart/form-data; boundary=b${'-'.repeat(24_000)}`, '-'.repeat(500_000)],
  ];

  it('arrive as text where they are no form, and each costs one run', async () => {
    const { attacker, server } = world;
    const { id, endpoint } = await attacker.deploy(BIN);
    await world.unharmed(() =>
      withinMemory(server, async () => {
        for (const [type, body] of BODIES) {
          const answer = await fetch(endpoint, { method: 'POST', headers: { 'content-type': type }, body });
          expect([type.slice(0, 40), answer.status]).toEqual([type.slice(0, 40), 200]);
        }
        await world.untilIdle();
      }),
    );
    const { body } = await attacker.api('GET', `/sources/${id}/event_summaries?limit=100&expand=event`);
    const arrived = body.data.map(({ event }: { event: { kind: string; chars: number } }) => event).toReversed();
    expect(arrived).toEqual(BODIES.map(([, text]) => ({ kind: 'string', chars: text.length })));
  });
});

// ingress: Bodies under content types that are wrong, malformed, enormous or name charsets that
// need tables.
describe('wrong-content-types', () => {
  const world = hostile();
  const BIN = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' }, run(event) { this.$emit(event); } };`;
  const TYPES = [
    '',
    ';',
    '/',
    'application',
    'application/json; charset=utf-7',
    'application/json; charset=utf-32',
    `application/json;${' '.repeat(20_000)}x`,
    'text/html; charset="',
    'application/x-www-form-urlencoded; charset=utf-16',
    'multipart/mixed; boundary=x',
    `multipart/form-data; ${'boundary=a;'.repeat(1_500)}`,
    'application/vnd.x+json',
    'image/png',
  ];

  it('an endpoint takes the bytes as text, the API says what it takes', async () => {
    const { attacker, server } = world;
    const { endpoint } = await attacker.deploy(BIN);
    await world.unharmed(async () => {
      for (const type of TYPES) {
        const headers = { 'content-type': type, authorization: `Bearer ${attacker.key}` };
        const sent = await fetch(endpoint, { method: 'POST', headers, body: '{"a": 1' });
        const api = await fetch(`${server.url}/v1/webhooks`, { method: 'POST', headers, body: '{"a": 1' });
        expect([type.slice(0, 30), sent.status, api.status]).toEqual([type.slice(0, 30), 200, 400]);
      }
      await world.untilIdle();
    });
  });
});

// ingress: A gzip and a brotli body of some hundred kilobytes that would be hundreds of megabytes.
describe('compressed-body-bomb', () => {
  const world = hostile();
  const BIN = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' }, run(event) { this.$emit(event); } };`;
  const ZEROS = Buffer.alloc(300 * 1024 * 1024, '0');
  const BOMBS = {
    gzip: gzipSync(ZEROS, { level: 1 }).subarray(0, 500_000),
    br: brotliCompressSync(ZEROS, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  };

  it('is unpacked no further than a body may be: an endpoint refuses it, the API does not take it', async () => {
    const { attacker, server } = world;
    const { endpoint } = await attacker.deploy(BIN);
    await world.unharmed(() =>
      withinMemory(server, async () => {
        for (const [encoding, body] of Object.entries(BOMBS)) {
          const headers = {
            'content-type': 'application/json',
            'content-encoding': encoding,
            authorization: `Bearer ${attacker.key}`,
          };
          const sent = await fetch(endpoint, { method: 'POST', headers, body });
          const api = await fetch(`${server.url}/v1/sources`, { method: 'POST', headers, body });
          expect([encoding, sent.status, api.status]).toEqual([encoding, 413, 415]);
        }
        await world.untilIdle();
      }),
    );
  });
});

// ingress: `include` and `exclude` of thousands of names, which were read again for each item of a
// list: half a second.
describe('field-lists', () => {
  const world = hostile();

  it('a list of fields has a bound, in the query as in a body of megabytes', async () => {
    const { attacker } = world;
    const store = (await attacker.api('POST', '/data_stores', { name: 'Own' })).body.data.id as string;
    await world.unharmed(async () => {
      for (const name of ['include', 'exclude']) {
        const listed = await attacker.api('GET', `/data_stores?limit=100&${name}=${'a,'.repeat(7_000)}`);
        const changed = await attacker.api('PUT', `/data_stores/${store}`, {
          name: 'x',
          [name]: 'a,'.repeat(1_500_000),
        });
        for (const { status, body } of [listed, changed]) {
          expect([status, body.errors]).toEqual([
            400,
            [{ path: name, message: expect.stringMatching(/^is longer than/) }],
          ]);
        }
      }
    });
  });
});

// limits: Values that cannot be stored under keys of millions of dots, and steps with props of
// thousands of names.
describe('paths-of-megabytes', () => {
  const world = hostile();

  it('are refused in short answers, before they are looked at one by one', async () => {
    const { attacker } = world;
    const dots = { component_id: 'x', configured_props: { ['.'.repeat(3_000_000)]: '\u0000' } };
    const props = Object.fromEntries(Array.from({ length: 3_000 }, (_, n) => [`name${n}`, 0]));
    const steps = Array.from({ length: 10 }, (_, n) => ({ namespace: `s${n}`, component_id: 'x', props }));
    await world.unharmed(async () => {
      for (const [path, parameters, said] of [
        ['/sources', dots, 'NUL'],
        ['/workflows', { steps }, 'steps.0.props has more than 2000 members'],
      ] as const) {
        const { status, text } = await attacker.api('POST', path, parameters);
        expect([status, text.length < 10_000]).toEqual([400, true]);
        expect(text).toContain(said);
      }
    });
  });
});
