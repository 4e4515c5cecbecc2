import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The built web UI; `npm run build:web` writes it. */
export const WEB_FOLDER = fileURLToPath(new URL('../../../web/dist/', import.meta.url));

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
  '.txt': 'text/plain; charset=utf-8',
};

export interface StaticFile {
  type: string;
  plain: Uint8Array<ArrayBuffer>;
  /** Compressed when it was built; absent where that would not make it smaller. */
  brotli?: Uint8Array<ArrayBuffer>;
}

export interface WebFiles {
  /** `assets/index-Cx2f.js`; undefined where there is no such file. */
  find(name: string): StaticFile | undefined;
  /** The page that every path of the UI answers, its `<base>` being the public base path. */
  page: StaticFile;
}

/**
 * The files of the UI, all in memory: their names are known before a request comes, so no path of a
 * request reaches the file system. Undefined where the UI was not built. `basePath`: what URLs of
 * this instance begin with, `/` or `/hw/`.
 */
export function readWebFiles(folder: string, basePath: string): WebFiles | undefined {
  if (!existsSync(path.join(folder, 'index.html'))) return undefined;
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
  const files = new Map<string, StaticFile>();
  for (const name of names.filter((one) => !one.endsWith('.br') && one !== 'index.html')) {
    const type = TYPES[path.extname(name)] ?? 'application/octet-stream';
    const brotli = names.includes(`${name}.br`) ? read(folder, `${name}.br`) : undefined;
    const file = { type, plain: read(folder, name), ...(brotli === undefined ? {} : { brotli }) };
    files.set(name.split(path.sep).join('/'), file);
  }
  const html = readFileSync(path.join(folder, 'index.html'), 'utf8').replace(
    '<base href="/"',
    `<base href="${basePath}"`,
  );
  return {
    find: (name) => files.get(name),
    page: { type: TYPES['.html'] ?? '', plain: new TextEncoder().encode(html) },
  };
}

function read(folder: string, name: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(path.join(folder, name)));
}
