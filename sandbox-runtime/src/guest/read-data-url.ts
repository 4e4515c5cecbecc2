import { theBridge } from './bridge-slot.ts';
import { mimeEssence } from './mime-type.ts';
import { fetchFailed } from './network-error.ts';
import type { NetworkAnswer } from './response.ts';
import { percentDecode } from './url-search-params.ts';
import { encodeUtf8 } from './utf8.ts';

/** Response for a `data:` URL. Throws TypeError for an invalid one. */
export function readDataUrl(url: string): NetworkAnswer {
  const [address = ''] = url.split('#');
  const comma = address.indexOf(',');
  if (comma < 0) throw fetchFailed(new Error('a data: URL needs a comma'));
  const head = address.slice(5, comma).trim();
  const isBase64 = /;\s*base64$/i.test(head);
  const type = isBase64 ? head.replace(/;\s*base64$/i, '') : head;
  const named = type.startsWith(';') ? `text/plain${type}` : type;
  const content = percentDecode(encodeUtf8(theBridge(), address.slice(comma + 1)));
  return {
    status: 200,
    statusText: 'OK',
    headers: [['content-type', mimeEssence(named) === '' ? 'text/plain;charset=US-ASCII' : named]],
    url,
    redirected: false,
    body: { source: isBase64 ? decodeBase64(content) : content, used: false },
  };
}

function decodeBase64(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  try {
    const text = atob(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
    return Uint8Array.from(text, (character) => character.charCodeAt(0));
  } catch (cause) {
    throw fetchFailed(new Error('a data: URL with broken base64', { cause }));
  }
}
