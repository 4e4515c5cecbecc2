import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { cliWorld, ORDERS_SOURCE } from '../support/cli-world.ts';

const world = cliWorld();

describe('names', () => {
  test('one that several have is refused with the candidates', async () => {
    await world.write('orders.mjs', ORDERS_SOURCE);
    const [a, b] = [
      await world.user.json('deploy', 'orders.mjs', '--name', 'Twin one'),
      await world.user.json('deploy', 'orders.mjs', '--name', 'Twin one', '--new'),
    ];
    expect([a.name_slug, b.name_slug]).toEqual(['twin-one', 'twin-one-1']);
    const { code, stderr } = await world.user.hw(['describe', 'Twin One']);
    expect(code).toBe(1);
    expect(stderr).toContain('2 sources, workflows or webhooks are called Twin One');
    for (const { id, name_slug: slug } of [a, b]) expect(stderr).toContain(`${id}: Twin one (${slug})`);
    expect(await world.user.json('describe', 'twin-one')).toMatchObject({ id: a.id });
  });

  test('an unknown one is refused with the nearest, as text and as JSON', async () => {
    await world.write('orders.mjs', ORDERS_SOURCE);
    await world.user.hw(['deploy', 'orders.mjs', '--name', 'nearby orders']);
    expect(await world.user.hw(['logs', 'nearby-ordres'])).toEqual({
      code: 4,
      stdout: '',
      stderr: 'error: No source or workflow is called nearby-ordres\n  → Did you mean nearby-orders?\n',
    });
    const { stderr } = await world.user.hw(['logs', 'nearby-ordres', '--json']);
    expect(JSON.parse(stderr).error).toMatchObject({ exit_code: 4, hint: 'Did you mean nearby-orders?' });
  });
});

describe('refusals of the server', () => {
  test('broken code: exit code 6, with file, line and column', async () => {
    await world.write('broken.mjs', 'export default {\n  name: "x",\n  run( {\n};\n');
    const { code, stdout, stderr } = await world.user.hw(['deploy', 'broken.mjs']);
    expect([code, stdout]).toEqual([6, '']);
    expect(stderr).toMatch(/^error: .+\n {2}broken\.mjs:4:\d+: .+/);
  });

  test('a full account: the limit, its value, the value after this, and the operator who can raise it', async () => {
    await world.write('orders.mjs', ORDERS_SOURCE);
    await world.hw.limit({ maxSources: 0 });
    const { code, stdout, stderr } = await world.user.hw(['deploy', 'orders.mjs', '--name', 'one too many']);
    await world.hw.limit({ maxSources: null });
    expect([code === 0, stdout]).toEqual([false, '']);
    expect(stderr).toMatch(/^error: The limit maxSources is 0; this would make it [1-9]/);
    expect(stderr).toContain('the operator can raise it');
  });

  test('a hook that throws: exit code 6, with what it threw', async () => {
    await world.write(
      'hook.mjs',
      ORDERS_SOURCE.replace('run(event)', 'hooks: { deploy() { throw new Error("no such board") } }, run(event)'),
    );
    expect(await world.user.hw(['deploy', 'hook.mjs'])).toMatchObject({
      code: 6,
      stderr: expect.stringContaining('no such board'),
    });
  });

  test('missing props: exit code 2, with the options that give them; wrong ones: each with its path', async () => {
    await world.write(
      'needs.mjs',
      'export default { name: "n", version: "1", props: { a: { type: "string" }, b: { type: "integer" } }, run() {} };',
    );
    const missing = await world.user.hw(['deploy', 'needs.mjs']);
    expect(missing.code).toBe(2);
    for (const name of ['a', 'b']) expect(missing.stderr).toMatch(new RegExp(`--prop ${name}=`));
    const wrong = await world.user.hw(['deploy', 'needs.mjs', '--prop', 'a=x', '--prop', 'b=x']);
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringMatching(/configured_props\.b: /) });
  });

  test('a file that is not there: exit code 2, with the nearest', async () => {
    await world.write('there.mjs', ORDERS_SOURCE);
    expect(await world.user.hw(['deploy', 'theer.mjs'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Did you mean there.mjs?'),
    });
  });

  test('a folder, a missing file of a workflow, an empty word: exit code 2, before anything is sent', async () => {
    await mkdir(path.join(world.user.workDir, 'folder'), { recursive: true });
    await world.write('folder/inside.mjs', ORDERS_SOURCE);
    for (const command of ['deploy', 'dev', 'publish']) {
      expect(await world.user.hw([command, 'folder'])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('folder is a folder\n  → Name one: inside.mjs'),
      });
    }
    await world.write(
      'flow.json',
      '{"name":"f","triggers":[],"steps":[{"namespace":"a","component_file":"gone.mjs"}]}',
    );
    expect(await world.user.hw(['workflows', 'create', 'flow.json'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('There is no file gone.mjs'),
    });
  });

  test('an event on the command line: exit code 2, with the way to give it', async () => {
    expect(await world.user.hw(['run', 'any', '--event', '{"total":1}'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--event -'),
    });
  });

  test('an unpublished key: exit code 4, with the nearest', async () => {
    expect(await world.user.hw(['deploy', 'schedule-timr'])).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('Did you mean schedule-timer?'),
    });
    expect(await world.user.hw(['deploy', 'schedule-timer@99.0.0'])).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('There is no version 99.0.0 of schedule-timer'),
    });
  });

  test('code that does not load is told once, with the name that its file has here', async () => {
    await world.write(
      'loads.mjs',
      'const a = 1;\nnothingThere();\nexport default { name: "x", version: "1", run() {} };',
    );
    const { code, stderr } = await world.user.hw(['deploy', 'loads.mjs']);
    expect(code).toBe(6);
    expect(stderr).toMatch(/^error: loads\.mjs:2:1: .*nothingThere is not defined\n {2}→ .*\n$/);
    const { stderr: json } = await world.user.hw(['publish', 'loads.mjs', '--json']);
    expect(JSON.parse(json).error.fields).toMatchObject([{ file: 'loads.mjs', line: 2, column: 0 }]);
  });

  test('a prop that the component does not have is refused, with the nearest', async () => {
    await world.write('orders.mjs', ORDERS_SOURCE);
    const { code, stderr } = await world.user.hw(['deploy', 'orders.mjs', '--prop', 'curency=CHF', '-q']);
    expect(code).not.toBe(0);
    expect(stderr).toContain('did you mean currency?');
    await world.user.hw(['deploy', 'orders.mjs', '--name', 'to update']);
    const updated = await world.user.hw(['update', 'to-update', '--prop', 'curency=CHF']);
    expect(updated.stderr).toContain('did you mean currency?');
  });

  test('a key that is not valid: exit code 3', async () => {
    const { code, stderr } = await world.user.hw(['list'], { env: { HEADWATER_API_KEY: 'hw_wrong' } });
    expect([code, stderr.includes('hw_wrong')]).toEqual([3, false]);
  });

  test('a server that is not there: exit code 5', async () => {
    const { code, stderr } = await world.user.hw(['list'], { env: { HEADWATER_URL: 'http://127.0.0.1:9' } });
    expect([code, stderr]).toEqual([5, expect.stringContaining('http://127.0.0.1:9 cannot be reached')]);
  });
});

test('names given by others cannot steer the terminal', async () => {
  await world.write('sly.mjs', ORDERS_SOURCE.replace('"Orders"', String.raw`"Sly\u001b]0;owned\u0007\u001b[2J"`));
  const { id } = await world.user.json('deploy', 'sly.mjs');
  const { stdout } = await world.user.hw(['describe', id]);
  expect(stdout).toContain(String.raw`\x1b]0;owned\x07`);
  expect(stdout).not.toContain('\u001B');
});
