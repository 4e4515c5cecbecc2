import { randomUUID } from 'node:crypto';
import type { ApiClient } from '../api/client.ts';
import { CliError } from '../cli-error.ts';
import type { Kind } from './stack-file.ts';

/** The resources made from a folder, as the account remembers them. */
export interface StackResource {
  kind: Kind;
  key: string;
  id: string;
  secrets?: string;
}

export interface StackState {
  name: string;
  resources: StackResource[];
}

export async function readState(api: ApiClient, name: string): Promise<StackState> {
  try {
    return await api.get<StackState>(`/stacks/${encodeURIComponent(name)}`);
  } catch (error) {
    if (error instanceof CliError && error.exit === 'notFound') return { name, resources: [] };
    throw error;
  }
}

/** As long as a single change may take; it is renewed with each. */
const HOLD_SECONDS = 300;

export interface HeldStack {
  resources: StackResource[];
  /** Records a created or changed resource. */
  note(resource: StackResource): Promise<void>;
  forget(id: string): Promise<void>;
  /** Lets others apply. Never throws: the hold ends by itself. */
  release(): Promise<void>;
}

/** Holds the stack, so that no other process applies it. Throws if another process holds it. */
export async function holdStack(api: ApiClient, name: string): Promise<HeldStack> {
  const path = `/stacks/${encodeURIComponent(name)}`;
  const holder = randomUUID();
  const put = (body: object) => api.send<StackState>('PUT', path, { holder, ...body });
  const { resources } = await put({ hold_seconds: HOLD_SECONDS }).catch((error: unknown) => {
    if (!(error instanceof CliError) || error.code !== 'CONFLICT') throw error;
    throw new CliError('failure', error.message, {
      code: 'CONFLICT',
      hint: `It ends by itself ${HOLD_SECONDS} s after its last change`,
    });
  });
  const store = () => put({ hold_seconds: HOLD_SECONDS, resources });
  return {
    resources,
    async note(resource) {
      const at = resources.findIndex(({ kind, id }) => kind === resource.kind && id === resource.id);
      if (at === -1) resources.push(resource);
      else resources[at] = resource;
      await store();
    },
    async forget(id) {
      const at = resources.findIndex((one) => one.id === id);
      if (at === -1) return;
      resources.splice(at, 1);
      await store();
    },
    async release() {
      await put({ hold_seconds: 0 }).catch(() => undefined);
    },
  };
}
