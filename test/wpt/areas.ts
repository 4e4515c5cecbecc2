/** A part of the web-platform-tests checkout, and what of it says nothing about a guest. */
export interface WptArea {
  name: string;
  folders: readonly string[];
  /** Skipped files, by parts of their paths. */
  skip: readonly string[];
}

/**
 * Needs a server of the checkout (Python handlers), a document, or WebIDL reflection of the whole
 * platform.
 */
const EVERYWHERE = ['idlharness', '/crashtests/', 'cross-realm', '.window.', '/tools/', '.sub.any.js'];

const AREAS: readonly WptArea[] = [
  { name: 'url', folders: ['url'], skip: ['javascript-urls'] },
  {
    name: 'fetch: headers',
    folders: ['fetch/api/headers'],
    skip: ['header-values', 'headers-no-cors'],
  },
  {
    name: 'fetch: request',
    folders: ['fetch/api/request'],
    skip: [
      '/destination/',
      'request-cache',
      'request-keepalive',
      'request-init-priority',
      'request-bad-port',
      'request-headers',
    ],
  },
  {
    name: 'fetch: response',
    folders: ['fetch/api/response'],
    skip: ['response-clone-iframe', 'response-blob-realm'],
  },
  { name: 'fetch: body', folders: ['fetch/api/body'], skip: [] },
  { name: 'fetch: abort', folders: ['fetch/api/abort'], skip: ['cache.https', 'general.any', 'serviceworker'] },
  { name: 'xhr: FormData', folders: ['xhr/formdata'], skip: [] },
  {
    name: 'FileAPI',
    folders: ['FileAPI'],
    skip: [
      '/url/',
      '/FileReader',
      '/reading-data-section/',
      '/send-file-formdata',
      'fileReader',
      'FileReaderSync',
      'transferable',
      'filelist',
    ],
  },
  {
    name: 'encoding',
    folders: ['encoding'],
    skip: ['replacement-encodings', 'unsupported-encodings', 'streams/decode-utf8', 'sharedarraybuffer', 'legacy-mb-'],
  },
  {
    name: 'streams',
    folders: ['streams'],
    skip: ['non-transferable-buffers', '/transferable/', 'owning-type', 'transfer-type', 'garbage-collection'],
  },
  { name: 'compression', folders: ['compression'], skip: [] },
  {
    name: 'WebCryptoAPI',
    folders: ['WebCryptoAPI'],
    skip: [
      'curve448',
      'X448',
      'Ed448',
      'tentative',
      'ml-dsa',
      'ml-kem',
      'argon2',
      'chacha20',
      'kmac',
      'cshake',
      'sha3',
      'aes_ocb',
      'turboshake',
      'kangarootwelve',
      'encap_decap',
      'historical',
    ],
  },
  { name: 'dom: abort', folders: ['dom/abort'], skip: ['shadowrealm'] },
  { name: 'dom: events', folders: ['dom/events'], skip: [] },
  {
    name: 'html: webappapis',
    folders: ['html/webappapis'],
    skip: ['/scripting/', '/dynamic-markup', '/user-prompts', '/animation-frames', '/system-state', 'shadowrealm'],
  },
  { name: 'hr-time', folders: ['hr-time'], skip: [] },
];

/** Tests of features that isolates lack on purpose. */
export const LEFT_OUT = /SharedArrayBuffer|shared Uint8Array/;

/** Areas whose name contains the text; all without one. The common exclusions are added to each. */
export function findAreas(name: string | undefined): WptArea[] {
  return AREAS.filter((area) => name === undefined || area.name.includes(name)).map((area) => ({
    ...area,
    skip: [...EVERYWHERE, ...area.skip],
  }));
}
