import { isIP, isIPv4, isIPv6 } from 'node:net';

export interface DnsServer {
  /** An address, without brackets. */
  host: string;
  port: number;
}

const DEFAULT_PORT = 53;
const WITH_PORT = /^(?:\[(?<inner>[^\]]+)\]|(?<plain>[^:]+))(?::(?<port>\d{1,5}))?$/;

/**
 * Reads `1.1.1.1`, `127.0.0.1:5353`, `::1` or `[::1]:5353`; default port: 53. Undefined for
 * anything else, names and zones included.
 */
export function parseDnsServer(text: string): DnsServer | undefined {
  if (text.includes('%')) return undefined;
  if (isIP(text) !== 0) return { host: text, port: DEFAULT_PORT };
  const { inner = '', plain = '', port = String(DEFAULT_PORT) } = WITH_PORT.exec(text)?.groups ?? {};
  if (!isIPv6(inner) && !isIPv4(plain)) return undefined;
  if (Number(port) < 1 || Number(port) > 65_535) return undefined;
  return { host: inner || plain, port: Number(port) };
}
