import { AskError } from './ask-error.ts';
import { childrenOf, readValue, unreadable } from './der.ts';
import { refuseCostlyKey, refuseLargeKey } from './key-costs.ts';
import { openOldPem, openPkcs8 } from './open-key.ts';

/*
 * Extracts the key of a PEM, checks it, and gives OpenSSL only the checked key: a text may hold
 * several keys, and OpenSSL's choice is its own.
 */

const PEM = /-----BEGIN ([A-Z\d .]{1,40})-----([\s\S]*?)-----END \1-----/g;
const BASE64 = /^[A-Za-z\d+/=\s]+$/;
const ENCRYPTED = /^\s*Proc-Type: *4, *ENCRYPTED\s/;
const LINE = /.{1,64}/g;
const PRIVATE = ['PRIVATE KEY', 'ENCRYPTED PRIVATE KEY', 'RSA PRIVATE KEY', 'EC PRIVATE KEY', 'DSA PRIVATE KEY'];
const PUBLIC = ['PUBLIC KEY', 'RSA PUBLIC KEY', 'CERTIFICATE'];
const OLD = /^(RSA|EC|DSA) PRIVATE KEY$/;

/**
 * Another PEM, with nothing but the one key, which is not encrypted. Throws AskError for one that
 * costs too much.
 */
export function readPem(given: Buffer, half: 'private' | 'public', passphrase: Buffer | undefined): string {
  refuseLargeKey(given.length);
  const found = findKey(given.toString('latin1'), half);
  // OpenSSL has its own words for this.
  if (found === undefined) return '';
  const [label, body] = found;
  const der = openBody(label, body, passphrase);
  refuseCostlyKey(der);
  return writePem(
    label === 'ENCRYPTED PRIVATE KEY' ? 'PRIVATE KEY' : label === 'CERTIFICATE' ? 'PUBLIC KEY' : label,
    der,
  );
}

/**
 * A private key also where a public one is asked for, but not before public ones; of private ones
 * the first.
 */
function findKey(text: string, half: 'private' | 'public'): [label: string, body: string] | undefined {
  const blocks = [...text.matchAll(PEM)].map(([, label = '', body = '']): [string, string] => [label, body]);
  const publicOnes = half === 'private' ? [] : PUBLIC.map((wanted) => blocks.find(([label]) => label === wanted));
  return publicOnes.find((block) => block !== undefined) ?? blocks.find(([label]) => PRIVATE.includes(label));
}

function openBody(label: string, body: string, passphrase: Buffer | undefined): Buffer {
  if (OLD.test(label) && ENCRYPTED.test(body)) {
    const [headers = '', ...rest] = body.replaceAll('\r', '').trimStart().split('\n\n');
    return openOldPem(headers, fromBase64(rest.join('')), passphrase);
  }
  const der = fromBase64(body);
  if (label === 'CERTIFICATE') return keyOfCertificate(der);
  return OLD.test(label) ? der : openPkcs8(der, passphrase);
}

/**
 * The public key in a certificate, the sixth of its values after the version, which may be left
 * out: RFC 5280.
 */
function keyOfCertificate(der: Buffer): Buffer {
  const [signed] = childrenOf(readValue(der, 0).value);
  const values = childrenOf(signed);
  const key = values[values[0]?.tag === 0xa0 ? 6 : 5];
  if (key === undefined) throw unreadable();
  return key.whole;
}

function fromBase64(body: string): Buffer {
  if (!BASE64.test(body)) throw new AskError('The PEM of the key cannot be read');
  return Buffer.from(body, 'base64');
}

function writePem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(LINE) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
