import postgres from 'postgres';
import { placeOfUrl } from './tls-of-url.ts';

type Options<Types extends Record<string, postgres.PostgresType>> = NonNullable<Parameters<typeof postgres<Types>>[1]>;

/** The client of a database, which encrypts as its URL says. */
export function postgresAt<Types extends Record<string, postgres.PostgresType> = {}>(
  databaseUrl: string,
  options: Options<Types>,
): ReturnType<typeof postgres<Types>> {
  const { url, ssl } = placeOfUrl(databaseUrl);
  return postgres<Types>(url, { ...(ssl === undefined ? {} : { ssl }), ...options });
}
