import ipaddr from 'ipaddr.js';

/** An address as it is judged: IPv6 forms that stand for one IPv4 address are turned into it. */
export type Address = ipaddr.IPv4 | ipaddr.IPv6;

export type AddressRange = [Address, number];

/**
 * RFC 6052: the well-known prefix behind which an IPv6-only network reaches IPv4 hosts; the last 32
 * bits are the address.
 */
const NAT64: AddressRange = [ipaddr.IPv6.parse('64:ff9b::'), 96];

/**
 * All of IPv6 that is handed out for global use. What lies outside is special or unassigned, and
 * routers of one's own may use it.
 */
const GLOBAL_IPV6: AddressRange = [ipaddr.IPv6.parse('2000::'), 3];

/**
 * In a public range, yet answered by the cloud's own host: the platform endpoint of Azure's virtual
 * machines.
 */
const METADATA = new Set(['168.63.129.16']);

/**
 * Reads a literal address, without brackets. `::ffff:a.b.c.d` and `64:ff9b::a.b.c.d` become the
 * IPv4 address they lead to. Undefined for anything else; the sloppy IPv4 spellings (`0x7f.1`,
 * `2130706433`) are numbers only to a URL parser, which has normalised them before this is asked.
 */
export function parseAddress(text: string): Address | undefined {
  // Asked of IPv6 as well, the library makes an error of each: that takes twenty times as long as
  // reading it.
  if (!text.includes(':')) return ipaddr.IPv4.isValidFourPartDecimal(text) ? ipaddr.IPv4.parse(text) : undefined;
  if (!ipaddr.IPv6.isValid(text)) return undefined;
  const address = ipaddr.IPv6.parse(text);
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  if (address.match(NAT64)) return new ipaddr.IPv4(address.toByteArray().slice(12));
  return address;
}

/**
 * True for an address that belongs to one host of the public internet. 6to4, Teredo, `::a.b.c.d`
 * and every other way to write an IPv4 address into an IPv6 one are refused whole: nothing that is
 * alive is reached that way.
 */
export function isPublicAddress(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  if (address instanceof ipaddr.IPv6) return address.match(GLOBAL_IPV6);
  return !METADATA.has(address.toString());
}

/** Reads `10.0.0.0/8`, `fd00::/8` or a single address. Undefined where the text is neither. */
export function parseRange(text: string): AddressRange | undefined {
  if (!text.includes('/')) {
    const address = parseAddress(text);
    return address && [address, address.kind() === 'ipv4' ? 32 : 128];
  }
  return ipaddr.isValidCIDR(text) ? ipaddr.parseCIDR(text) : undefined;
}

export function isInRanges(address: Address, ranges: readonly AddressRange[]): boolean {
  return ranges.some((range) => range[0].kind() === address.kind() && address.match(range));
}
