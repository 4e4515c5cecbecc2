import { usageError } from '../cli-error.ts';

/**
 * Requests go through the proxy that HTTPS_PROXY or HTTP_PROXY names, but for the hosts of
 * NO_PROXY, as other command lines have it; never those to a server on this machine, which a proxy
 * elsewhere could not reach. Call it before any request. Answers the variable, where there is one.
 */
export function useProxy(url: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
  const scheme = new URL(url).protocol.slice(0, -1);
  const variable = [`${scheme}_proxy`, `${scheme}_proxy`.toUpperCase()].find((name) => (env[name] ?? '') !== '');
  if (variable === undefined) return undefined;
  // An import would load all that fetch needs, a fifth of a command's start, also without a proxy.
  const http = process.getBuiltinModule('node:http');
  // Node before 24.14 has NODE_USE_ENV_PROXY alone.
  if (typeof http.setGlobalProxyFromEnv !== 'function') return undefined;
  try {
    http.setGlobalProxyFromEnv(isLoopback(url) ? { ...env, no_proxy: '*', NO_PROXY: '*' } : env);
  } catch {
    // The URL may contain a password, so the error does not show it.
    throw usageError(`${variable} is no URL of a proxy`, 'Write it as http://host:port, or unset it');
  }
  return isLoopback(url) ? undefined : variable;
}

export function isLoopback(url: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname);
}
