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

/** Each text is drawn in one of the two. The browser fetches them before it has read the styles. */
const FONTS = /(inter|jetbrains-mono)-latin-wght-normal.*\.woff2$/;

function preloadFonts(): Plugin {
  return {
    name: 'preload-fonts',
    apply: 'build',
    transformIndexHtml: (_, { bundle = {} }) =>
      Object.keys(bundle)
        .filter((name) => FONTS.test(name))
        .map((name) => ({
          tag: 'link',
          attrs: { rel: 'preload', as: 'font', type: 'font/woff2', href: `./${name}`, crossorigin: '' },
          injectTo: 'head',
        })),
  };
}

/** `npm run dev:web` passes everything that is not the UI on to a running server. */
const SERVER = process.env['HEADWATER_URL'] ?? 'http://127.0.0.1:3000';

export default defineConfig({
  // Relative: the server writes the base path into the page.
  base: './',
  plugins: [react(), tailwindcss(), preloadFonts(), brotli()],
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
