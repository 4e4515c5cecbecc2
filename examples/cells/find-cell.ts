import { createHash } from 'node:crypto';
import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import type { IncomingMessage } from 'node:http';

export interface Table {
  /** By name. The first one takes what is of no account that a cell knows. */
  cells: Record<string, { url: string; host?: string }>;
  /** The cell of an account, or `moving`. An account that is not here is where a cell knows it. */
  accounts?: Record<string, string>;
  /** HEADWATER_ENDPOINT_DOMAIN of the cells: endpoints have a host of their own below it. */
  endpointDomain?: string;
}

interface Owner {
  account: string;
  /** The cell that knows it. */
  cell: string;
}

/** An answer that the router gives itself. */
export class Refusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export const MOVING = 'moving';
const ASK_MS = 2_000;
/** A cell that refused the connection is not asked again for so long. */
const AWAY_MS = 2_000;
const MAX_OWNERS = 100_000;
/** An unknown key may be made in a moment, and a cell that is away may know an owner as well. */
const UNSURE_MS = 1_000;
const MAX_UNSURE = 10_000;
/** Lookups of a cell at once, and those that wait for their turn. */
const MAX_ASKED = 16;
const MAX_WAITING = 1_000;

function readTable(file: string): Table {
  const read = JSON.parse(readFileSync(file, 'utf8')) as Table;
  const cells = Object.keys(read.cells ?? {});
  if (cells.length === 0) throw new Error(`${file} has no cells`);
  for (const { url } of Object.values(read.cells)) if (!URL.canParse(url)) throw new Error(`${url} is no URL`);
  for (const [account, cell] of Object.entries(read.accounts ?? {}))
    if (cell !== MOVING && !cells.includes(cell)) throw new Error(`${account} is in ${cell}, which is no cell`);
  for (const cell of Object.values(read.cells)) if (cell.host !== undefined) cell.host = hostName(cell.host);
  if (read.endpointDomain === undefined) return read;
  const endpointDomain = hostName(read.endpointDomain);
  if (!/^[a-z\d-]+(?:\.[a-z\d-]+)*$/.test(endpointDomain))
    throw new Error(`endpointDomain ${read.endpointDomain} is no domain name, such as hooks.example.com`);
  return { ...read, endpointDomain };
}

/** As cells compare it: in lower case, without the port. */
export const hostName = (host = '') => host.toLowerCase().replace(/:\d+$/, '');

/** Reads the table, and reads it again when it changes; one that is wrong changes nothing. */
export function watchTable(file: string, changed: () => void): { current(): Table; stop(): void } {
  let table = readTable(file);
  const readAgain = () => {
    try {
      table = readTable(file);
    } catch (error) {
      return console.error(`The table stays as it was: ${(error as Error).message}`);
    }
    console.log('The table was read');
    changed();
  };
  watchFile(file, { interval: 500 }, readAgain);
  return { current: () => table, stop: () => unwatchFile(file, readAgain) };
}

/** The key of an endpoint that has this host. */
export function endpointOfHost(host: string, domain?: string): string | undefined {
  const label = domain !== undefined && host.endsWith(`.${domain}`) ? host.slice(0, -domain.length - 1) : undefined;
  return label?.includes('.') ? undefined : label;
}

/** A parameter of `GET /v1/tenants` that finds the account. Undefined: the request names none. */
export function ownedBy({ url = '/', headers }: IncomingMessage, host: string, domain?: string): string | undefined {
  const path = url.replace(/^https?:\/\/[^/?]*/i, '');
  const endpoint = endpointOfHost(host, domain) ?? /^\/e\/([^/?]*)/.exec(path)?.[1];
  if (endpoint !== undefined) return /^[\w-]{1,128}$/.test(endpoint) ? `endpoint_key=${endpoint}` : undefined;
  const execution = /^\/(?:resume|cancel)\/(\w{1,256})\//.exec(path)?.[1];
  if (execution !== undefined) return `execution_id=${execution}`;
  const apiKey = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  return apiKey && `api_key_sha256=${createHash('sha256').update(apiKey).digest('hex')}`;
}

/** Runs so many at once; the next wait, and what is too much is turned away. */
function createLimiter() {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (running < MAX_ASKED) running++;
    else if (waiting.length >= MAX_WAITING) throw new Error('busy');
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}

/** Adds it as the newest entry, and drops the oldest one of a full map. */
function keep<T>(map: Map<string, T>, key: string, value: T, max: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > max) map.delete(map.keys().next().value ?? '');
}

interface Answer {
  owner?: Owner;
  /** False: a moment later it may be another one. */
  isSure: boolean;
}

/** Asks all cells which account has an endpoint, execution or key. */
function createLookups(table: () => Table, adminKey: string) {
  const awayUntil = new Map<string, number>();
  const limiters = new Map<string, ReturnType<typeof createLimiter>>();

  function askCell(cell: string, owned: string): Promise<Owner | undefined> {
    const limit = limiters.get(cell) ?? createLimiter();
    limiters.set(cell, limit);
    // The wait counts too: behind a cell that is silent nobody waits longer.
    const signal = AbortSignal.timeout(ASK_MS);
    return limit(async () => {
      signal.throwIfAborted();
      if ((awayUntil.get(cell) ?? 0) > Date.now()) throw new Error('away');
      return askNow(cell, owned, signal);
    });
  }

  async function askNow(cell: string, owned: string, signal: AbortSignal): Promise<Owner | undefined> {
    try {
      const at = new URL(`/v1/tenants?${owned}&include=id&limit=2`, table().cells[cell]?.url);
      const answer = await fetch(at, { headers: { authorization: `Bearer ${adminKey}` }, signal });
      if (answer.status !== 200) throw new Error(`it answered ${answer.status} to the admin key`);
      const [account, other] = ((await answer.json()) as { data: { id: string }[] }).data;
      if (other !== undefined)
        throw new Error('its version does not find the account of an endpoint or key: upgrade it');
      return account && { account: account.id, cell };
    } catch (error) {
      const { message, cause } = error as Error & { cause?: { code?: string } };
      // A stranger's keys may make one lookup slow: that says nothing about the next one.
      if (cause?.code === 'ECONNREFUSED') awayUntil.set(cell, Date.now() + AWAY_MS);
      console.error(`The cell ${cell} could not be asked: ${message}`);
      throw error;
    }
  }

  return async function askAll(owned: string): Promise<Answer> {
    const names = Object.keys(table().cells);
    const answers = await Promise.allSettled(names.map((name) => askCell(name, owned)));
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' && answer.value ? [answer.value] : []));
    const away = names.filter((_, at) => answers[at]?.status === 'rejected');
    const [owner] = found;
    if (owner === undefined && away.length > 0) throw new Refusal(503, `The cell ${away.join(', ')} is away or busy`);
    if (owner === undefined) return { isSure: false };
    // Half a move: only the operator knows which cell goes on.
    if (found.length > 1 && table().accounts?.[owner.account] === undefined)
      throw new Refusal(503, `${owner.account} is in the cells ${found.map(({ cell }) => cell).join(', ')}`);
    return { owner, isSure: away.length === 0 };
  };
}

/** The same, once for each: it remembers the owners. */
export function createOwners(table: () => Table, adminKey: string) {
  const askAll = createLookups(table, adminKey);
  const owners = new Map<string, Owner>();
  /** Lookups under way, and for a moment those whose answer is not sure. */
  const unsure = new Map<string, Promise<Answer>>();

  async function askOnce(owned: string): Promise<Owner | undefined> {
    const before = unsure.get(owned);
    if (before !== undefined) return (await before).owner;
    const asking = askAll(owned);
    keep(unsure, owned, asking, MAX_UNSURE);
    const forget = () => unsure.get(owned) === asking && unsure.delete(owned);
    try {
      const { owner, isSure } = await asking;
      if (!isSure) setTimeout(forget, UNSURE_MS).unref();
      // Not if the table has changed meanwhile.
      else if (forget() && owner !== undefined) keep(owners, owned, owner, MAX_OWNERS);
      return owner;
    } catch (error) {
      forget();
      throw error;
    }
  }

  return {
    forget() {
      owners.clear();
      unsure.clear();
    },
    async find(owned: string): Promise<Owner | undefined> {
      const known = owners.get(owned);
      if (known === undefined) return askOnce(owned);
      keep(owners, owned, known, MAX_OWNERS);
      return known;
    },
  };
}
