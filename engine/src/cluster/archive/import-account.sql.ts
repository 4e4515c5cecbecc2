import { accountLimits, type AccountLimits, HeadwaterError, keepKnownLimits } from '@headwater/shared';
import { overLimit } from '../../accounts/index.ts';
import { BIGINT_AS_NUMBER, codeOf, notifyAccountChanged, postgresAt, type Transaction } from '../../db/index.ts';
import { HELD_LIMITS, readHeld } from '../../observe/index.ts';
import { countSealedOtherwise, replaceSealedValuesIn, type SealedValue, type Sealer } from '../../secrets/index.ts';
import { identifier, literal, readColumns, readMigrationNames } from './archive-account.sql.ts';
import {
  type ArchivedSecret,
  type ArchiveHead,
  damaged,
  isSecret,
  linesOfFile,
  readMarked,
  readRow,
} from './archive-lines.ts';
import { ARCHIVED, ownerOf, REFERENCES } from './archived-tables.ts';
import { checkArchive, type CheckedArchive } from './check-archive.ts';

export interface ImportOptions {
  databaseUrl: string;
  sealer: Pick<Sealer, 'seal' | 'currentPrefix'>;
  file: string;
  passphrase: string;
  /** Limits of accounts on this instance where nothing is set. */
  defaults: AccountLimits;
}

/** Rows of one statement, bounded by both. */
const BATCH_ROWS = 500;
const BATCH_BYTES = 1024 * 1024;
const BATCH_SECRETS = 100;

/**
 * Makes the account of an archive, in one transaction: a fault or a crash leaves nothing, and the
 * import can be run again. Ids stay what they were. The account is suspended. Answers its id.
 * Throws INVALID_REQUEST for a file that is no whole archive or a wrong passphrase, CONFLICT where
 * the account is there, or something with the same id, where this instance has another version, or
 * where the account has more than its limits allow.
 */
export async function importAccount(options: ImportOptions): Promise<string> {
  const archive = await checkArchive(options.file, options.passphrase);
  const sql = postgresAt(options.databaseUrl, {
    max: 1,
    max_lifetime: null,
    types: BIGINT_AS_NUMBER,
    onnotice: () => undefined,
    connection: { application_name: 'headwater-import' },
  });
  try {
    await sql.begin(async (tx) => load(tx as unknown as Transaction, options, archive));
    return archive.head.account.id;
  } catch (error) {
    throw refusal(error);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

async function load(tx: Transaction, options: ImportOptions, { head, keys, end }: CheckedArchive): Promise<void> {
  const { id } = head.account;
  await checkVersion(tx, head);
  if (
    (await tx`select from accounts where id = ${id} union all select from account_deletions where account_id = ${id}`)
      .length > 0
  )
    throw new HeadwaterError(
      'CONFLICT',
      `The account ${id} is here already, or was deleted here. Nothing was changed.`,
    );
  const inserter = createInserter(tx, id, await readColumns(tx));
  const counts = { rows: 0, secrets: 0 };
  let secrets: { value: SealedValue; sealed: string }[] = [];
  const store = async () => {
    const done = await replaceSealedValuesIn(tx, secrets);
    if (done !== secrets.length) throw damaged('has secrets of which it has no row');
    secrets = [];
  };
  for await (const line of linesOfFile(options.file)) {
    const row = readRow(line);
    if (row !== undefined) {
      counts.rows++;
      await inserter.add(row, line.length);
      continue;
    }
    const secret = readMarked(line, '$secret');
    if (secret === undefined) continue;
    if (!isSecret(secret)) throw damaged('has a secret of a kind that this version does not know');
    if (counts.secrets++ === 0) await inserter.end();
    const plain = keys.open(`${secret.kind} ${secret.id} ${secret.prop}`, secret.sealed);
    secrets.push({ value: placeOf(secret, id), sealed: options.sealer.seal(id, plain) });
    if (secrets.length >= BATCH_SECRETS) await store();
  }
  await inserter.end();
  await store();
  if (counts.rows !== end.rows || counts.secrets !== end.secrets) throw damaged('has not the lines that it tells of');
  await checkLoaded(tx, id, options);
  await notifyAccountChanged(tx, id);
}

const placeOf = ({ kind, id, prop, stored }: ArchivedSecret, accountId: string): SealedValue => ({
  kind,
  id,
  prop,
  accountId,
  sealed: stored,
});

async function checkVersion(tx: Transaction, { migrations }: ArchiveHead): Promise<void> {
  const own = await readMigrationNames(tx);
  if (own.length === migrations.length && own.every((name, at) => name === migrations[at])) return;
  const [newest, ownNewest] = [migrations.at(-1), own.at(-1)];
  throw new HeadwaterError(
    'CONFLICT',
    `The archive is of another version of Headwater: its newest migration is ${newest}, and that of this instance ${ownNewest}. ` +
      'Bring both to one version, and export again. Nothing was changed.',
  );
}

interface Inserter {
  add(row: { table: string; row: string }, bytes: number): Promise<void>;
  end(): Promise<void>;
}

/** Inserts rows of one table after another, in the order of ARCHIVED, several in one statement. */
function createInserter(tx: Transaction, accountId: string, columns: ReadonlyMap<string, readonly string[]>): Inserter {
  let place = 0;
  let rows: string[] = [];
  let bytes = 0;
  async function flush(): Promise<void> {
    const one = ARCHIVED[place];
    if (one === undefined || rows.length === 0) return;
    const given = rows;
    rows = [];
    bytes = 0;
    const statement = insertOf(one, accountId, columns.get(one.table) ?? []);
    const { count } = await tx.unsafe(statement, [`[${given.join(',')}]`]);
    if (count !== given.length)
      throw damaged(
        `has rows of ${one.table} that are not the account's own, name something that is not, or count below 0`,
      );
  }
  return {
    async add({ table, row }, rowBytes) {
      const at = ARCHIVED.findIndex((one) => one.table === table);
      if (at < place) throw damaged(`has rows of ${table} where none may be`);
      if (at !== place || rows.length >= BATCH_ROWS || bytes + rowBytes > BATCH_BYTES) await flush();
      place = at;
      rows.push(row);
      bytes += rowBytes;
    },
    end: flush,
  };
}

const COUNT = /(^|_)bytes(_|$)/;

function insertOf(one: (typeof ARCHIVED)[number], accountId: string, columns: readonly string[]): string {
  const { table, through, into = {}, only } = one;
  const account = literal(accountId);
  const owner = ownerOf(one);
  const values = columns.map((name) => into[name]?.replaceAll(':account', account) ?? `t.${identifier(name)}`);
  const wheres = [
    ...(only === undefined ? [] : [only.replaceAll(':account', account)]),
    // Below 0 a count would widen a limit.
    ...columns.filter((name) => COUNT.test(name)).map((name) => `coalesce(t.${identifier(name)} >= 0, true)`),
    owner === null
      ? `t.${through?.[0]} in (select o.id from ${through?.[1]} o where o.account_id = ${account})`
      : `t.${identifier(owner)} = ${account}`,
    ...columns.flatMap((name) =>
      (REFERENCES[name] ?? []).map(
        (other) =>
          `not exists (select from ${other} o where o.id = t.${identifier(name)} and o.account_id <> ${account})`,
      ),
    ),
  ];
  return `insert into ${identifier(table)} (${columns.map(identifier).join(', ')})
    select ${values.join(', ')} from json_populate_recordset(null::${identifier(table)}, $1::text::json) t
    where ${wheres.join(' and ')}`;
}

/** Checks that need all rows. */
async function checkLoaded(tx: Transaction, id: string, { defaults, sealer }: ImportOptions): Promise<void> {
  const [account] = await tx<{ limits: Record<string, unknown>; users: number }[]>`
    select limits, (select count(*) from users where account_id = ${id}) as users from accounts where id = ${id}`;
  if (account === undefined || account.users === 0) throw damaged('has no account, or no user of it');
  const foreign = await tx`
    select from deployments d, jsonb_array_elements(d.steps) s join components c on c.id = s ->> 'componentId'
    where d.account_id = ${id} and c.account_id <> ${id} limit 1`;
  if (foreign.length > 0) throw damaged('has a workflow with the code of another account');
  const unsealed = await countSealedOtherwise(tx, id, sealer.currentPrefix());
  if (unsealed > 0) throw damaged(`lacks ${unsealed} of its secrets`);
  const limits = accountLimits(defaults, keepKnownLimits(account.limits));
  const held = await readHeld(tx, id);
  // History over its limit is deleted as everywhere, the oldest first.
  for (const name of HELD_LIMITS) {
    const used = held[name];
    if (name !== 'maxHistoryBytes' && used > limits[name]) throw overLimit({ name, value: limits[name], used });
  }
}

const UNIQUE_VIOLATION = '23505';
/** Constraints, and values that their type does not take, or that are nested too deep. */
const BAD_ROW = /^(2[23]|54)/;

function refusal(error: unknown): unknown {
  const {
    message,
    table_name: table = 'a table',
    detail = '',
  } = error as {
    message: string;
    table_name?: string;
    detail?: string;
  };
  const code = codeOf(error);
  if (code === UNIQUE_VIOLATION)
    return new HeadwaterError(
      'CONFLICT',
      `Something of the archive is here already, in ${table}: ${detail} Nothing was changed.`,
      { cause: error },
    );
  if (BAD_ROW.test(code))
    return new HeadwaterError(
      'INVALID_REQUEST',
      `The archive has a row of ${table} that cannot be stored: ${message}`,
      {
        cause: error,
      },
    );
  return error;
}
