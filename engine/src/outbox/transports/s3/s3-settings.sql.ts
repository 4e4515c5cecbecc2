import type { Sql } from '../../../db/index.ts';

export interface S3SettingsRow {
  endpoint: string | null;
  region: string;
  accessKeyId: string;
  /** Sealed. */
  secretAccessKey: string;
  updatedAtMs: number;
}

export async function readS3Settings(sql: Sql, accountId: string): Promise<S3SettingsRow | undefined> {
  const [row] = await sql<S3SettingsRow[]>`
    select endpoint, region, access_key_id as "accessKeyId", secret_access_key as "secretAccessKey",
      floor(extract(epoch from updated_at) * 1000)::float8 as "updatedAtMs"
    from s3_settings where account_id = ${accountId}`;
  return row;
}

export async function putS3Settings(
  sql: Sql,
  accountId: string,
  settings: Omit<S3SettingsRow, 'updatedAtMs'>,
): Promise<void> {
  await sql`
    insert into s3_settings (account_id, endpoint, region, access_key_id, secret_access_key)
    values (${accountId}, ${settings.endpoint}, ${settings.region}, ${settings.accessKeyId}, ${settings.secretAccessKey})
    on conflict (account_id) do update set endpoint = excluded.endpoint, region = excluded.region,
      access_key_id = excluded.access_key_id, secret_access_key = excluded.secret_access_key, updated_at = now()`;
}

export async function deleteS3Settings(sql: Sql, accountId: string): Promise<void> {
  await sql`delete from s3_settings where account_id = ${accountId}`;
}
