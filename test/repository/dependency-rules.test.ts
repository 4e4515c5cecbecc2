import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { IS_LONG_RUN } from '../support/long-run.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const CHECK = join(ROOT, 'test/support/check-rules.ts');

/** A project in small, laid out like this one, that keeps every rule. */
const CLEAN: Record<string, string> = {
  'shared/package.json': manifest('shared', []),
  'shared/src/index.ts': "export { limit } from './limit.ts';\n",
  'shared/src/limit.ts': 'export const limit = 1;\n',
  'sandbox-runtime/package.json': manifest('sandbox-runtime', ['@headwater/shared', 'isolated-vm', 'esbuild']),
  'sandbox-runtime/src/index.ts':
    "import ivm from 'isolated-vm';\nimport { limit } from '@headwater/shared';\nexport const run = [ivm, limit];\n",
  'engine/package.json': manifest('engine', [
    '@headwater/sandbox-runtime',
    'postgres',
    'drizzle-orm',
    'graphile-worker',
  ]),
  'engine/src/index.ts':
    "import { query } from './db/query.ts';\nimport { run } from '@headwater/sandbox-runtime';\nexport const engine = [query, run];\n",
  'engine/src/db/query.ts': "import postgres from 'postgres';\nexport const query = postgres;\n",
  'engine/src/db/jobs/work.ts': "import worker from 'graphile-worker';\nexport const work = worker;\n",
  'api/package.json': manifest('api', ['@headwater/engine', 'graphile-worker', 'esbuild']),
  'api/src/index.ts': "import { engine } from '@headwater/engine';\nexport const api = engine;\n",
  'cli/package.json': manifest('cli', ['@headwater/shared']),
  'cli/src/index.ts': "import { limit } from '@headwater/shared';\nexport const cli = limit;\n",
  'test/support/fixture.ts': "import { api } from '../../api/src/index.ts';\nexport const fixture = api;\n",
};

/** Code that breaks a rule, its file, and the message that the check must give. */
const PLANTS: { file: string; code: string; says: string }[] = [
  {
    file: 'shared/src/planted.ts',
    code: "import { engine } from '@headwater/engine';",
    says: 'arrow-shared: shared/src/planted.ts -> engine/src/index.ts',
  },
  {
    file: 'sandbox-runtime/src/planted.ts',
    code: "import type { engine } from '@headwater/engine';",
    says: 'arrow-sandbox-runtime: sandbox-runtime/src/planted.ts -> engine/src/index.ts',
  },
  {
    file: 'engine/src/planted.ts',
    code: "import { api } from '@headwater/api';",
    says: 'arrow-engine: engine/src/planted.ts -> api/src/index.ts',
  },
  {
    file: 'cli/src/planted.ts',
    code: "export { engine } from '@headwater/engine';",
    says: 'arrow-cli: cli/src/planted.ts -> engine/src/index.ts',
  },
  {
    // Closes the circle with cycle-b.ts, which the same tree holds.
    file: 'shared/src/cycle-a.ts',
    code: "import type { b } from './cycle-b.ts';\nexport const a = 1;",
    says: 'no-cycles: shared/src/cycle-a.ts -> shared/src/cycle-b.ts -> shared/src/cycle-a.ts',
  },
  {
    file: 'engine/src/runs/isolate.ts',
    code: "import ivm from 'isolated-vm';",
    says: 'isolates-only-in-the-sandbox: engine/src/runs/isolate.ts -> node_modules/isolated-vm/index.js',
  },
  {
    file: 'api/src/build.ts',
    code: "const { build } = await import('esbuild');",
    says: 'isolates-only-in-the-sandbox: api/src/build.ts -> node_modules/esbuild/index.js',
  },
  {
    file: 'engine/src/runs/sql.ts',
    code: "import type postgres from 'postgres';",
    says: 'sql-only-in-sql-files: engine/src/runs/sql.ts -> node_modules/postgres/index.js',
  },
  {
    file: 'engine/src/observe/sql.ts',
    code: "import { sql } from 'drizzle-orm';",
    says: 'sql-only-in-sql-files: engine/src/observe/sql.ts -> node_modules/drizzle-orm/index.js',
  },
  {
    file: 'engine/src/accounts/find.sql.ts',
    code: "import { eq } from 'drizzle-orm';",
    says: 'drizzle-in-one-piece: engine/src/accounts/find.sql.ts -> node_modules/drizzle-orm/index.js',
  },
  {
    file: 'api/src/jobs.ts',
    code: "import worker from 'graphile-worker';",
    says: 'jobs-only-in-jobs: api/src/jobs.ts -> node_modules/graphile-worker/index.js',
  },
  {
    file: 'api/src/back-door.ts',
    code: "import { query } from '../../engine/src/db/query.ts';",
    says: 'through-the-front-door: api/src/back-door.ts -> engine/src/db/query.ts',
  },
  {
    file: 'cli/src/schema.ts',
    code: "import { z } from 'zod';",
    says: 'schemas-run-in-the-api: cli/src/schema.ts -> node_modules/zod/index.js',
  },
  {
    file: 'engine/src/outbox/upwards.ts',
    code: "import type { isolate } from '../runs/isolate.ts';",
    says: 'engine-room-outbox: engine/src/outbox/upwards.ts -> engine/src/runs/isolate.ts',
  },
  {
    file: 'engine/src/attic/box.ts',
    code: "import { query } from '../db/query.ts';\nexport const box = query;",
    says: 'engine-rooms-are-known: engine/src/attic/box.ts -> engine/src/db/query.ts',
  },
  {
    file: 'engine/src/test-code.ts',
    code: "import { fixture } from '../../test/support/fixture.ts';",
    says: 'nothing-imports-tests: engine/src/test-code.ts -> test/support/fixture.ts',
  },
  {
    file: 'shared/src/undeclared.ts',
    code: "import { fetch } from 'undici';",
    says: 'declared-packages-only: shared/src/undeclared.ts -> node_modules/undici/index.js',
  },
  {
    file: 'engine/src/nowhere.ts',
    code: "import { nothing } from './no-such-file.ts';",
    says: 'no-unresolvable: engine/src/nowhere.ts -> ./no-such-file.ts',
  },
  {
    file: 'engine/src/event-helpers.ts',
    code: 'export const event = 1;',
    says: 'say-what-it-is: engine/src/event-helpers.ts has a name that says nothing about what is in it',
  },
  {
    file: 'engine/src/everything.ts',
    code: "export * from './index.ts';",
    says: 'no-export-star: engine/src/everything.ts does not name what it exports',
  },
];

const trees: string[] = [];

afterAll(() => {
  for (const tree of trees) rmSync(tree, { recursive: true, force: true });
});

describe('the dependency rules', () => {
  // Reads every file of the project, as `npm run check` does, which comes before the tests.
  it.runIf(IS_LONG_RUN)('hold for this project', () => {
    const { output, status } = check(ROOT);
    expect(output).toMatch(/ 0 violations$/);
    expect(status).toBe(0);
  });

  it('hold for a tree that keeps them', () => {
    const { output, status } = check(makeTree(CLEAN));
    expect(output).toMatch(/^9 files, 7 imports /);
    expect(output).toMatch(/ 0 violations$/);
    expect(status).toBe(0);
  });

  it('fail when the parser sees files but no imports', () => {
    const { output, status } = check(makeTree({ 'shared/src/a.ts': 'export const a = 1;\n' }));
    expect(output).toContain('unread: 1 files, but 0 imports between them');
    expect(status).toBe(1);
  });

  describe('find planted violations', () => {
    let lines: string[] = [];
    let status: number | null = null;

    beforeAll(() => {
      const planted = Object.fromEntries(PLANTS.map(({ file, code }) => [file, `${code}\n`]));
      planted['shared/src/cycle-b.ts'] = "import { a } from './cycle-a.ts';\nexport const b = a;\n";
      const result = check(makeTree({ ...CLEAN, ...planted }));
      lines = result.output.split('\n');
      status = result.status;
    });

    it.each(PLANTS)('in $file', ({ says }) => {
      expect(lines).toContain(says);
    });

    it('and the check fails', () => {
      expect(status).toBe(1);
    });
  });
});

function check(tree: string): { output: string; status: number | null } {
  const { stdout, stderr, status } = spawnSync(process.execPath, [CHECK], { cwd: tree, encoding: 'utf8' });
  return { output: (stdout + stderr).trim(), status };
}

function manifest(name: string, dependencies: string[]): string {
  return JSON.stringify({
    name: `@headwater/${name}`,
    type: 'module',
    exports: { '.': './src/index.ts' },
    dependencies: Object.fromEntries(dependencies.map((dependency) => [dependency, '*'])),
  });
}

function makeTree(files: Record<string, string>): string {
  const tree = mkdtempSync(join(tmpdir(), 'headwater-rules-'));
  trees.push(tree);
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), text);
  };
  put('package.json', JSON.stringify({ name: 'tree', private: true, type: 'module' }));
  for (const name of ['isolated-vm', 'esbuild', 'postgres', 'drizzle-orm', 'graphile-worker', 'undici', 'zod']) {
    put(`node_modules/${name}/package.json`, JSON.stringify({ name, version: '1.0.0', main: 'index.js' }));
    put(`node_modules/${name}/index.js`, 'module.exports = {};\n');
  }
  mkdirSync(join(tree, 'node_modules/@headwater'), { recursive: true });
  for (const name of ['shared', 'sandbox-runtime', 'engine', 'api', 'cli']) {
    symlinkSync(`../../${name}`, join(tree, 'node_modules/@headwater', name));
  }
  for (const [path, text] of Object.entries(files)) put(path, text);
  return tree;
}
