#!/usr/bin/env node
/*
 * Starts `hw` on a Node that runs TypeScript files as they are. Plain JavaScript: whatever Node is
 * on the machine reads it, and where that one is too old, the Node that comes with the packages
 * takes over.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import nodeModule, { createRequire } from 'node:module';
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const OLDEST_MAJOR = 24;

if (Number.parseInt(process.versions.node, 10) >= OLDEST_MAJOR) {
  keepCompiledCode();
  await import('./plain-imports.js');
  await import('../src/main.ts');
} else runWithBundledNode();

/**
 * A start takes a quarter of the time with it. In a folder of the user's own: who can write there
 * decides what runs. One of another user, as root meets it with the home of somebody else, is left
 * alone.
 */
function keepCompiledCode() {
  const cache = process.env['XDG_CACHE_HOME'];
  const folder = path.join(cache?.startsWith('/') ? cache : path.join(homedir(), '.cache'), 'headwater', 'compiled');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid, mode } = statSync(folder);
    // Windows has neither such owners nor such modes.
    if (process.getuid !== undefined && (uid !== process.getuid() || (mode & 0o022) !== 0)) return;
    nodeModule.enableCompileCache(folder);
  } catch {
    // Without a home it is slower, and works.
  }
}

function runWithBundledNode() {
  const node = findNode();
  if (node === undefined) {
    process.stderr.write(
      `hw needs Node ${OLDEST_MAJOR} or newer; this is ${process.versions.node}.\n` +
        '  Install a newer Node, or the package `node` beside this one.\n',
    );
    process.exitCode = 1;
    return;
  }
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
  // A terminal sends Ctrl-C to both processes; this one only waits for the other to end. Other
  // signals come here alone.
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    process.stderr.write(`hw cannot start ${node}: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.on('close', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1);
  });
}

function findNode() {
  try {
    const folder = path.dirname(createRequire(import.meta.url).resolve('node/package.json'));
    return path.join(folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  } catch {
    // It is not installed.
    return undefined;
  }
}
