import { defineLimits } from './define-limits.ts';

/** The web UI. */
// biome-ignore format: one limit a line
export const WEB_LIMITS = defineLimits({
  sessionMaxAgeMs: { default: 12 * 60 * 60 * 1000, unit: 'ms', scope: 'session', why: 'how long after its last renewal a session of the web UI ends; an open page renews it every hour' },
  maxSessionCookies: { default: 16, unit: 'count', scope: 'request', why: 'cookies of sessions, one for each API key that a browser was signed in with' },
  defaultPortalMinutes: { default: 30, unit: 'minutes', scope: 'portal link', why: 'how long a link to the portal of a customer works' },
  maxPortalMinutes: { default: 24 * 60, unit: 'minutes', scope: 'portal link', why: 'the longest time that can be set' },
  maxPortalLinks: { default: 1_000, unit: 'count', scope: 'account', why: 'links to the portal that work at the same time' },
});
