import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { action } from '../../support/executions.ts';
import { sendEach, type ShownSend, startSends } from '../../support/hostile-sends.ts';
import { residentBytes } from '../../support/hostile-server.ts';
import { makeWorkflow } from '../../support/hostile-workflows.ts';
import { hostile } from '../../support/hostile.ts';
import { startReceiver } from '../../support/receiver.ts';

// limits: Expressions that name a thousand environment variables each, under keys of fifty
// thousand characters: gigabytes of places.
describe('variables-under-long-keys', () => {
  const world = hostile({ ownAccounts: true });
  const PROPS = 50;
  const VARIABLES = 1_000;
  const MAX_GROWTH = 400 * 1024 * 1024;

  const definitions = Array.from({ length: PROPS }, (_, n) => `p${n}: { type: 'any' }`).join(', ');
  const CODE = `export default { name: 'Many', version: '1', type: 'action', props: { ${definitions} }, run() {} };`;

  it('are refused in a short answer', async () => {
    const { attacker, server } = world;
    const letters = 'abcdefghijklmnopqrstuvwxyz';
    const names = Array.from(
      { length: VARIABLES },
      (_, n) => `A${letters[n % 26]}${letters[Math.floor(n / 26) % 26]}${Math.floor(n / 676)}`,
    );
    const expression = `{{[${names.map((name) => `env.${name}`).join(',')}]}}`;
    const props = Object.fromEntries(
      Array.from({ length: PROPS }, (_, n) => [`p${n}`, { ['k'.repeat(50_000)]: expression }]),
    );
    const before = residentBytes(server.pid);
    await world.unharmed(async () => {
      const { status, body, text } = await attacker.api('POST', '/workflows', {
        steps: [{ namespace: 'many', component_code: CODE, props }],
      });
      expect([status, text.length < 200_000]).toEqual([400, true]);
      expect(body.errors[0].message).toContain('has no environment variable Aaa0');
    });
    expect(residentBytes(server.pid) - before).toBeLessThan(MAX_GROWTH);
  });
});

// limits: Thirty tests of a workflow at once, whose step never ends.
describe('tests-of-workflows', () => {
  const world = hostile({ ownAccounts: true });

  it('four run, until the limit of processor time; the others are refused, and nothing is left of them', async () => {
    const { attacker, sql } = world;
    await world.limit({ runCpuMs: 500 });
    const { id } = await makeWorkflow(attacker, { steps: ['for (;;);'], settings: { timeout_seconds: 60 } });
    const answers = await world.unharmed(() =>
      Promise.all(Array.from({ length: 30 }, () => attacker.api('POST', `/workflows/${id}/test`))),
    );
    const ended = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status === 429);
    expect(ended.length + refused.length).toBe(30);
    expect(ended.length).toBeGreaterThanOrEqual(4);
    for (const { body } of ended) {
      expect(body.data.steps[0].error).toMatchObject({ code: 'CPU_LIMIT', limit: { name: 'runCpuMs', value: 500 } });
    }
    for (const { body } of refused) expect(body.error).toContain('4 tests of workflows');
    expect(await sql`select from executions where workflow_id = ${id}`).toHaveLength(0);
    expect(await sql`select from events where emitter_id = ${id}`).toHaveLength(0);
  });
});

// limits: A test of a workflow of two dozen steps, each of which responds megabytes of characters
// that JSON makes six times as long.
describe('responses-in-a-test', () => {
  const world = hostile({ ownAccounts: true });

  const STEPS = 24;
  const SHOWN = 64 * 1024;

  it('the beginning of each is kept and told, and it is said that there was more', async () => {
    const { attacker } = world;
    const body = `await $.respond({ status: 200, body: String.fromCharCode(1).repeat(4_000_000) });`;
    const steps = Array.from({ length: STEPS }, () => body);
    const { id } = await makeWorkflow(attacker, { steps, settings: { timeout_seconds: 300 } });
    const { status, body: answer, text } = await world.unharmed(() => attacker.api('POST', `/workflows/${id}/test`));
    expect(status).toBe(200);
    expect(answer.data.status).toBe('succeeded');
    const shown = (answer.data.steps as { responds: { body: string; body_truncated: boolean }[] }[]).map(
      ({ responds }) => responds.map((one) => [one.body.length, one.body_truncated]),
    );
    expect(shown).toEqual(Array.from({ length: STEPS }, () => [[SHOWN, true]]));
    expect(text.length).toBeLessThan(STEPS * (SHOWN * 6 + 1_000));
  });
});

// fairness: Four runs and four executions at once, each of which puts out megabytes.
describe('large-outputs-at-once', () => {
  const world = hostile({ ownAccounts: true });
  const EMIT = `export default { name: 'Large', version: '1', props: { http: '$.interface.http' },
  run() { for (let i = 0; i < 6; i++) this.$emit('x'.repeat(900_000)); } };`;
  const RUNS = 4;

  it('are stored at a pace, whole', async () => {
    const { attacker, sql } = world;
    const source = await attacker.deploy(EMIT);
    const made = await attacker.api('POST', '/workflows', {
      triggers: [{ type: 'http' }],
      steps: [{ namespace: 'large', component_code: action(`return 'x'.repeat(5_000_000);`) }],
    });
    const { id, triggers } = made.body.data;
    let rounds = 0;
    await world.unharmed(async () => {
      rounds++;
      const urls = [source.endpoint, triggers[0].endpoint_url as string];
      const asked = urls.flatMap((url) =>
        Array.from({ length: RUNS }, () => fetch(url, { method: 'POST', body: '1' })),
      );
      for (const answer of await Promise.all(asked)) expect(answer.status).toBe(200);
      await eventually(
        async () => {
          const events = await sql`select from events where emitter_id = ${source.id}`;
          const ended = await sql`select from executions where workflow_id = ${id} and status = 'succeeded'`;
          return events.length === 6 * RUNS * rounds && ended.length === RUNS * rounds;
        },
        { timeoutMs: 60_000, everyMs: 200, what: 'all of it to be stored' },
      );
    });
  });
});

// limits: Hundreds of e-mails with `$.send.email`, with header lines in their subjects and files
// as their texts.
describe('emails', () => {
  const world = hostile({ ownAccounts: true });

  it('fail one by one, and the server goes on', async () => {
    const calls = Array.from({ length: 99 }, (_, n): ['email', object] => [
      'email',
      { subject: n % 2 === 0 ? `a\r\nBcc: b${n}@example.com` : 'a', text: 'x'.repeat(1_000) },
    ]);
    const sends = await world.unharmed(() => sendEach(world, calls));
    expect(new Set(sends.map(({ status }) => status))).toEqual(new Set(['failed']));
    const reasons = new Set(sends.map(({ attempts }) => attempts[0]?.error));
    expect(reasons.size).toBe(2);
    expect([...reasons]).toContain('subject must not hold line breaks or control characters');
    expect([...reasons]).toContainEqual(expect.stringContaining('sends no e-mail'));
  });
});

// fairness: Workflows that send hundreds of requests at once to a server that never answers.
describe('sends', () => {
  const world = hostile({ ownAccounts: true });

  it('fill the share of their own account, and the neighbour’s are sent at once', async () => {
    const [silent, receiver] = [await startReceiver(), await startReceiver()];
    silent.answer = { delayMs: 8_000 };
    try {
      const flood = Array.from({ length: 100 }, (): ['http', object] => ['http', { url: silent.url }]);
      let rounds = 0;
      await world.unharmed(async () => {
        rounds++;
        for (let workflows = 0; workflows < 4; workflows++) await startSends(world.attacker, flood);
        await eventually(() => silent.requests.length >= 16, { what: 'the flood' });
        const sends = await sendEach({ attacker: world.neighbour, sql: world.sql }, [['http', { url: receiver.url }]]);
        expect(sends).toMatchObject([{ status: 'delivered', attempts: [{ status_code: 200 }] }]);
      });
      // Those of one host narrow with each timeout.
      expect(silent.requests.length).toBeLessThanOrEqual(32 * rounds);
      const stored = () => world.sql`select id from sends where account_id = ${world.attacker.id}`;
      await eventually(async () => (await stored()).length === 400 * rounds, {
        what: 'every send, once its execution has ended',
      });
    } finally {
      await Promise.all([silent.stop(), receiver.stop()]);
    }
  });
});

// limits: `$.send.http` with a list of thousands under a name of thousands of characters, in
// params, headers and forms: half a gigabyte of text.
describe('sends-of-long-names', () => {
  const world = hostile({ ownAccounts: true });

  it('are refused before any of it is made', async () => {
    const url = 'http://127.0.0.1:8080/';
    const name = 'a'.repeat(32_000);
    const list = { [name]: Array<number>(16_000).fill(1) };
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const sends = await world.unharmed(() =>
      sendEach(world, [
        ['http', { url, params: list }],
        ['http', { url, headers, data: list }],
        ['http', { url, headers: { [name]: Array(900).fill('1') } }],
      ]),
    );
    expect(sends).toHaveLength(3);
    for (const { status, attempts } of sends) expect([status, attempts.length]).toEqual(['failed', 1]);
    const errors = sends.map(({ attempts }) => attempts[0]?.error).join('\n');
    for (const said of ['longer than 16384 characters with its params', 'The names in the form', 'cannot be sent'])
      expect(errors).toContain(said);
  });
});

// fairness: `$.send` with megabytes of `[],`, which take half a second to parse, at each attempt.
describe('sends-of-many-values', () => {
  const world = hostile({ ownAccounts: true });
  const LISTS = 400_000;

  it('are sent as they are, refused where they would have to be read, and the neighbour is served', async () => {
    const { attacker } = world;
    const receiver = await startReceiver();
    try {
      const { id } = await makeWorkflow(attacker, {
        steps: [
          `const url = '${receiver.url}', data = Array.from({ length: ${LISTS} }, () => []);
         $.send.http({ url, data });
         $.send.http({ url, data, headers: { 'content-type': 'application/x-www-form-urlencoded' } });
         $.send.http({ url, params: { data } });`,
        ],
      });
      let rounds = 0;
      await world.unharmed(async () => {
        rounds++;
        const ran = await attacker.api('POST', `/workflows/${id}/run`, {});
        const { execution_id: executionId } = ran.body.data as { execution_id: string };
        const sends = await eventually(
          async () => {
            const { body } = await attacker.api('GET', `/executions/${executionId}/sends`);
            const shown = (body?.data ?? []) as ShownSend[];
            return shown.length === 3 && shown.every(({ attempts }) => attempts.length > 0) && shown;
          },
          { timeoutMs: 20_000, everyMs: 250 },
        );
        expect(sends.map(({ status, attempts }) => [status, attempts[0]?.error ?? null])).toEqual([
          ['failed', expect.stringContaining('longer than 262144')],
          ['failed', expect.stringContaining('too long for a form')],
          ['delivered', null],
        ]);
      });
      expect(receiver.requests).toHaveLength(rounds);
      expect(receiver.requests[0]?.body === `[${'[],'.repeat(LISTS - 1)}[]]`).toBe(true);
    } finally {
      await receiver.stop();
    }
  });
});
