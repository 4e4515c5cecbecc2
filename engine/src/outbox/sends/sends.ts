import { HeadwaterError, notFound } from '@headwater/shared';
import type { Principal, S3SettingsRecord, SendRecord, Sends } from '../../contract/index.ts';
import type { Egress } from '../../egress/index.ts';
import type { Sealer } from '../../secrets/index.ts';
import { inPageOrder, readPage, type Sql } from '../../db/index.ts';
import { executionExists, readSends } from './read-sends.sql.ts';
import { retrySend } from './retry-send.sql.ts';
import { deleteS3Settings, putS3Settings, readS3Settings } from '../transports/s3/s3-settings.sql.ts';
import { checkS3Settings } from '../transports/s3/check-s3-settings.ts';

export interface SendsOptions {
  sql: Sql;
  sealer: Pick<Sealer, 'seal'>;
  egress: Pick<Egress, 'checkUrl'>;
}

/** Sends as the API sees them. NOT_FOUND for those of other accounts. */
export function createSends({ sql, sealer, egress }: SendsOptions): Sends {
  async function find(who: Principal, id: string): Promise<SendRecord> {
    const [record] = id.includes('\0') ? [] : await readSends(sql, who.accountId, [id]);
    if (record === undefined) throw notFound('send', id);
    return record;
  }

  async function s3Settings({ accountId }: Principal): Promise<S3SettingsRecord> {
    const row = await readS3Settings(sql, accountId);
    if (row === undefined) throw new HeadwaterError('NOT_FOUND', 'This account has no S3 server');
    const { endpoint, region, accessKeyId } = row;
    return { region, accessKeyId, ...(endpoint === null ? {} : { endpoint }), updatedAt: new Date(row.updatedAtMs) };
  }

  return {
    async list(who, executionId, request) {
      const exists = !executionId.includes('\0') && (await executionExists(sql, who.accountId, executionId));
      if (!exists) throw notFound('execution', executionId);
      const where = sql`and execution_id = ${executionId}`;
      const query = { table: 'sends', accountId: who.accountId, where, order: 'id' } as const;
      const { ids, ...page } = await readPage(sql, query, request);
      return { ...page, items: inPageOrder(ids, await readSends(sql, who.accountId, ids)) };
    },
    async retry(who, id) {
      await find(who, id);
      if (!(await retrySend(sql, who.accountId, id, Date.now()))) {
        throw new HeadwaterError('CONFLICT', `${id} has not failed, or names no bucket that it could go to`);
      }
      return find(who, id);
    },
    s3Settings,
    async setS3(who, input) {
      checkS3Settings(egress, input);
      const { endpoint = null, region, accessKeyId, secretAccessKey } = input;
      const sealed = sealer.seal(who.accountId, secretAccessKey);
      await putS3Settings(sql, who.accountId, { endpoint, region, accessKeyId, secretAccessKey: sealed });
      return s3Settings(who);
    },
    deleteS3: (who) => deleteS3Settings(sql, who.accountId),
  };
}
