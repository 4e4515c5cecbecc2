/** One `{{field}}` of a template. */
const PLACEHOLDER = /\{\{(\w+)\}\}/g;
/** Scheme, host and the rest of a URL template. */
const URL_PARTS = /^(https?:\/\/)([^/?#]*)(.*)$/s;
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i;
const HOST = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?(:\d{1,5})?$/i;

export type FilledUrl = { ok: true; url: URL } | { ok: false; field: string; message: string };

export function placeholdersOf(template: string): string[] {
  return [...template.matchAll(PLACEHOLDER)].map(([, name = '']) => name);
}

/** Unknown fields become empty. */
export function fillText(template: string, fields: Readonly<Record<string, string>>): string {
  return template.replaceAll(PLACEHOLDER, (_, name: string) => valueOf(fields, name));
}

/**
 * Fills the `{{field}}`s of a URL. A value cannot leave its place: after the host it is
 * percent-encoded. In the host it is one label (`acme` of `acme.zendesk.com`). If the template's
 * host is only a field, the value is a host with an optional port. A value of only dots is refused,
 * because it would remove the path segment before it.
 */
export function fillUrl(template: string, fields: Readonly<Record<string, string>>): FilledUrl {
  const [, scheme = '', host = '', rest = ''] = URL_PARTS.exec(template) ?? [];
  const isWholeHost = /^\{\{\w+\}\}$/.test(host);
  for (const name of placeholdersOf(host)) {
    if ((isWholeHost ? HOST : LABEL).test(valueOf(fields, name))) continue;
    const expected = isWholeHost ? 'a host such as acme.example.com' : 'one part of a host name, such as acme';
    return { ok: false, field: name, message: `must be ${expected}: letters, digits and hyphens` };
  }
  const dots = placeholdersOf(rest).find((name) => /^\.{1,2}$/.test(valueOf(fields, name)));
  if (dots !== undefined)
    return { ok: false, field: dots, message: 'must not be . or .., which lead elsewhere in a URL' };
  const encoded = rest.replaceAll(PLACEHOLDER, (_, name: string) => encode(valueOf(fields, name)));
  const text = scheme + fillText(host, fields) + encoded;
  if (URL.canParse(text)) return { ok: true, url: new URL(text) };
  return { ok: false, field: placeholdersOf(template)[0] ?? '', message: 'does not make a URL' };
}

/**
 * Whether the template fixes the domain of the host: `{{shop}}.example.com` does, `{{host}}` and
 * `x.{{domain}}` do not.
 */
export function hasFixedDomain(template: string): boolean {
  const [, , host = ''] = URL_PARTS.exec(template) ?? [];
  const lastField = host.lastIndexOf('}}');
  if (lastField < 0) return host !== '';
  return /^\.[a-z0-9-]+(\.[a-z0-9-]+)+(:\d+)?$/i.test(host.slice(lastField + 2));
}

function valueOf(fields: Readonly<Record<string, string>>, name: string): string {
  return Object.hasOwn(fields, name) ? (fields[name] ?? '') : '';
}

/**
 * A colon may stand anywhere after the host, and some servers compare paths without decoding them.
 */
const encode = (value: string) => encodeURIComponent(value).replaceAll('%3A', ':');
