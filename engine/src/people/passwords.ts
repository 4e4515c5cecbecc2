import { argon2, type Argon2Algorithm, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { HeadwaterError, LIMITS } from '@headwater/shared';

const ALGORITHM: Argon2Algorithm = 'argon2id';
/** The least that OWASP asks for: 19 MiB, two passes, one lane; some 30 ms. */
const COST = { memory: 19_456, passes: 2, parallelism: 1 };
const TAG_BYTES = 32;
const SALT_BYTES = 16;
/** The hash of no password: a person who is not there costs as much as one who is. */
const OF_NOBODY = `$argon2id$v=19$m=${COST.memory},t=${COST.passes},p=${COST.parallelism}$${'A'.repeat(22)}$${'A'.repeat(43)}`;
const STORED = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([\w+/]+)\$([\w+/]+)$/;
const RETRY_SECONDS = 2;

/** Sign-ins of one client, running and waiting. */
const MAX_PER_CLIENT = 4;

const hashWith = promisify(argon2);

/** Hashes passwords, a few at a time. */
export interface Passwords {
  hash(password: string): Promise<string>;
  /** `stored` undefined: false, after the same work. */
  verify(password: string, stored: string | undefined): Promise<boolean>;
  /**
   * Runs `work`, which hashes or verifies, once it is its turn. Throws RATE_LIMITED at once where
   * too many wait: a flood of sign-ins takes neither the memory nor the database of the node.
   * `client`: one has a few at a time, so that it does not fill the queue.
   */
  inTurn<T>(work: () => Promise<T>, client?: string): Promise<T>;
}

export function createPasswords(options: { maxRunning?: number; maxWaiting?: number } = {}): Passwords {
  const { maxRunning = LIMITS.maxPasswordChecks, maxWaiting = LIMITS.maxWaitingPasswordChecks } = options;
  const waiting: (() => void)[] = [];
  const ofClients = new Map<string, number>();
  let running = 0;
  const tooMany = () =>
    new HeadwaterError('RATE_LIMITED', 'Too many sign in at the same time', { retryAfterSeconds: RETRY_SECONDS });

  function enter(client: string): () => void {
    const own = ofClients.get(client) ?? 0;
    if (own >= MAX_PER_CLIENT) throw tooMany();
    ofClients.set(client, own + 1);
    return () => {
      const left = (ofClients.get(client) ?? 1) - 1;
      if (left === 0) ofClients.delete(client);
      else ofClients.set(client, left);
    };
  }

  async function inOrder<T>(work: () => Promise<T>): Promise<T> {
    if (running >= maxRunning) {
      if (waiting.length >= maxWaiting) throw tooMany();
      // Its place is handed over: no later one goes before it.
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else running++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  }

  return {
    async hash(password) {
      const salt = randomBytes(SALT_BYTES);
      const tag = await tagOf(password, salt, COST, TAG_BYTES);
      const { memory, passes, parallelism } = COST;
      return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(salt)}$${base64(tag)}`;
    },
    async verify(password, stored) {
      const [, memory, passes, parallelism, salt = '', tag = ''] = STORED.exec(stored ?? OF_NOBODY) ?? [];
      const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
      const expected = Buffer.from(tag, 'base64');
      const actual = await tagOf(password, Buffer.from(salt, 'base64'), cost, expected.length);
      return timingSafeEqual(actual, expected) && stored !== undefined;
    },
    async inTurn(work, client) {
      const leave = client === undefined ? undefined : enter(client);
      try {
        return await inOrder(work);
      } finally {
        leave?.();
      }
    },
  };
}

function tagOf(password: string, nonce: Buffer, cost: typeof COST, tagLength: number): Promise<Buffer> {
  // As every keyboard and system writes it.
  return hashWith(ALGORITHM, { message: password.normalize('NFKC'), nonce, tagLength, ...cost });
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}
