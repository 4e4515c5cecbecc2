import type { HostileWorld } from './hostile.ts';
import type { Tenant } from './hostile-tenant.ts';
import { eventually } from './eventually.ts';

/** A send as the API shows it. */
export interface ShownSend {
  id: string;
  kind: string;
  status: 'pending' | 'delivered' | 'failed';
  payload: unknown;
  /** Seconds. */
  created_at: number;
  attempts: { at: string; status_code: number | null; error: string | null; response: string | null }[];
}

/**
 * A step that makes the event's calls of `$.send`, and exports the refused ones; `TOKEN` stands for
 * the secret.
 */
const SENDER = `export default { name: 'Sender', version: '1', type: 'action', props: { token: { type: 'string', secret: true, optional: true } },
  run({ steps, $ }) {
    const refused = [];
    for (const [kind, payload] of steps.trigger.event.calls) {
      const filled = JSON.stringify(payload, (name, value) => (value === 'TOKEN' ? this.token : value));
      try { $.send[kind](JSON.parse(filled)); } catch (error) { refused.push({ kind, message: error.message }); }
    }
    $.export('refused', refused);
  } };`;

/** Runs a workflow of the tenant that sends these; answers the id of its execution. */
export async function startSends(
  tenant: Pick<Tenant, 'api'>,
  calls: readonly [kind: 'http' | 'email' | 's3', payload: object][],
  props: Record<string, unknown> = {},
): Promise<string> {
  const made = await tenant.api('POST', '/workflows', {
    triggers: [{ type: 'http' }],
    steps: [{ namespace: 'sender', component_code: SENDER, props }],
  });
  if (made.status !== 200) throw new Error(`No workflow: ${made.status} ${made.text}`);
  const { id } = made.body.data as { id: string };
  const ran = await tenant.api('POST', `/workflows/${id}/run`, { event: { calls } });
  if (ran.status >= 300) throw new Error(`Not run: ${ran.status} ${ran.text}`);
  return ran.body.data.execution_id as string;
}

type Attacked = Pick<HostileWorld, 'attacker' | 'sql'>;

/**
 * Sends of the attacker's workflow, each after its first attempt, newest first; then the calls that
 * were refused.
 */
export async function sendEach(
  world: Attacked,
  calls: Parameters<typeof startSends>[1],
  props?: Record<string, unknown>,
): Promise<ShownSend[]> {
  const executionId = await startSends(world.attacker, calls, props);
  const refused = await untilRefused(world, executionId);
  const count = calls.length - refused.length;
  const sends = await untilSends(world, executionId, count, () => true);
  if (sends.some(({ kind }) => kind === 's3')) await makeUploadsDue(world);
  return [...(await untilSends(world, executionId, count, ({ attempts }) => attempts.length > 0)), ...refused];
}

/** Shown as a send that has failed. */
async function untilRefused({ attacker }: Attacked, executionId: string): Promise<ShownSend[]> {
  const refused = await eventually(
    async () => {
      const { body } = await attacker.api('GET', `/executions/${executionId}?expand=exports`);
      return body?.data?.steps?.sender?.exports?.refused as { kind: string; message: string }[] | undefined;
    },
    { timeoutMs: 20_000, everyMs: 50, what: 'the end of the step that sends' },
  );
  return refused.map(({ kind, message }) => {
    const attempt = { at: '', status_code: null, error: message, response: null };
    return { id: '', kind, status: 'failed', payload: null, created_at: 0, attempts: [attempt] };
  });
}

/** Sends of an execution, once there are `count` of them and `isSo` holds for all. */
function untilSends(
  { attacker }: Attacked,
  executionId: string,
  count: number,
  isSo: (send: ShownSend) => boolean,
): Promise<ShownSend[]> {
  return eventually(
    async () => {
      const answer = await attacker.api('GET', `/executions/${executionId}/sends?limit=100`);
      const sends = (answer.body?.data ?? []) as ShownSend[];
      return sends.length === count && sends.every(isSo) && sends;
    },
    { timeoutMs: 20_000, everyMs: 50, what: 'what was sent' },
  );
}

/** As if the minute were over that uploads are put together in. */
async function makeUploadsDue({ attacker: { id }, sql }: Attacked): Promise<void> {
  await sql`
    update sends set next_attempt_at = now() where account_id = ${id} and kind = 's3' and attempt_count = 0`;
  await sql`
    select graphile_worker.reschedule_jobs(
      array(select id from graphile_worker.jobs where key like ${`send:${id}:%`}), run_at => now())`;
}
