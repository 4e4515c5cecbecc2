import type { ApiClient } from '../api/client.ts';
import type { Source } from '../api/resources.ts';
import { CliError } from '../cli-error.ts';

/** The source of that name or slug, if there is one. Throws where several have the name. */
export async function existingSource(api: ApiClient, name: string): Promise<Source | undefined> {
  const sources = await api.all<Source>('/users/me/sources');
  const bySlug = sources.find(({ name_slug: slug }) => slug === name);
  const found = bySlug === undefined ? sources.filter((source) => source.name === name) : [bySlug];
  if (found.length < 2) return found[0];
  throw new CliError('failure', `${found.length} sources are called ${name}`, {
    code: 'AMBIGUOUS_NAME',
    fields: found.map(({ id, name_slug: slug }) => ({ path: id, message: slug })),
    hint: 'Name one by its slug: --name <slug>   or make another: --new',
  });
}
