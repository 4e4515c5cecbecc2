/** The web UI. */
export const WEB_LIMITS = {
  /**
   * A session of the web UI ends so long after it was last renewed; an open page renews it every
   * hour.
   */
  sessionMaxAgeMs: 12 * 60 * 60 * 1000,
  /**
   * Sessions that one request may bring: a browser has one for each API key that was signed in
   * with.
   */
  maxSessionCookies: 16,
  /** How long a link to the portal of a customer works. */
  defaultPortalMinutes: 30,
  maxPortalMinutes: 24 * 60,
  /** Links of one account that work at the same time. */
  maxPortalLinks: 1_000,
} as const;
