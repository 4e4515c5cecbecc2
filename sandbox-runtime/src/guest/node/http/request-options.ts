import { requireInteger, requirePort, requireTimeout } from '../checks.ts';
import { codedError, invalidArgument, nativeError, requireString } from '../errors.ts';
import { Agent } from './agent.ts';

export interface RequestOptions {
  protocol?: string | null;
  host?: string | null;
  hostname?: string | null;
  port?: number | string | null;
  path?: string | null;
  method?: string;
  headers?: Record<string, unknown> | readonly string[];
  auth?: string | null;
  agent?: Agent | boolean | null;
  defaultPort?: number;
  timeout?: number;
  signal?: AbortSignal;
  setHost?: boolean;
  socketPath?: string;
  [name: string]: unknown;
}

/**
 * The three ways to call http.request: (url), (options) and (url, options), each with a callback or
 * without.
 */
export function readRequestArguments(args: readonly unknown[]): { options: RequestOptions; callback: unknown } {
  const [first, second, third] = args;
  if (typeof first !== 'string' && !(first instanceof URL)) {
    const callback = typeof second === 'function' ? second : third;
    return { options: { ...(first as RequestOptions) }, callback };
  }
  const fromUrl = optionsOfUrl(typeof first === 'string' ? parseUrl(first) : first);
  return typeof second === 'function'
    ? { options: fromUrl, callback: second }
    : { options: { ...fromUrl, ...(second as RequestOptions | undefined) }, callback: third };
}

function parseUrl(text: string): URL {
  if (!URL.canParse(text))
    throw Object.assign(nativeError('ERR_INVALID_URL', 'Invalid URL', TypeError), { input: text });
  return new URL(text);
}

function optionsOfUrl(url: URL): RequestOptions {
  const options: RequestOptions = {
    protocol: url.protocol,
    hostname: url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname,
    path: `${url.pathname}${url.search}`,
  };
  if (url.port !== '') options.port = Number(url.port);
  if (url.username !== '' || url.password !== '')
    options.auth = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return options;
}

export interface Target {
  protocol: 'http:' | 'https:';
  host: string;
  port: number;
  path: string;
  method: string;
}

/** Target of a request. Throws Node's error for invalid options. */
export function readTarget(options: RequestOptions, defaultProtocol: 'http:' | 'https:'): Target {
  const agentProtocol = options.agent instanceof Agent ? options.agent.protocol : undefined;
  const protocol = options.protocol ?? agentProtocol ?? defaultProtocol;
  const expected = agentProtocol ?? defaultProtocol;
  if (protocol !== expected)
    throw codedError('ERR_INVALID_PROTOCOL', `Protocol "${protocol}" not supported. Expected "${expected}"`, TypeError);
  if (options.socketPath !== undefined && options.socketPath !== null)
    throw codedError('ERR_NOT_AVAILABLE', 'Unix sockets are not available in the sandbox');
  const path = options.path ?? '/';
  if (/[^\u0021-\u00ff]/.test(path))
    throw codedError('ERR_UNESCAPED_CHARACTERS', 'Request path contains unescaped characters', TypeError);
  if (options.method !== undefined && options.method !== null) requireString('options.method', options.method);
  for (const name of ['hostname', 'host'] as const)
    if (options[name] !== undefined && options[name] !== null && typeof options[name] !== 'string')
      throw invalidArgument(`options.${name}`, 'of type string or one of undefined or null', options[name]);
  const method = options.method === undefined || options.method === null ? 'GET' : options.method.toUpperCase();
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Z]+$/.test(method))
    throw codedError(
      'ERR_INVALID_HTTP_TOKEN',
      `Method must be a valid HTTP token ["${options.method ?? ''}"]`,
      TypeError,
    );
  checkOthers(options);
  return {
    protocol: protocol as Target['protocol'],
    host: options.hostname ?? options.host ?? 'localhost',
    port: requirePort(options.port || options.defaultPort || (protocol === 'https:' ? 443 : 80)),
    path,
    method,
  };
}

function checkOthers({ agent, timeout, insecureHTTPParser, maxHeaderSize }: RequestOptions): void {
  const isAgent = typeof (agent as { addRequest?: unknown } | null | undefined)?.addRequest === 'function';
  if (typeof agent !== 'boolean' && agent !== undefined && agent !== null && !isAgent && !(agent instanceof Agent))
    throw invalidArgument('options.agent', 'one of Agent-like Object, undefined, or false', agent);
  if (timeout !== undefined) requireTimeout('timeout', timeout);
  if (maxHeaderSize !== undefined) requireInteger('maxHeaderSize', maxHeaderSize, 0, Number.MAX_SAFE_INTEGER);
  if (insecureHTTPParser !== undefined && typeof insecureHTTPParser !== 'boolean')
    throw invalidArgument('options.insecureHTTPParser', 'of type boolean', insecureHTTPParser);
}

export function urlOf({ protocol, host, port, path }: Target): string {
  const name = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  const isDefault = port === (protocol === 'https:' ? 443 : 80);
  // A full URL as the path is meant for a proxy, so the request goes to that URL.
  return /^https?:\/\//.test(path)
    ? path
    : `${protocol}//${name}${isDefault ? '' : `:${port}`}${path.startsWith('/') ? '' : '/'}${path}`;
}
