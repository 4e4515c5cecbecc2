import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { hostile } from '../../support/hostile.ts';
import { ADMIN_KEY, API_KEY } from '../../support/server.ts';

// secrets: The neighbour's sealed secret, copied from a backup: given as a prop, and written into
// the attacker's own row.
describe('sealed-text-of-another', () => {
  const world = hostile();

  const CODE = `export default { name: 'Reads', version: '1', props: { token: { type: 'string', secret: true } },
  run() { this.$emit({ length: this.token.length }); } };`;
  const SECRET = 'the-secret-of-the-neighbour';

  it('opens for no other account on any way in', async () => {
    const { attacker, neighbour, sql } = world;
    const theirs = await neighbour.deploy(CODE, { token: SECRET });
    const [row] = await sql`select configured_props from sources where id = ${theirs.id}`;
    const stolen = row?.['configured_props'].token.$sealed as string;
    await world.unharmed(async () => {
      const given = await attacker.api('POST', '/sources', {
        component_code: CODE,
        configured_props: { token: { $sealed: stolen } },
      });
      expect([given.status, given.body.errors[0].message]).toEqual([400, 'The key $sealed is reserved']);
      const mine = await attacker.deploy(CODE, { token: 'my-own-secret' });
      await sql`update sources set configured_props = jsonb_set(configured_props, '{token,$sealed}', to_jsonb(${stolen}::text)),
      revision = revision + 1 where id = ${mine.id}`;
      await sql`select pg_notify('headwater_source_changed', ${mine.id})`;
      const ran = await world.run(mine.id);
      expect(ran.error).toMatchObject({
        code: 'INTERNAL',
        message: expect.stringContaining('token cannot be opened; set it again'),
      });
      expect(ran.events).toEqual([]);
      // Their owner is told what helps, and it does.
      const kept = await attacker.api('PUT', `/sources/${mine.id}`, { configured_props: {} });
      expect([kept.status, kept.body.errors[0].path]).toEqual([400, 'configured_props.token']);
      await attacker.api('PUT', `/sources/${mine.id}`, { configured_props: { token: 'set-anew' } });
      expect((await world.run(mine.id)).events).toEqual([{ length: 8 }]);
    });
  });
});

// secrets: Code that keeps what it saw in globals, to read an old secret after it was replaced.
describe('secret-left-in-the-isolate', () => {
  const world = hostile();

  const CODE = `globalThis.seen ??= [];
  export default { name: 'Keeps', version: '1', props: { token: { type: 'string', secret: true } },
    run() { globalThis.seen.push([...this.token].reverse().join('')); this.$emit(globalThis.seen); } };`;

  it('a replaced secret is in no isolate that runs again, and the next run has the new one', async () => {
    const { attacker } = world;
    await world.unharmed(async () => {
      const source = await attacker.deploy(CODE, { token: 'old-secret' });
      await world.run(source.id);
      await attacker.api('PUT', `/sources/${source.id}`, { configured_props: { token: 'new-secret' } });
      const { events } = await world.run(source.id);
      expect(events).toEqual([['terces-dlo'], ['terces-wen']]);
    });
  });
});

// process: The environment, arguments and files of the process, searched for the keys and the
// database of the server.
describe('secrets-of-the-server', () => {
  const world = hostile();

  it('the process was started without them, and its files are not reachable', async () => {
    const ran = await world.unharmed(() =>
      world.attack(`
      const fs = require('node:fs');
      const attempt = (what) => { try { return what(); } catch (error) { return error.code ?? 'refused'; } };
      const read = (file) => attempt(() => fs.readFileSync(file, 'utf8'));
      const files = ['/proc/self/environ', '/proc/self/cmdline', '/proc/self/maps', '/etc/passwd', '.headwater/encryption-key'];
      this.$emit({ env: process.env, argv: process.argv, exec: process.execArgv, cwd: process.cwd(), files: files.map(read),
        binding: attempt(() => process.binding('fs')), report: attempt(() => process.report.getReport()) });
    `),
    );
    expect(ran.error).toBeUndefined();
    const [seen] = ran.events;
    expect(seen).toMatchObject({ env: {}, files: Array(5).fill('ENOENT') });
    expect(seen.binding).toEqual({});
    // The report is fake: it has only the members that packages read.
    expect(seen.report).toEqual({ header: { glibcVersionRuntime: '2.36' }, sharedObjects: [] });
    const url = new URL(world.server.databaseUrl);
    for (const secret of [ADMIN_KEY, API_KEY, url.password]) expect(JSON.stringify(seen)).not.toContain(secret);
  });
});

// secrets: A step that names variables of more than a megabyte, run by many executions at once:
// each reads, opens and looks for all of it.
describe('variables-of-many-megabytes', () => {
  const world = hostile();

  const ODD = `abc/\\"'‹&é+ %ü`;
  const names = Array.from({ length: 24 }, (_, i) => `A${i}`);
  const EXECUTIONS = 32;

  it('ends before anything is read, with the limit, and smaller ones are removed from its output', async () => {
    const { attacker } = world;
    for (const [i, name] of names.entries()) {
      const value = Array.from({ length: 2_400 }, (_, line) => `${line}_${i} ${ODD}`).join('\n');
      expect((await attacker.api('PUT', `/environment_variables/${name}`, { value })).status).toBe(200);
    }
    const step = (...variables: string[]) => ({
      namespace: 'step',
      component_code: `export default { name: 'Reads', version: '1', type: 'action', props: { list: { type: 'any' } },
      run() { return this.list[0].slice(0, 30); } };`,
      props: { list: `{{[${variables.map((name) => `env.${name}`).join()}]}}` },
    });
    const workflow = async (...variables: string[]) => {
      const made = await attacker.api('POST', '/workflows', { triggers: [], steps: [step(...variables)] });
      expect([made.status, made.text]).toEqual([200, expect.any(String)]);
      return made.body.data.id as string;
    };
    const ended = (id: string, count: number) =>
      eventually(
        async () => {
          const rows = await world.sql<{ error: string | null }[]>`
          select error from executions where workflow_id = ${id} and status in ('succeeded', 'failed')`;
          return rows.length === count ? rows : undefined;
        },
        { timeoutMs: 60_000, what: `the end of ${count} executions` },
      );
    const [all, one] = await world.unharmed(async () => {
      const [many, single] = [await workflow(...names), await workflow('A0')];
      const run = (id: string) => attacker.api('POST', `/workflows/${id}/run`, { event: {} });
      await Promise.all(Array.from({ length: EXECUTIONS }, () => run(many)));
      await run(single);
      return [await ended(many, EXECUTIONS), { id: single, rows: await ended(single, 1) }] as const;
    });
    for (const { error } of all) {
      expect(JSON.parse(error ?? '{}')).toMatchObject({
        code: 'RESOURCE_LIMIT',
        message: expect.stringMatching(/have \d{7} bytes together; the limit maxRunSecretBytes is 262144 bytes$/),
      });
    }
    expect(one.rows[0]?.error).toBeNull();
    const [shown] = await world.sql<{ value: string }[]>`
    select s.value from execution_steps s join executions e on e.id = s.execution_id where e.workflow_id = ${one.id}`;
    expect(shown?.value).toContain('[secret:env.A0]');
  });
});
