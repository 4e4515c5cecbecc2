/**
 * Path of this instance: `/`, or `/hw/` behind a proxy. The server writes it into the page's
 * `<base>`.
 */
export const BASE_PATH = new URL(document.baseURI).pathname;

/** The absolute URL of a path of this instance, for people to copy. `path` begins with a slash. */
export function publicUrl(path: string): string {
  return new URL(path.slice(1), document.baseURI).href;
}
