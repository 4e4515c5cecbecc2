import type { DeliveryAttempt } from '../api/resources.ts';
import { type CommandSpec, NAMING_EXITS } from '../command.ts';
import { localTime } from '../terminal/describe-time.ts';

interface WholeAttempt extends DeliveryAttempt {
  delivery_id: string;
  response_base64: string | null;
}

/** In their order, of which those that took part are shown. */
const PHASES = ['dns', 'connect', 'tls', 'first_byte', 'end'] as const;

export const attempt: CommandSpec = {
  path: 'webhooks attempt',
  summary: 'One attempt of a delivery: its phases, headers and answer',
  arguments: [{ name: 'id', summary: 'The id of the attempt, as `hw webhooks delivery` shows it.' }],
  examples: [
    { does: 'All that is known of it', command: 'hw webhooks attempt dlv_1vZ8kQ0aB3xYpL9mWc2T-1763640000123' },
  ],
  json: 'the attempt, as `GET /v1/attempts/{id}` answers it',
  exits: NAMING_EXITS,
  async run({ api: connect, input, output }) {
    const api = await connect();
    const found = await api.get<WholeAttempt>(`/attempts/${encodeURIComponent(input.argument('id'))}`);
    const fields = output.fields([
      ['attempt', found.id],
      ['began', localTime(Date.parse(found.at))],
      ['trigger', found.trigger],
      ['status', found.status_code === null ? undefined : `${found.status_code}`],
      ['location', found.location],
      ['error', found.error],
      ['class', found.error_class],
      ['took', `${found.duration_ms} ms`],
      ['phases', phasesOf(found)],
      ['address', found.remote_address],
      ['next', found.next_attempt_at === null ? undefined : localTime(Date.parse(found.next_attempt_at))],
      ['request', linesOf(found.request_headers)],
      ['answer', linesOf(found.response_headers)],
      ['body', found.response_base64 === null ? found.response : `${found.response_base64} (base64)`],
    ]);
    return { json: found, text: fields };
  },
};

function phasesOf({ phases, reused }: WholeAttempt): string | undefined {
  if (phases === null) return undefined;
  const took = PHASES.flatMap((name) => {
    const ms = phases[`${name}_ms`];
    return ms === null ? [] : [`${name.replace('_', ' ')} ${ms} ms`];
  });
  return [...(reused ? ['connection reused'] : []), ...took].join(', ') || undefined;
}

function linesOf(headers: Record<string, string> | null): string | undefined {
  const lines = Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`);
  return lines.length === 0 ? undefined : lines.join('\n');
}
