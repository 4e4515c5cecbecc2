import { isIP } from 'node:net';
import { z } from '@hono/zod-openapi';
import { hostUrlsOf, parseDnsServer, SANDBOX_LAYERS, type SandboxLayer } from '@headwater/engine';
import { type AccountLimits, findLimitProblems, keepKnownLimits } from '@headwater/shared';

export const MAX_RETRIES = 50;
export const MAX_RETRY_SECONDS = 30 * 24 * 3600;

export function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535;
}

export function splitList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

export function isRange(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128));
}

/** Each wrong entry is a problem of its own. */
export function parseDnsServers(text: string, context: z.RefinementCtx): string[] {
  const servers = splitList(text);
  const form = 'an address such as 1.1.1.1, 127.0.0.1:5353 or [::1]:5353';
  if (servers.length === 0) context.addIssue({ code: 'custom', message: `must hold ${form}` });
  for (const server of servers.filter((one) => parseDnsServer(one) === undefined)) {
    context.addIssue({ code: 'custom', message: `has "${server}", which is not ${form}` });
  }
  return servers;
}

const ALL_LAYERS = 'all';

/** Layers of sandbox processes, or `all` of them. */
export function parseLayers(text: string, context: z.RefinementCtx): SandboxLayer['layer'][] {
  const names = splitList(text);
  const isLayer = (name: string) => SANDBOX_LAYERS.some((layer) => layer === name);
  if (names.length === 0) context.addIssue({ code: 'custom', message: 'must name a layer' });
  for (const name of names.filter((one) => one !== ALL_LAYERS && !isLayer(one))) {
    context.addIssue({
      code: 'custom',
      message: `has "${name}", which is neither all nor one of ${SANDBOX_LAYERS.join(', ')}`,
    });
  }
  return SANDBOX_LAYERS.filter((layer) => names.includes(ALL_LAYERS) || names.includes(layer));
}

const HOST_NAME = /^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?\.?$/i;
/** A host that ends in digits is an address, not a name. If `isIP` rejects it, it is invalid. */
const ENDS_IN_DIGITS = /(^|\.)\d+\.?$/;

/** An address or a name to listen on. */
export function isHost(text: string): boolean {
  return isIP(text) !== 0 || (HOST_NAME.test(text) && !ENDS_IN_DIGITS.test(text));
}

export function isDatabaseUrl(text: string): boolean {
  return /^postgres(ql)?:\/\//.test(text) && hostUrlsOf(text).every((url) => URL.canParse(url));
}

const DOMAIN = /^([a-z0-9]([a-z0-9-]*[a-z0-9])?)(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

/** With a port, or without. */
export function isDomain(text: string): boolean {
  const [name = '', port, ...rest] = text.split(':');
  return DOMAIN.test(name) && (port === undefined || isPort(port)) && rest.length === 0;
}

/** A pattern would never be an origin that a browser names. */
export function isOrigin(text: string): boolean {
  return isBaseUrl(text) && !text.includes('*');
}

/** A path in the URL is the prefix that a proxy puts before every URL of this instance. */
export function isPublicUrl(text: string): boolean {
  return isHttpUrl(text) && !/\/(e|v1)(\/|$)/.test(new URL(text).pathname);
}

function isBaseUrl(text: string): boolean {
  return isHttpUrl(text) && new URL(text).pathname === '/';
}

export function isProxyUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return (
    /^https?:$/.test(url.protocol) && url.pathname === '/' && url.search === '' && url.hash === '' && canDecode(url)
  );
}

/** Without TLS anybody on the way could sign in as anybody. */
export function isIssuer(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, search, hash } = new URL(text);
  const isLoopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
  return (protocol === 'https:' || (protocol === 'http:' && isLoopback)) && search === '' && hash === '';
}

export function isSmtpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return /^smtps?:$/.test(url.protocol) && url.hostname !== '' && canDecode(url);
}

function canDecode({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}

export function isHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  const { protocol, search, hash, username, password } = url;
  return /^https?:$/.test(protocol) && search + hash + username + password === '';
}

/** `{"runCpuMs":5000}`. Each wrong entry is a problem of its own. */
export function parseLimits(text: string, context: z.RefinementCtx): Partial<AccountLimits> {
  const limits = parseObject(text);
  if (limits === undefined) {
    context.addIssue({ code: 'custom', message: 'must be a JSON object such as {"runCpuMs":5000}' });
    return z.NEVER;
  }
  for (const { path, message } of findLimitProblems(limits)) {
    context.addIssue({ code: 'custom', path: [path], message });
  }
  return keepKnownLimits(limits);
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

export function isSchedule(seconds: number[]): boolean {
  const fits = (value: number) => Number.isFinite(value) && value >= 0 && value <= MAX_RETRY_SECONDS;
  return seconds.length >= 1 && seconds.length <= MAX_RETRIES && seconds.every(fits);
}
