const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** `type/subtype` in lower case, without parameters; '' if it is no MIME type. */
export function mimeEssence(contentType: string): string {
  const [essence = ''] = contentType.split(';');
  const [type = '', subtype = '', ...more] = essence.trim().split('/');
  return more.length === 0 && TOKEN.test(type) && TOKEN.test(subtype) ? `${type}/${subtype}`.toLowerCase() : '';
}

/** A parameter of a MIME type, unquoted. */
export function mimeParameter(contentType: string, name: string): string | undefined {
  for (const [, key, quoted, plain] of contentType.matchAll(/;\s*([^=;\s]+)=(?:"((?:[^"\\]|\\.)*)"|([^;]*))/g)) {
    if (key?.toLowerCase() === name) return quoted === undefined ? plain?.trim() : quoted.replace(/\\(.)/g, '$1');
  }
  return undefined;
}
