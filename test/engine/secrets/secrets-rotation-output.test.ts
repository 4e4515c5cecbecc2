import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../../support/database.ts';
import { startProcess } from '../../support/processes.ts';

const ROTATE = fileURLToPath(new URL('../../../api/src/rotate-secrets-main.ts', import.meta.url));
const KEY = 'e'.repeat(64);

test('a rotation with nothing to do says how one is done, and no key', async () => {
  const database = await createTestDatabase();
  try {
    const env = { DATABASE_URL: database.url, HEADWATER_ENCRYPTION_KEY: KEY };
    const command = startProcess({ args: [ROTATE], env });
    expect(await command.exited).toEqual({ code: 0, signal: null });
    expect(command.output()).toContain('There was nothing to do.');
    expect(command.output()).toContain('openssl rand -hex 32');
    // The present one, or any other in the form that a node takes.
    expect(command.output()).not.toMatch(/[0-9a-f]{64}/);
  } finally {
    await database.drop();
  }
});
