import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startTestServer } from './http-server.ts';

const TARGET = 'client/src/schema.d.ts';
/** It needs a TypeScript with a compiler API, which is installed beside it and nowhere else. */
const GENERATOR = 'web/node_modules/openapi-typescript/bin/cli.js';

/**
 * Writes the types of the REST API from our own OpenAPI document, for the client and the web UI on
 * it. The file is not committed: each check writes it anew, so both are always checked against the
 * document of this tree.
 */
async function writeWebSchema(): Promise<void> {
  const { url, server } = await startTestServer();
  const folder = mkdtempSync(path.join(tmpdir(), 'headwater-schema-'));
  try {
    const document = path.join(folder, 'openapi.json');
    writeFileSync(document, await (await fetch(`${url}/openapi.json`)).text());
    const { status, stderr } = spawnSync(process.execPath, [GENERATOR, document, '-o', TARGET], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`openapi-typescript failed: ${stderr}`);
  } finally {
    rmSync(folder, { recursive: true });
    await server.stop(0);
  }
}

await writeWebSchema();
