import { GuestFile } from './blob.ts';
import { theBridge } from './bridge-slot.ts';
import { GuestFormData } from './form-data.ts';
import { decodeUtf8 } from './utf8.ts';

const CHUNK = 8192;
const NAME = /(?:^|;)\s*name="([^"]*)"/i;
const FILE_NAME = /;\s*filename="([^"]*)"/i;

/**
 * Reads a multipart/form-data body. Throws TypeError if it is invalid. The bytes become a string of
 * one character each, because V8 searches and cuts strings natively.
 */
export function readMultipart(bytes: Uint8Array, boundary: string): GuestFormData {
  const text = toBinary(bytes);
  const form = new GuestFormData();
  const dashes = `--${boundary}`;
  let at = text.startsWith(dashes) ? 0 : text.indexOf(`\r\n${dashes}`) + 2;
  if (at === 1) throw broken('the boundary is not there');
  for (;;) {
    at += dashes.length;
    if (text.startsWith('--', at)) return form;
    if (!text.startsWith('\r\n', at)) throw broken('a boundary does not end its line');
    const headEnd = text.indexOf('\r\n\r\n', at);
    const partEnd = headEnd < 0 ? -1 : text.indexOf(`\r\n${dashes}`, headEnd + 2);
    if (partEnd < 0) throw broken('a part does not end');
    appendPart(form, text.slice(at + 2, headEnd), bytes.slice(headEnd + 4, partEnd));
    at = partEnd + 2;
  }
}

function appendPart(form: GuestFormData, head: string, content: Uint8Array): void {
  let disposition = '';
  let type: string | undefined;
  for (const line of head.split('\r\n')) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (name === 'content-disposition') disposition = value;
    else if (name === 'content-type') type = value;
  }
  const name = NAME.exec(disposition.replace(/^form-data\s*/i, ''))?.[1];
  if (name === undefined || !/^form-data\s*;/i.test(disposition)) throw broken('a part has no name');
  const fileName = FILE_NAME.exec(disposition)?.[1];
  if (fileName === undefined) form.append(unescapeName(name), decodeUtf8(theBridge(), content));
  else
    form.append(unescapeName(name), new GuestFile([content], unescapeName(fileName), { type: type ?? 'text/plain' }));
}

function unescapeName(name: string): string {
  const bytes = Uint8Array.from(name, (character) => character.charCodeAt(0));
  return decodeUtf8(theBridge(), bytes).replaceAll('%0A', '\n').replaceAll('%0D', '\r').replaceAll('%22', '"');
}

function toBinary(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += CHUNK) parts.push(String.fromCharCode(...bytes.subarray(at, at + CHUNK)));
  return parts.join('');
}

function broken(reason: string): TypeError {
  return new TypeError(`The body is no multipart/form-data: ${reason}`);
}
