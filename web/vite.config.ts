import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const MIN_COMPRESSED_BYTES = 1_024;

/**
 * Compresses once what the server would otherwise compress for each browser. Last of all: the text
 * is final then.
 */
function brotli(): Plugin {
  return {
    name: 'brotli',
    apply: 'build',
    writeBundle({ dir = '' }, bundle) {
      for (const { fileName } of Object.values(bundle)) {
        const file = path.join(dir, fileName);
        const bytes = readFileSync(file);
        if (!/\.(js|css|svg)$/.test(fileName) || bytes.length < MIN_COMPRESSED_BYTES) continue;
        const params = { [constants.BROTLI_PARAM_QUALITY]: 9 };
        writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }));
      }
    },
  };
}

/** `npm run dev:web` passes everything that is not the UI on to a running server. */
const SERVER = process.env['HEADWATER_URL'] ?? 'http://127.0.0.1:3000';

export default defineConfig({
  // Relative: the server writes the base path into the page.
  base: './',
  plugins: [react(), tailwindcss(), brotli()],
  build: {
    outDir: 'dist',
    target: 'es2022',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // The editor is one lazy piece.
    chunkSizeWarningLimit: 700,
  },
  server: {
    proxy: Object.fromEntries(
      ['/v1', '/e/', '/oauth', '/resume', '/cancel', '/openapi.json'].map((prefix) => [prefix, SERVER]),
    ),
  },
});
