import type { HostileWorld } from './hostile.ts';
import type { ApiAnswer } from './server.ts';

/** A component with an endpoint and a secret, for what the neighbour owns. */
export const OWNED = `export default { name: 'Owned', key: 'owned', version: '1',
  props: { http: '$.interface.http', token: { type: 'string', secret: true, optional: true } },
  run(event) { this.$emit(event.body); } };`;

/**
 * Would change a source or a webhook, or ask for the options of a prop. Each route is given what it
 * knows of it.
 */
const CHANGE = { active: false, name: 'taken', prop_name: 'token', configured_props: {}, data: 1, role: 'viewer' };

interface Probe {
  method: string;
  path: string;
  /** Answers for the neighbour's id, and for an id that does not exist. */
  foreign: unknown;
  unknown: unknown;
}

/**
 * Asks, as the attacker, every route of the server's own description whose path begins with
 * `prefix` and has an id, by every method, once for the neighbour's id and once for an id of the
 * same shape that nobody has. The answers have both ids, and what is new in every answer, taken
 * out: they are to be equal.
 */
export async function probeRoutes(world: HostileWorld, prefix: string, foreignId: string): Promise<Probe[]> {
  const unknownId = `${foreignId.slice(0, -6)}zzzzzz`;
  const probes: Probe[] = [];
  for (const { method, path, known } of await listRoutes(world, prefix)) {
    const change = Object.fromEntries(Object.entries(CHANGE).filter(([name]) => known.has(name)));
    const ask = async (id: string) => {
      const answer = await world.attacker.api(method, path.replace('{id}', id), method === 'GET' ? undefined : change);
      return comparable(answer, id);
    };
    probes.push({ method, path, foreign: await ask(foreignId), unknown: await ask(unknownId) });
  }
  return probes;
}

interface Operation {
  requestBody?: { content?: Record<string, { schema?: { properties?: object } }> };
}

interface Route {
  method: string;
  path: string;
  /** Names of what it takes in its body. */
  known: ReadonlySet<string>;
}

async function listRoutes(world: HostileWorld, prefix: string): Promise<Route[]> {
  const response = await fetch(`${world.server.url}/openapi.json`);
  const { paths } = (await response.json()) as { paths: Record<string, Record<string, Operation>> };
  const knownBy = ({ requestBody }: Operation = {}) =>
    new Set(Object.keys(requestBody?.content?.['application/json']?.schema?.properties ?? {}));
  return Object.entries(paths)
    .filter(([path]) => path.startsWith(`/v1${prefix}`) && path.includes('{id}'))
    .flatMap(([path, methods]) =>
      Object.keys(methods)
        .filter((method) => ['get', 'post', 'put', 'patch', 'delete'].includes(method))
        .map((method) => ({
          method: method.toUpperCase(),
          path: path.slice('/v1'.length),
          known: knownBy(methods[method]),
        })),
    );
}

/** Status and body of an answer without what belongs to one request. */
export function comparable({ status, text }: Pick<ApiAnswer, 'status' | 'text'>, id: string): unknown {
  return { status, text: text.replaceAll(id, '<id>').replace(/"request_id":"[^"]*"/, '"request_id":"…"') };
}
