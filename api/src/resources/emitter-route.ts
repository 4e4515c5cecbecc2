import { ID_PREFIXES, notFound } from '@headwater/shared';

/** The two kinds of emitters, which share the routes of their events. */
export interface EmitterRoute {
  path: 'sources' | 'workflows';
  noun: 'source' | 'workflow';
  /** Used in names of operations. */
  Noun: 'Source' | 'Workflow';
  pathId: string;
  /** Throws NOT_FOUND for the id of the other kind. */
  checkId: (id: string) => void;
}

function emitterRoute(
  path: EmitterRoute['path'],
  noun: EmitterRoute['noun'],
  Noun: EmitterRoute['Noun'],
): EmitterRoute {
  const prefix = ID_PREFIXES[noun];
  return {
    path,
    noun,
    Noun,
    pathId: `The id of the ${noun} (\`${prefix}…\`).`,
    checkId(id) {
      if (!id.startsWith(prefix)) throw notFound(noun, id);
    },
  };
}

export const SOURCE_ROUTE = emitterRoute('sources', 'source', 'Source');
export const WORKFLOW_ROUTE = emitterRoute('workflows', 'workflow', 'Workflow');
export const EMITTERS: readonly EmitterRoute[] = [SOURCE_ROUTE, WORKFLOW_ROUTE];
