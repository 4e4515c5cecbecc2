import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../../shared/src/index.ts';
import { action } from '../../support/executions.ts';
import { hostile } from '../../support/hostile.ts';
import { longRun } from '../../support/long-run.ts';

// fairness: Lists for which megabytes are read, and of which an answer has next to nothing, asked
// for again and again.
describe('answers-of-few-fields', () => {
  const world = hostile({ ownAccounts: true });

  /** As many pairs as three: the third begins when both of the first have ended twice. */
  const REQUESTS = 6;
  const EVENTS = 10;
  const EVENT_CHARS = 400_000;
  const LINES = 250;
  const LINE_CHARS = 16_000;
  const SOURCES = 12;
  const PROP_CHARS = 60_000;

  const LARGE = `export default { name: 'Large', version: '1', run() {
  for (let i = 0; i < ${EVENTS}; i++) this.$emit('x'.repeat(${EVENT_CHARS}));
} };`;
  const LOUD = `export default { name: 'Loud', version: '1', run() {
  for (let i = 0; i < ${LINES}; i++) console.log('x'.repeat(${LINE_CHARS}));
} };`;
  const PROPS = `export default { name: 'Props', version: '1', props: { a: 'string', b: 'string', c: 'string' }, run() {} };`;

  async function deployProps(): Promise<void> {
    const value = 'x'.repeat(PROP_CHARS);
    await Promise.all(
      Array.from({ length: SOURCES }, () => world.attacker.deploy(PROPS, { a: value, b: value, c: value })),
    );
  }

  it('take their turns as long as the read takes at its pace, and the neighbour is served', async () => {
    const { attacker } = world;
    const [{ id: large }, { id: loud }] = [await attacker.deploy(LARGE), await attacker.deploy(LOUD)];
    await deployProps();
    for (const id of [large, loud]) await attacker.api('POST', `/sources/${id}/run`, {});
    await world.untilIdle();
    await world.unharmed(async () => {
      for (const [path, chars] of [
        [`sources/${large}/event_summaries?expand=event&limit=100&include=id`, EVENTS * EVENT_CHARS],
        [`sources/${large}/events?expand=event&limit=100&exclude=event`, EVENTS * EVENT_CHARS],
        [`sources/${loud}/$logs/event_summaries?limit=1&include=id`, LINES * LINE_CHARS],
        [`sources/${loud}/runs?limit=1&include=id`, LINES * LINE_CHARS],
        [`sources?limit=100&include=id`, Math.min(LIMITS.maxPageBytes, SOURCES * 3 * PROP_CHARS) - 3 * PROP_CHARS],
      ] as const) {
        const begunMs = performance.now();
        const answers = await Promise.all(Array.from({ length: REQUESTS }, () => attacker.api('GET', `/${path}`)));
        const tookMs = performance.now() - begunMs;
        for (const { status, text } of answers) expect([path, status, text.length < 20_000]).toEqual([path, 200, true]);
        const restMs = ((chars - LIMITS.smallBatchChars) / LIMITS.batchCharsPerSecond) * 1_000;
        expect([path, tookMs > 2 * restMs]).toEqual([path, true]);
      }
    });
  });
});

// limits: Lists of runs that logged megabytes each, and of sources that have megabytes of props
// each.
describe('answers-of-hundreds-of-megabytes', () => {
  const world = hostile({ ownAccounts: true });

  const QUIET = `export default { name: 'Quiet', version: '1', props: { text: { type: 'string', optional: true } }, run() {} };`;
  const MAX_ANSWER = 20 * 1024 * 1024;

  it('an answer has a bounded part of it, and says so', async () => {
    const { attacker, sql } = world;
    const { id: source } = await attacker.deploy(QUIET);
    const logs = JSON.stringify(
      Array.from({ length: 600 }, () => ({ at: 1, level: 'info', message: 'x'.repeat(5_000) })),
    );
    await sql`
    insert into runs (id, account_id, source_id, kind, status, logs, started_at, ended_at, recorded_ms, recorded_seq)
    select ${source} || n, ${attacker.id}, ${source}, 'manual', 'ok', ${logs}, now(), now(), n, 0 from generate_series(1, 40) n`;
    await sql`
    update sources set configured_props = jsonb_build_object('text', repeat('x', 3000000)) where id = ${source}`;
    for (let n = 0; n < 3; n++) {
      const { id } = await attacker.deploy(QUIET);
      await sql`update sources set configured_props = jsonb_build_object('text', repeat('x', 3000000)) where id = ${id}`;
    }
    await world.unharmed(async () => {
      const runs = await attacker.api('GET', `/sources/${source}/runs?limit=100`);
      expect(runs.text.length).toBeLessThan(MAX_ANSWER);
      const [newest, ...others] = runs.body.data as { logs: unknown[]; truncated?: string[] }[];
      expect([newest?.logs.length, newest?.truncated]).toEqual([600, undefined]);
      expect(others.map(({ logs: lines, truncated }) => [lines.length, truncated])).toEqual(
        Array.from({ length: 39 }, () => [0, ['logs']]),
      );
      const listed: string[] = [];
      for (let after = ''; ; ) {
        const page = await attacker.api('GET', `/sources?limit=100&after=${after}`);
        expect(page.text.length).toBeLessThan(MAX_ANSWER / 2);
        if (page.body.data.length === 0) break;
        listed.push(...(page.body.data as { id: string }[]).map(({ id }) => id));
        after = page.body.page_info.end_cursor as string;
      }
      expect(new Set(listed).size).toBe(4);
      expect(listed).toHaveLength(4);
      const [last] = (await attacker.api('GET', `/sources?limit=1`)).body.data as { id: string }[];
      expect(last?.id).toBe(listed[0]);
    });
  });
});

// database: Code of hundreds of kilobytes, each time another one, saved by itself, with sources
// and with steps, without end.
describe('code-without-end', () => {
  const world = hostile({ ownAccounts: true });

  const MAX_BYTES = 1_000_000;
  let made = 0;
  const filler = () => `'${++made} ${'x'.repeat(150_000)}'`;
  const source = () => `export default { name: 'Large', version: '1', filler: ${filler()}, run() {} };`;

  it('the account gets the bytes that it may have, the rest is refused by name and leaves nothing', async () => {
    const { attacker, sql } = world;
    await world.limit({ maxCodeBytes: MAX_BYTES });
    const answers = await world.unharmed(() =>
      Promise.all(
        Array.from({ length: 18 }, (_, n) => {
          if (n % 3 === 0) return attacker.api('POST', '/components', { component_code: source() });
          if (n % 3 === 1) return attacker.api('POST', '/sources', { component_code: source() });
          const steps = [{ namespace: 'one', component_code: action(`return ${filler()};`) }];
          return attacker.api('POST', '/workflows', { steps });
        }),
      ),
    );
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.length).toBeGreaterThan(answers.length / 2);
    for (const { status, body } of refused)
      expect({ status, limit: body.limit }).toMatchObject({
        status: 409,
        limit: { name: 'maxCodeBytes', value: MAX_BYTES },
      });
    const [stored] = await sql<{ bytes: number; unused: number }[]>`
    select sum(octet_length(code) + octet_length(bundle) + coalesce(octet_length(source_map), 0)
        + pg_column_size(configurable_props))::int as bytes,
      (count(*) filter (where of_step and not exists (select from emitters s where s.component_id = c.id) and not exists (
        select from deployments d where d.steps @> jsonb_build_array(jsonb_build_object('componentId', c.id))
      )))::int as unused
    from components c where account_id = ${attacker.id}`;
    expect(stored?.bytes).toBeGreaterThan(0);
    expect(stored?.bytes).toBeLessThanOrEqual(MAX_BYTES);
    expect(stored?.unused).toBe(0);
  });
});

// database: Sources, workflows, webhooks, subscriptions and keys without end, many at the same
// time.
describe('sources-without-end', () => {
  const world = hostile({ ownAccounts: true });

  const CODE = "export default { name: 'One of many', version: '1', run() {} };";
  const ROOM = 5;

  it('there are as many as the account may have, the rest is refused by name, and the neighbour makes his', async () => {
    const { attacker, neighbour, sql } = world;
    const { id: component_id } = (await attacker.api('POST', '/components', { component_code: CODE })).body.data;
    const { id: listener_id } = (await attacker.api('POST', '/webhooks', { url: 'https://example.com/' })).body.data;
    await world.limit({
      maxSources: ROOM,
      maxWorkflows: ROOM,
      maxWebhooks: ROOM,
      maxSubscriptions: ROOM,
      maxApiKeys: ROOM,
    });
    const floods = [
      ['maxSources', '/sources', () => ({ component_id })],
      ['maxWorkflows', '/workflows', () => ({ name: 'One of many' })],
      ['maxWebhooks', '/webhooks', () => ({ url: 'https://example.com/' })],
      ['maxSubscriptions', '/subscriptions', (n: number) => ({ emitter_id: 'dc_*', listener_id, event_name: `e${n}` })],
      ['maxApiKeys', '/api_keys', (n: number) => ({ name: `Key ${n}` })],
    ] as const;
    await world.unharmed(async () => {
      for (const [name, path, body] of floods) {
        const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => attacker.api('POST', path, body(n))));
        for (const answer of answers.filter(({ status }) => status !== 200))
          expect({ status: answer.status, limit: answer.body.limit }).toEqual({
            status: 409,
            limit: { name, value: ROOM, used: ROOM + 1 },
          });
      }
      expect((await neighbour.api('POST', '/webhooks', { url: 'https://example.com/' })).status).toBe(200);
    });
    const [counts] = await sql`
    select (select count(*)::int from emitters where account_id = ${attacker.id}) as emitters,
      (select count(*)::int from webhooks where account_id = ${attacker.id}) as webhooks,
      (select count(*)::int from subscriptions where account_id = ${attacker.id}) as subscriptions,
      (select count(*)::int from api_keys where account_id = ${attacker.id}) as keys`;
    expect(counts).toEqual({ emitters: 2 * ROOM, webhooks: ROOM, subscriptions: ROOM, keys: ROOM });
  });
});

// limits: Traces of 500 events, each with a thousand webhooks of long URLs on another channel,
// asked for again and again.
describe('traces-of-many-listeners', () => {
  const world = hostile({ ownAccounts: true });

  const WEBHOOKS = 999;
  const EVENTS = 500;
  const MAX_LISTENERS = 2_500;
  const MAX_ANSWER = 2 * 1024 * 1024;
  const EMIT = `export default { name: 'Emit', version: '1', run() { for (let i = 0; i < ${EVENTS}; i++) this.$emit(i); } };`;

  interface Listener {
    listener_id: string;
    listener_name: string;
    reason: string;
  }

  it('a trace has so many listeners, and says that it leaves some out', async () => {
    const { attacker, sql } = world;
    const { id: source } = await attacker.deploy(EMIT);
    const { id: stopped } = await attacker.deploy(EMIT);
    await attacker.api('POST', '/subscriptions', { emitter_id: source, listener_id: stopped });
    await attacker.api('PUT', `/sources/${stopped}`, { active: false });
    const hook = (await attacker.api('POST', '/webhooks', { url: `http://127.0.0.1:99/${'x'.repeat(2_000)}` })).body
      .data;
    await attacker.api('POST', '/subscriptions', { emitter_id: source, listener_id: hook.id, event_name: 'unused' });
    await sql`
    insert into webhooks (id, account_id, user_id, url, format, secret)
    select id || '_' || n, account_id, user_id, url || n, format, secret from webhooks, generate_series(1, ${WEBHOOKS}) n
    where id = ${hook.id}`;
    await sql`
    insert into subscriptions (id, account_id, emitter_id, listener_id, event_name)
    select 'sub_' || id, account_id, ${source}, id, 'unused' from webhooks
    where account_id = ${attacker.id} and id <> ${hook.id}`;
    await attacker.api('POST', `/sources/${source}/run`, {});
    await world.untilIdle();
    const { data } = (await attacker.api('GET', `/sources/${source}/event_summaries?limit=1`)).body;
    const path = `/traces/${data[0].metadata.trace_id}`;
    await world.unharmed(async () => {
      const answers = await Promise.all(Array.from({ length: longRun(3, 10) }, () => attacker.api('GET', path)));
      for (const { status, text, body } of answers) {
        expect(status).toBe(200);
        expect(text.length).toBeLessThan(MAX_ANSWER);
        expect(body.data.truncated).toBe(true);
        const [{ events }] = body.data.runs as [{ events: { listeners: Listener[] }[] }];
        expect(events).toHaveLength(EVENTS);
        const listeners = events.flatMap((event) => event.listeners);
        expect(listeners).toHaveLength(MAX_LISTENERS);
        expect(Math.max(...listeners.map(({ listener_name: name }) => name.length))).toBe(256);
        // Every event lists the paused listener; the limit left out only listeners without a match.
        const missing = listeners.filter(({ reason }) => reason === 'paused');
        expect(missing.map(({ listener_id: id }) => id)).toEqual(Array.from({ length: EVENTS }, () => stopped));
      }
    });
  });
});
