import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIMITS } from '../../shared/src/index.ts';
import { type Headwater, startHeadwater } from '../support/headwater.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await startHeadwater();
});
afterAll(() => hw.stop());

const ECHO = `export default { name: 'Echo', version: '1', props: { http: '$.interface.http' },
  run({ body }) { this.$emit(body); } };`;
const ANSWER = `export default { name: 'Answer', version: '1',
  props: { http: { type: '$.interface.http', customResponse: true } },
  run() { this.http.respond({ status: 201 }); } };`;
const SLOW = `export default { name: 'Slow', version: '1', props: { http: '$.interface.http' },
  async run() { await new Promise((resolve) => setTimeout(resolve, 3_000)); } };`;

test('beyond its rate and burst an endpoint answers 429 with the limit and when to try again, and others go on', async () => {
  const [source, other] = [await hw.deploy(ECHO), await hw.deploy(ECHO)];
  await hw.limit({ maxRequestsPerSecond: 1 });
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => fetch(source.endpoint, { method: 'POST', body: 'x' })),
  );
  const refused = answers.filter(({ status }) => status === 429);
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(10);
  expect(refused.length).toBeGreaterThanOrEqual(5);
  expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  expect(await refused[0]?.json()).toMatchObject({
    type: 'urn:headwater:error:rate-limited',
    error: expect.stringContaining('1 requests a second'),
    limit: { name: 'maxRequestsPerSecond', value: 1, used: 2 },
    retry_after_seconds: 1,
  });
  expect((await fetch(other.endpoint, { method: 'POST' })).status).toBe(200);
  await hw.limit({ maxRequestsPerSecond: null });
  expect((await fetch(source.endpoint, { method: 'POST' })).status).toBe(200);
});

test('a tenant with a full backlog is answered and delays nobody else; only its own answers are refused', async () => {
  const neighbour = await hw.admin('POST', '/accounts', { name: 'Neighbour' });
  const api = hw.as(neighbour.data.api_key as string);
  const { data: quiet } = await api('POST', '/sources', { component_code: ANSWER });
  const [slow, answering] = [await hw.deploy(SLOW), await hw.deploy(ANSWER)];
  await hw.limit({ maxRunsPerAccount: 2 });
  const statuses = new Set<number>();
  for (let sent = 0; sent < LIMITS.maxHeldInvocations * 0.55; sent += 200) {
    const batch = Array.from({ length: 200 }, () => fetch(slow.endpoint, { method: 'POST' }));
    for (const { status } of await Promise.all(batch)) statuses.add(status);
  }
  expect(statuses).toEqual(new Set([200]));
  const refused = await fetch(answering.endpoint);
  expect(refused.status).toBe(503);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  const endpoint = quiet.configured_props.http.endpoint_url as string;
  const answers = await Promise.all(Array.from({ length: 20 }, () => fetch(endpoint)));
  expect(answers.every(({ status }) => status === 201)).toBe(true);
});
