import type postgres from 'postgres';

/** Every row of every table that the database has, as text, a line each: `table: row`. */
export async function dumpDatabase(sql: postgres.Sql<{ bigint: number }>): Promise<string> {
  const tables = await sql<{ name: string }[]>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema') order by 1`;
  const lines = await Promise.all(
    tables.map(async ({ name }) => {
      const rows = await sql.unsafe<{ row: string }[]>(`select t::text as row from ${name} t`);
      return rows.map(({ row }) => `${name}: ${row}`);
    }),
  );
  return lines.flat().join('\n');
}

/** Which of the named secrets the text holds, also in the forms in which they travel. */
export function secretsIn(text: string, secrets: Readonly<Record<string, string>>): string[] {
  return Object.entries(secrets)
    .filter(([, secret]) => formsOf(secret).some((form) => text.includes(form)))
    .map(([name]) => name);
}

function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret, 'utf8');
  const whole = bytes.subarray(0, bytes.length - (bytes.length % 3));
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    whole.toString('base64'),
    bytes.toString('hex'),
  ];
}
