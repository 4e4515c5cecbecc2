import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

const FOLDER = 'web/dist';
const KB = 1024;
/** The page, and the scripts and styles that it names itself; fonts apart. */
const MAX_FIRST_LOAD = 200 * KB;
const MAX_LAZY = 150 * KB;
const MAX_LAZY_LARGE = 250 * KB;
/** The editor and graphs. */
const LARGE = /^(code-editor|workflow-graph)-/;

const sizeOf = (file: string) => gzipSync(readFileSync(path.join(FOLDER, file))).length;

/** Fails where the web UI is heavier than its budget. */
function checkWebSize(): void {
  const html = readFileSync(path.join(FOLDER, 'index.html'), 'utf8');
  const named = [...html.matchAll(/(?:src|href)="\.\/(assets\/[^"]+\.(?:js|css))"/g)].map((match) => match[1] ?? '');
  const first = ['index.html', ...named].reduce((sum, file) => sum + sizeOf(file), 0);
  const problems = first > MAX_FIRST_LOAD ? [`the first load is ${kb(first)}, more than ${kb(MAX_FIRST_LOAD)}`] : [];
  for (const file of readdirSync(path.join(FOLDER, 'assets')).filter((name) => /\.(js|css)$/.test(name))) {
    const limit = LARGE.test(file) ? MAX_LAZY_LARGE : MAX_LAZY;
    const size = sizeOf(`assets/${file}`);
    if (!named.includes(`assets/${file}`) && size > limit)
      problems.push(`${file} is ${kb(size)}, more than ${kb(limit)}`);
  }
  console.log(`web UI: first load ${kb(first)} gzip`);
  for (const problem of problems) console.error(`web UI: ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
}

const kb = (bytes: number) => `${Math.round(bytes / KB)} KB`;

checkWebSize();
