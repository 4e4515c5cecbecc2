import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import type { ApiContext } from '../environment.ts';
import { originForm } from './endpoint-address.ts';

export interface ClientFacts {
  /** Absolute, as the client wrote it, as far as that can be seen here. */
  url: string;
  /** Told to workflows only. */
  clientIp?: string | undefined;
}

export type ReadClientFacts = (request: IncomingMessage) => ClientFacts;

/** The client's address, as far as the trusted proxies tell. Undefined without a socket. */
export function addressOf(
  { env: { incoming } }: ApiContext,
  clientFacts: ReadClientFacts | undefined,
): string | undefined {
  if (incoming === undefined) return undefined;
  return clientFacts?.(incoming).clientIp ?? incoming.socket.remoteAddress;
}

export interface ClientFactsOptions {
  /** Scheme of the URL that clients use. */
  scheme: 'http' | 'https';
  /**
   * CIDR ranges and addresses of proxies. Only their forwarding headers are trusted, because any
   * client can send such headers.
   */
  trustedProxies: readonly string[];
}

export function createClientFacts({ scheme, trustedProxies }: ClientFactsOptions): ReadClientFacts {
  const isTrusted = readRanges(trustedProxies);
  return ({ headers, socket, url = '/' }) => {
    const { remoteAddress } = socket;
    const peer = remoteAddress === undefined ? undefined : plainAddress(remoteAddress);
    const target = originForm(url);
    const host = headers.host ?? '';
    if (peer === undefined || !isTrusted(peer)) return { url: `${scheme}://${host}${target}`, clientIp: peer };
    const forwardedHost = firstOf(headers['x-forwarded-host'], HOST) ?? host;
    const forwardedScheme = firstOf(headers['x-forwarded-proto'], SCHEME) ?? scheme;
    return {
      url: `${forwardedScheme}://${forwardedHost}${target}`,
      clientIp: clientAddress(peer, textOf(headers['x-forwarded-for']), isTrusted),
    };
  };
}

const HOST = /^[\w.:[\]-]+$/;
const SCHEME = /^https?$/;

/** The client's own proxy comes first. */
function firstOf(header: string | string[] | undefined, pattern: RegExp): string | undefined {
  const first = textOf(header).split(',', 1)[0]?.trim() ?? '';
  return pattern.test(first) ? first : undefined;
}

function textOf(header: string | string[] | undefined): string {
  return [header ?? ''].flat().join(',');
}

/**
 * Each proxy adds whom it was asked by, so the list is true from its end to the first that is not
 * trusted.
 */
function clientAddress(peer: string, forwardedFor: string, isTrusted: (address: string) => boolean): string {
  const named = forwardedFor.split(',').map((entry) => plainAddress(entry.trim()));
  let address = peer;
  for (let next = named.pop(); next !== undefined && isTrusted(address); next = named.pop()) address = next;
  return address;
}

const WITH_PORT = /^(?:\[([^\]]*)\]|([\d.]+))(?::\d+)?$/;
const MAPPED = /^::ffff:([\d.]+)$/i;

/** Without port and brackets, and an IPv4 address as one. Undefined for anything else. */
function plainAddress(text: string): string | undefined {
  const match = WITH_PORT.exec(text);
  const address = match?.[1] ?? match?.[2] ?? text;
  if (isIP(address) === 0) return undefined;
  return MAPPED.exec(address)?.[1] ?? address;
}

function readRanges(ranges: readonly string[]): (address: string) => boolean {
  if (ranges.length === 0) return () => false;
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', prefix] = range.split('/');
    const family = familyOf(address);
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return (address) => list.check(address, familyOf(address));
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}
