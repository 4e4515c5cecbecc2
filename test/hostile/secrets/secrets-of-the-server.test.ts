// process: The environment, arguments and files of the process, searched for the keys and the database of the server.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { ADMIN_KEY, API_KEY } from '../../support/server.ts';

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
