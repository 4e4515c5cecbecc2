import { isIP } from 'node:net';
import { z } from '@hono/zod-openapi';
import { type AccountLimits, findLimitProblems, keepKnownLimits } from '@headwater/shared';

/* What the values of environment variables may be. */

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

export function isBaseUrl(text: string): boolean {
  return isHttpUrl(text) && new URL(text).pathname === '/';
}

export function isProxyUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return (
    /^https?:$/.test(url.protocol) && url.pathname === '/' && url.search === '' && url.hash === '' && canDecode(url)
  );
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
  return /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '' && url.username === '';
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
