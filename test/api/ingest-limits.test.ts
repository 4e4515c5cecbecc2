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

const rateLimitOf = (answer: Response | undefined) => ({
  policy: answer?.headers.get('ratelimit-policy'),
  state: answer?.headers.get('ratelimit'),
});

test('a component that fails to answer, or answers itself, was counted all the same, and says so', async () => {
  const source = await hw.deploy(ANSWER);
  const silent = await hw.deploy(ANSWER.replace('this.http.respond({ status: 201 });', ''));
  await hw.limit({ maxRequestsPerSecond: 2 });
  const counted = await Promise.all([fetch(source.endpoint), fetch(silent.endpoint)]);
  await hw.limit({ maxRequestsPerSecond: null });
  expect(counted.map(({ status }) => status)).toEqual([201, 400]);
  for (const answer of counted) expect(rateLimitOf(answer).state).toBe('"maxRequestsPerSecond";r=19;t=1');
});

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
  expect(rateLimitOf(refused[0])).toEqual({
    policy: '"maxRequestsPerSecond";q=10;w=10',
    state: '"maxRequestsPerSecond";r=0;t=1',
  });
  const another = await fetch(other.endpoint, { method: 'POST' });
  expect(another.status).toBe(200);
  expect(rateLimitOf(another)).toEqual({
    policy: '"maxRequestsPerSecond";q=10;w=10',
    state: '"maxRequestsPerSecond";r=9;t=1',
  });
  expect(another.headers.get('access-control-expose-headers')).toContain('ratelimit-policy');
  await hw.limit({ maxRequestsPerSecond: null });
  const unlimited = await fetch(source.endpoint, { method: 'POST' });
  expect(unlimited.status).toBe(200);
  expect(rateLimitOf(unlimited)).toEqual({ policy: null, state: null });
});

test('a tenant with a full backlog is answered and delays no other tenant, and only its own answers are refused', async () => {
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
