import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { type Fault, platformLimit, WEBHOOK_METHODS } from '@headwater/shared';
import type { WebhookAuth, WebhookRequestSettings } from '../../contract/index.ts';

type FieldFault = readonly [path: string, fault: Fault];

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;
/** Visible ASCII: what a header can hold. */
const TOKEN = /^[\x21-\x7e]+$/;
/** RFC 7617: a user name ends at the first colon. */
const USERNAME = /^[^\p{Cc}:]+$/u;
const NO_CONTROL = /^\P{Cc}+$/u;

export function requestFaults(
  settings: WebhookRequestSettings,
  findUrlFault: (url: string) => Fault | undefined,
): FieldFault[] {
  const { method, caCertificate, clientCertificate, clientKey, auth } = settings;
  const faults: FieldFault[] = [];
  if (method !== undefined && method !== null && !WEBHOOK_METHODS.includes(method))
    faults.push(['method', { message: 'must be POST or PUT' }]);
  const certificates = { ca_certificate: caCertificate, client_certificate: clientCertificate };
  for (const [path, pem] of Object.entries(certificates)) {
    const fault = pem === undefined || pem === null ? undefined : certificateFault(pem);
    if (fault !== undefined) faults.push([path, fault]);
  }
  if (isGiven(clientCertificate) !== isGiven(clientKey) || (clientCertificate === null) !== (clientKey === null))
    faults.push(['client_key', { message: 'goes with client_certificate: give both, or null for both' }]);
  else if (faults.length === 0 && isGiven(clientCertificate) && isGiven(clientKey)) {
    const message = pairMistake(clientCertificate, clientKey);
    if (message !== undefined) faults.push(['client_key', { message }]);
  }
  if (auth !== undefined && auth !== null) faults.push(...authFaults(auth, findUrlFault));
  return faults;
}

const isGiven = (text: string | null | undefined): text is string => typeof text === 'string';

function certificateFault(pem: string): Fault | undefined {
  const size = platformLimit('maxWebhookCertificateBytes', Buffer.byteLength(pem));
  if (size.used > size.value) return { message: `must be at most ${size.value} bytes`, limit: size };
  const found = pem.match(PEM_CERTIFICATE) ?? [];
  try {
    for (const one of found) void new X509Certificate(one);
  } catch {
    return { message: 'has a certificate that cannot be read' };
  }
  const rest = pem.replaceAll(PEM_CERTIFICATE, '').trim();
  return found.length > 0 && rest === ''
    ? undefined
    : { message: 'must be certificates in PEM form (-----BEGIN CERTIFICATE-----), and nothing else' };
}

function pairMistake(certificate: string, key: string): string | undefined {
  try {
    createPrivateKey(key);
  } catch {
    return 'must be a private key in PEM form, without a passphrase';
  }
  try {
    createSecureContext({ cert: certificate, key });
    return undefined;
  } catch {
    return 'is not the key of client_certificate';
  }
}

function authFaults(auth: WebhookAuth, findUrlFault: (url: string) => Fault | undefined): FieldFault[] {
  const texts = textsOf(auth);
  const faults = Object.entries(texts).flatMap(([name, [text, form]]): FieldFault[] => {
    const size = platformLimit('maxWebhookAuthChars', text.length);
    if (size.used > size.value)
      return [[`auth.${name}`, { message: `must have at most ${size.value} characters`, limit: size }]];
    return form.test(text) && text.isWellFormed()
      ? []
      : [[`auth.${name}`, { message: 'has a character that cannot be sent, or none' }]];
  });
  if (auth.type !== 'oauth2_client_credentials') return faults;
  const fault = findUrlFault(auth.tokenUrl);
  return fault === undefined ? faults : [...faults, ['auth.token_url', fault]];
}

function textsOf(auth: WebhookAuth): Record<string, [text: string, form: RegExp]> {
  switch (auth.type) {
    case 'basic':
      return { username: [auth.username, USERNAME], password: [auth.password, NO_CONTROL] };
    case 'bearer':
      return { token: [auth.token, TOKEN] };
    case 'oauth2_client_credentials': {
      const { clientId, clientSecret, scope } = auth;
      return {
        client_id: [clientId, NO_CONTROL],
        client_secret: [clientSecret, NO_CONTROL],
        ...(scope === undefined ? {} : { scope: [scope, NO_CONTROL] }),
      };
    }
  }
}
