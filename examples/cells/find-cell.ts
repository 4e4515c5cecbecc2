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
/** A cell that did not answer is not asked again for so long. */
const AWAY_MS = 2_000;
const MAX_OWNERS = 100_000;

function readTable(file: string): Table {
  const read = JSON.parse(readFileSync(file, 'utf8')) as Table;
  const cells = Object.keys(read.cells ?? {});
  if (cells.length === 0) throw new Error(`${file} has no cells`);
  for (const { url } of Object.values(read.cells)) if (!URL.canParse(url)) throw new Error(`${url} is no URL`);
  for (const [account, cell] of Object.entries(read.accounts ?? {}))
    if (cell !== MOVING && !cells.includes(cell)) throw new Error(`${account} is in ${cell}, which is no cell`);
  return read;
}

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

/** A parameter of `GET /v1/tenants` that finds the account. Undefined: the request names none. */
export function ownedBy({ url = '/', headers }: IncomingMessage, host: string, domain?: string): string | undefined {
  const path = url.replace(/^https?:\/\/[^/?]*/i, '');
  const label = domain !== undefined && host.endsWith(`.${domain}`) ? host.slice(0, -domain.length - 1) : undefined;
  const endpoint = label ?? /^\/e\/([^/?]*)/.exec(path)?.[1];
  if (endpoint !== undefined) return /^[\w-]{1,128}$/.test(endpoint) ? `endpoint_key=${endpoint}` : undefined;
  const execution = /^\/(?:resume|cancel)\/(\w{1,256})\//.exec(path)?.[1];
  if (execution !== undefined) return `execution_id=${execution}`;
  const apiKey = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  return apiKey && `api_key_sha256=${createHash('sha256').update(apiKey).digest('hex')}`;
}

/** Asks the cells whose something is, once. */
export function createOwners(table: () => Table, adminKey: string) {
  const owners = new Map<string, Promise<Owner | undefined>>();
  const awayUntil = new Map<string, number>();

  async function askCell(cell: string, owned: string): Promise<Owner | undefined> {
    if ((awayUntil.get(cell) ?? 0) > Date.now()) throw new Error('away');
    try {
      const answer = await fetch(new URL(`/v1/tenants?${owned}&include=id&limit=2`, table().cells[cell]?.url), {
        headers: { authorization: `Bearer ${adminKey}` },
        signal: AbortSignal.timeout(ASK_MS),
      });
      if (answer.status !== 200) throw new Error(`it answered ${answer.status} to the admin key`);
      const [account, other] = ((await answer.json()) as { data: { id: string }[] }).data;
      if (other !== undefined) throw new Error('its version does not tell whose an endpoint is');
      return account && { account: account.id, cell };
    } catch (error) {
      awayUntil.set(cell, Date.now() + AWAY_MS);
      console.error(`The cell ${cell} could not be asked: ${(error as Error).message}`);
      throw error;
    }
  }

  async function askAll(owned: string): Promise<Owner | undefined> {
    const names = Object.keys(table().cells);
    const answers = await Promise.allSettled(names.map((name) => askCell(name, owned)));
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' && answer.value ? [answer.value] : []));
    const away = names.filter((_, at) => answers[at]?.status === 'rejected');
    const [owner] = found;
    if (owner === undefined && away.length > 0) throw new Refusal(503, `The cell ${away.join(', ')} is away`);
    if (found.length < 2 || table().accounts?.[owner?.account ?? ''] !== undefined) return owner;
    // Half a move: only the operator knows which cell goes on.
    throw new Refusal(503, `${owner?.account} is in the cells ${found.map(({ cell }) => cell).join(', ')}`);
  }

  return {
    forget: () => owners.clear(),
    find(owned: string): Promise<Owner | undefined> {
      const known = owners.get(owned);
      if (known !== undefined) return known;
      const asking = askAll(owned);
      owners.set(owned, asking);
      // An unknown key may be made in a moment, so the next request asks again.
      const forget = () => owners.get(owned) === asking && owners.delete(owned);
      asking.then((owner) => owner ?? forget(), forget);
      if (owners.size > MAX_OWNERS) owners.delete(owners.keys().next().value ?? '');
      return asking;
    },
  };
}
