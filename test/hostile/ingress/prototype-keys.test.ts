// ingress: `__proto__`, `constructor` and `prototype` as names in JSON, forms, multipart, query strings and headers.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { eventually } from '../../support/eventually.ts';

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
